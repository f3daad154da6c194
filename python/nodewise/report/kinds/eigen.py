"""The page of eigenpairs."""

from .. import charts, text
from ..model import Chapter, Chart, Fact, Notices, Section, Table
from . import common, convergence


def chapter(document):
    data = document.data
    made = Chapter(
        title=data["matrix"]["source"],
        command="eigen",
        sentence=sentence(data),
        badge="Converged" if data["converged"] else f"Not converged: {text.words(data['outcome'])}",
        state="good" if data["converged"] else "bad",
        facts=facts(data),
        sources=[document.name],
    )
    sections = [
        diagnosis_section(data),
        pairs_section(data),
        convergence_section(data),
        work_section(data),
        common.machine_section(data),
        common.repeat_section(data),
        Section("Options", [common.options_table(data["options"])]),
    ]
    made.sections = [s for s in sections if s]
    return made


def sentence(data):
    found = sum(p["converged"] for p in data["pairs"])
    solver = data["eigensolver"]
    name = solver["name"].upper() if solver["name"] == "lobpcg" else text.words(solver["name"]).capitalize()
    asked = text.counted(len(data["pairs"]), f"{solver['which']} eigenpair")
    matrix = f"{data['matrix']['source']} ({common.matrix_phrase(data['matrix'])})"
    iterations = text.counted(data["iterations"], "iteration")
    return f"{name} found {found} of {asked} of {matrix} in {iterations} on {common.placement(data['machine'])}."


def facts(data):
    pairs = data["pairs"]
    times = [(name, value) for name, value in data["times_s"].items() if isinstance(value, (int, float))]
    return [
        Fact(text.significant(pairs[0]["value"], 6), f"{data['eigensolver']['which']} eigenvalue"),
        Fact(text.count(data["iterations"]), "iterations"),
        *(Fact(text.seconds(value), text.words(name)) for name, value in times[-2:]),
    ]


def diagnosis_section(data):
    return Section("Findings", [Notices([("Why it ended", data["diagnosis"], "")])]) if data["diagnosis"] else None


def pairs_section(data):
    rows = [
        [
            str(k + 1),
            text.significant(p["value"], 9),
            text.power(p["relative_residual"]),
            text.power(p["bound"]),
            "yes" if p["converged"] else "no",
            text.count(p["converged_at"]),
        ]
        for k, p in enumerate(data["pairs"])
    ]
    return Section(
        "Eigenvalues",
        [
            Table(
                ["", "Value", "Relative residual", "Within", "Converged", "after"],
                rows,
                title="",
                open=True,
                numeric=(0, 1, 2, 3, 5),
            )
        ],
    )


def convergence_section(data):
    rows = convergence.rows_of(data["history"], "largest residual", "r", "r")
    if len(rows) < 2:
        return None
    draw = charts.lines(
        rows,
        ("iteration", data["eigensolver"]["iteration_is"].capitalize()),
        ("residual", None),
        "series",
        {"r": charts.ONE},
        points=len(rows) <= convergence.MOST_POINTS,
        x_axis={"format": "d", "tickMinStep": 1},
    )
    return Section(
        "Convergence",
        [Chart(draw, title="Largest relative residual of the pairs asked for", alt="Residual by iteration.")],
    )


def work_section(data):
    rows = [[text.words(k).capitalize(), text.count(v)] for k, v in data["work"].items()]
    rows += [
        [text.words(k).capitalize(), text.size(v) if "bytes" in k else text.count(v)]
        for k, v in data["messages"].items()
    ]
    return Section("Work and messages", [Table([], rows, title="Counts", open=True)])
