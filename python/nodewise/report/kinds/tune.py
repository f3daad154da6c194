"""The page of a tuning: what was tried, and what was best."""

from .. import charts, text
from ..model import Chapter, Chart, Code, Fact, Section, Table
from . import common

MOST_BARS = 16


def chapter(document):
    data = document.data
    made = Chapter(
        title=data["matrix"]["source"],
        command="tune",
        sentence=sentence(data),
        facts=facts(data),
        sources=[document.name],
        badge="" if data["best"] else "None converged",
        state="plain" if data["best"] else "bad",
    )
    made.sections = [
        s
        for s in (best_section(data), trials_section(data), common.machine_section(data), common.repeat_section(data))
        if s
    ]
    return made


def converged(data):
    return [c for c in data["candidates"] if c["converged"]]


def best_of(data):
    return next((c for c in data["candidates"] if c["command"] == data["best"]), None) if data["best"] else None


def name_of(candidate):
    return ", ".join(f"{name} {value}" for name, value in candidate["options"].items()) or "the defaults"


def sentence(data):
    tried = text.counted(len(data["candidates"]), "set of options", "sets of options")
    best = best_of(data)
    where = f"for {data['matrix']['source']} ({common.matrix_phrase(data['matrix'])}) on {common.placement(data['machine'])}"
    if best is None:
        return f"Of {tried} {where}, none converged."
    tied = sum(c["tied_with_best"] for c in data["candidates"])
    also = f"; {text.counted(tied, 'other', 'others')} cannot be told from it" if tied else ""
    return f"Of {tried} {where}, the fastest took {text.seconds(best['total_s'])}: {name_of(best)}{also}."


def facts(data):
    best = best_of(data)
    found = [
        Fact(
            text.count(len(converged(data))),
            "converged",
            f"of {text.count(len(data['candidates']))} tried, {text.count(data['not_tried'])} not",
        ),
        Fact(text.seconds(data["seconds"]), "of tuning"),
    ]
    if best:
        found[:0] = [
            Fact(text.seconds(best["total_s"]), "best", f"setup {text.seconds(best['setup_s'])}"),
            Fact(text.count(best["iterations"]), "its iterations"),
        ]
    return found


def best_section(data):
    return Section("The best", [Code(common.shown(data["best"]))]) if data["best"] else None


def trials_section(data):
    shown = converged(data)[:MOST_BARS]
    parts = []
    if shown:
        rows, names = [], []
        for place, candidate in enumerate(shown):
            name = f"{place + 1}"
            names.append(name)
            parts_of = {"setup": candidate["setup_s"], "solve": candidate["solve_s"]}
            tips = {part: f"{name_of(candidate)}, {part}: {text.seconds(value)}" for part, value in parts_of.items()}
            tied = " ≈" if candidate["tied_with_best"] else ""
            rows += charts.stacked(name, parts_of, tips, f"{text.seconds(candidate['total_s'])}{tied}")
        draw = charts.bars(rows, {"setup": charts.THREE, "solve": charts.ONE}, order=names, row_height=26)
        parts.append(
            Chart(
                draw,
                title="The fastest that converged",
                alt="Seconds of setup and solve of the fastest candidates.",
                legend={"three": "setup", "one": "solve"},
                note="Numbers are those of the table. ≈: cannot be told from the best by how much its runs differ.",
            )
        )
    parts.append(trials_table(data))
    return Section("Trials", parts)


def trials_table(data):
    rows = []
    for place, c in enumerate(data["candidates"]):
        rows.append(
            [
                str(place + 1),
                name_of(c),
                text.words(c["method"]) if c["method"] else "–",
                text.seconds(c["total_s"]) if c["converged"] else "–",
                text.seconds(c["setup_s"]),
                text.seconds(c["solve_s"]),
                text.count(c["iterations"]),
                text.factor(c["operator_complexity"]),
                text.size(c["memory_bytes"]),
                "converged" if c["converged"] else c["reason"] or "did not converge",
            ]
        )
    return Table(
        ["", "Options", "Method", "Total", "Setup", "Solve", "Iterations", "Complexity", "Memory", "Outcome"],
        rows,
        title="",
        open=True,
        numeric=(0, 3, 4, 5, 6, 7, 8),
    )
