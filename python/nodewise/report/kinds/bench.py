"""The page of `nodewise bench spmv`: kernels beside what the memory allows."""

from .. import charts, text
from ..model import Chapter, Chart, Fact, Section, Table
from . import common


def chapter(document):
    data = document.data
    made = Chapter(
        title=data["matrix"]["source"],
        command="bench spmv",
        sentence=sentence(data),
        facts=facts(data),
        sources=[document.name],
    )
    made.sections = [kernels_section(data), common.machine_section(data), common.repeat_section(data)]
    return made


def kernels(data):
    return [(level["level"], kernel) for level in data["levels"] for kernel in level["kernels"]]


def sentence(data):
    first = data["levels"][0]["kernels"][0]
    said = f"A product with {data['matrix']['source']} ({common.matrix_phrase(data['matrix'])}) moves {text.rate(first['bytes_per_s'])}"
    share = first["share_of_bound"]
    if share is None:
        return said + "."
    where = ", from a cache" if first["in_cache"] else ""
    return f"{said}, {text.percent(share)} of what the memory allows{where}."


def facts(data):
    memory = data["memory"]
    return [
        Fact(text.rate(memory["triad_bytes_per_s"]), "a triad"),
        Fact(text.rate(memory["reading_bytes_per_s"]), "reading"),
        Fact(text.size(data["cache_bytes"]), "last caches"),
    ]


def name_of(kernel):
    several = f", {kernel['vectors']} vectors" if kernel["vectors"] > 1 else ""
    return f"{text.words(kernel['kernel'])}, {kernel['precision']}{several}"


def kernels_section(data):
    rows, names = [], []
    for kernel in data["levels"][0]["kernels"]:
        name = name_of(kernel)
        names.append(name)
        rate = kernel["bytes_per_s"] or 0
        rows += charts.stacked(name, {"rate": rate}, {"rate": f"{name}: {text.rate(rate)}"}, text.rate(rate))
    chart = Chart(
        charts.bars(rows, {"rate": charts.ONE}, order=names, row_height=28),
        title="Finest level: bytes a second",
        alt="Bytes a second of each kernel.",
    )
    table_rows = [
        [
            str(level),
            name_of(k),
            text.seconds(k["times_s"]["median"]),
            text.size(k["moved_bytes"]),
            text.rate(k["bytes_per_s"]),
            text.percent(k["share_of_bound"]),
            "yes" if k["in_cache"] else "no",
        ]
        for level, k in kernels(data)
    ]
    table = Table(
        ["Level", "Kernel", "Median", "Moves", "Rate", "Of what memory allows", "In a cache"],
        table_rows,
        title="Every kernel",
        numeric=(0, 2, 3, 4, 5),
    )
    return Section("Kernels", [chart, table])
