"""The page of `nodewise bench overlap`: what computing beside messages brings."""

from .. import charts, text
from ..model import Chapter, Chart, Fact, Section, Table
from . import common

PARTS = ("gather", "wait", "work", "rest")


def chapter(document):
    data = document.data
    made = Chapter(
        title=data["matrix"]["source"],
        command="bench overlap",
        sentence=sentence(data),
        facts=facts(data),
        sources=[document.name],
    )
    sections = [
        speed_section(data, "product", "Products"),
        speed_section(data, "cycle", "Cycles"),
        common.machine_section(data),
        common.repeat_section(data),
    ]
    made.sections = [s for s in sections if s]
    return made


def of_kernel(data, kernel):
    return [c for c in data["cases"] if c["kernel"] == kernel and (kernel != "product" or c["level"] == 0)]


def name_of(case):
    return f"{text.words(case['route'] or 'by level')}, {text.counted(case['threads'], 'thread')}, {case['overlap']}"


def best_of(cases):
    return min(cases, key=lambda c: c["times_s"]["median"])


def sentence(data):
    products = of_kernel(data, "product") or data["cases"]
    best = best_of(products)
    where = f"{data['matrix']['source']} on {common.placement(data['machine'])}"
    said = f"The fastest product with {where} took {text.seconds(best['times_s']['median'])}: {name_of(best)}"
    return said + (
        f", {text.significant(best['speedup'])} times as fast as without overlap." if best["speedup"] else "."
    )


def facts(data):
    found = []
    for kernel in ("product", "cycle"):
        cases = of_kernel(data, kernel)
        if cases:
            best = best_of(cases)
            found.append(Fact(text.seconds(best["times_s"]["median"]), f"fastest {kernel}", name_of(best)))
    if data["memory"]["triad_bytes_per_s"]:
        found.append(Fact(text.rate(data["memory"]["triad_bytes_per_s"]), "memory", "of a triad"))
    return found


def speed_section(data, kernel, title):
    cases = of_kernel(data, kernel)
    if not cases:
        return None
    rows, names, marks = [], [], []
    for case in cases:
        name = name_of(case)
        names.append(name)
        t = case["times_s"]
        rows += charts.stacked(
            name,
            {case["overlap"]: t["median"]},
            {case["overlap"]: f"{name}: {text.seconds(t['median'])}"},
            text.seconds(t["median"]),
        )
        marks.append(
            {
                "group": name,
                "base": t["median"],
                "low": t["lower_quartile"],
                "high": t["upper_quartile"],
                "tip": f"{name}: half of the times within {text.seconds(t['lower_quartile'])} and {text.seconds(t['upper_quartile'])}",
            }
        )
    colours = {"none": charts.REST, "naive": charts.TWO, "task": charts.ONE}
    chart = Chart(
        charts.bars(rows, colours, order=names, marks=marks, row_height=28),
        title="Medians, and the half of the times around them",
        legend={"rest": "no overlap", "two": "naive", "one": "task"},
        alt=f"Times of {title.lower()} by route, threads and overlap.",
    )
    return Section(title, [chart, parts_table(cases)])


def parts_table(cases):
    rows = []
    for c in cases:
        rows.append(
            [
                name_of(c),
                text.seconds(c["times_s"]["median"]),
                text.significant(c["speedup"]),
                *(text.seconds(c[f"{part}_s"]["median"]) for part in PARTS),
                text.seconds(c["bound_s"]),
            ]
        )
    return Table(
        ["Case", "Median", "Speedup", "Packing", "Waiting", "Work", "Rest", "Memory allows"],
        rows,
        title="Where the time goes",
        numeric=(1, 2, 3, 4, 5, 6, 7),
    )
