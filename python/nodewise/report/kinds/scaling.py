"""On how many ranks to run: the curves of strong scaling."""

from .. import charts, text
from ..model import Chart, Section, Table
from .exchange_times import first_route, simulated

CURVES = [("first_route", charts.TWO), ("best", charts.ONE)]

MICROS = (
    "datum.value >= 1 ? format(datum.value, '.3~g') + ' s' : datum.value >= 1e-3 ? format(datum.value * 1e3, '.3~g') + ' ms' : "
    "datum.value >= 1e-6 ? format(datum.value * 1e6, '.3~g') + ' µs' : format(datum.value * 1e9, '.3~g') + ' ns'"
)


def scaling_section(data):
    if not data["scaling"]:
        return None
    points = data["scaling"]["points"]
    first = f"always {text.words(first_route(data))}"
    names = {"first_route": first, "best": "best routes", "work": "arithmetic"}
    setups = [{**p, **p["setup"]} for p in points]
    return Section(
        "On how many ranks",
        [
            scaling_chart(points, names, "A cycle by the number of ranks", "Seconds of a cycle with its arithmetic by the number of ranks."),
            scaling_chart(
                setups, names, "The setup by the number of ranks", "Seconds of the setup with the arithmetic of its Galerkin products by the number of ranks."
            ),
            scaling_table(points, names, "Points of the curves"),
            scaling_table(setups, names, "Points of the curves of the setup"),
        ],
        lead=scaling_lead(data, names),
    )


def scaling_chart(points, names, title, alt):
    rows = []
    for key, _ in CURVES:
        for measure, of in (("formula", lambda t: t["formula_s"]["total"]), ("simulated", simulated)):
            rows += curve(points, key, measure, of, names[key])
    for p in points:
        if p["work_s"]:
            rows.append(
                {
                    "ranks": p["ranks"],
                    "seconds": p["work_s"],
                    "series": names["work"],
                    "line": "work",
                    "dash": "formula",
                    "low": None,
                    "high": None,
                    "tip": f"{text.counted(p['ranks'], 'rank')}, arithmetic: {text.seconds(p['work_s'])}",
                }
            )
    colours = {names[key]: colour for key, colour in CURVES} | {names["work"]: charts.REST}
    draw = charts.lines(
        rows,
        ("ranks", "Ranks"),
        ("seconds", None),
        "series",
        colours,
        log_x=True,
        height=300,
        dashes={"formula": [1, 0], "simulated": [6, 4]},
        band=("low", "high"),
        x_axis={"values": [p["ranks"] for p in points], "format": ","},
        y_axis={"labelExpr": MICROS},
    )
    return Chart(
        draw,
        title=title,
        legend={"two": names["first_route"], "one": names["best"], "rest": names["work"]},
        alt=alt,
        note="Solid: by formula. Dashed: simulated, with its band.",
    )


def time_of(point, key, measure):
    return point[
        "first_route" if key == "first_route" else f"best_by_{'formula' if measure == 'formula' else 'simulation'}"
    ]


def curve(points, key, measure, of, name):
    rows = []
    for p in points:
        time, work = time_of(p, key, measure), p["work_s"] or 0
        total = work + of(time)
        if total <= 0:
            continue
        row = {
            "ranks": p["ranks"],
            "seconds": total,
            "series": name,
            "line": f"{key} {measure}",
            "dash": measure,
            "tip": f"{text.counted(p['ranks'], 'rank')}, {name}, {measure}: {text.seconds(total)}",
            "low": total,
            "high": total,
        }
        if measure == "simulated":
            row |= {"low": work + time["simulated_s"]["low"], "high": work + time["simulated_s"]["high"]}
        rows.append(row)
    return rows


def scaling_lead(data, names):
    found = data["scaling"]["fastest"]
    said = []
    for key in ("best", "first_route"):
        by = found[key]["by_simulation"], found[key]["by_formula"]
        said.append(
            f"{names[key].capitalize()}: {text.counted(by[0]['ranks'], 'rank')} pay simulated, {text.count(by[1]['ranks'])} by formula."
        )
    return " ".join(said[: 2 if len(data["routes"]) > 1 else 1])


def scaling_table(points, names, title):
    rows = []
    for p in points:
        rows.append(
            [
                text.count(p["ranks"]),
                text.count(p["nodes"]),
                text.significant(p["rows_of_a_rank"]),
                text.seconds(p["work_s"]),
                *(
                    text.seconds((p["work_s"] or 0) + of(time_of(p, key, measure)))
                    for measure, of in (("formula", lambda t: t["formula_s"]["total"]), ("simulated", simulated))
                    for key in ("first_route", "best")
                ),
            ]
        )
    columns = [
        "Ranks",
        "Nodes",
        "Rows of a rank",
        "Arithmetic",
        f"{names['first_route']}, formula",
        "best routes, formula",
        f"{names['first_route']}, simulated",
        "best routes, simulated",
    ]
    return Table(columns, rows, title=title, numeric=tuple(range(8)))
