"""How the residual fell."""

from .. import charts, text
from ..model import Chart, Section, Table

MOST_LINES = 24  # of right-hand sides
MOST_POINTS = 60  # that are marked one by one


def rows_of(history, name, line, series):
    """Residuals that a logarithm can show."""
    rows = [
        {
            "iteration": k,
            "residual": r,
            "line": line,
            "series": series,
            "tip": f"{name}, iteration {k}: {text.power(r)}",
        }
        for k, r in enumerate(history)
        if r is not None and r > 0
    ]
    return rows


def section(data):
    solve = data["solve"]
    if len(solve["history"]) < 2:
        return None
    several = solve["right_hand_sides"]
    worst = solve["right_hand_side"]
    rows = []
    for k, one in enumerate(several[:MOST_LINES]):
        if k + 1 != worst:
            rows += rows_of(one["history"], f"right-hand side {k + 1}", f"s{k}", "others")
    of_worst = f"right-hand side {worst}" if len(several) > 1 else "residual"
    rows += rows_of(solve["history"], of_worst, "worst", "worst")
    colours = {"others": charts.GRID, "worst": charts.ONE}
    draw = charts.lines(
        rows,
        ("iteration", "Iteration"),
        ("residual", None),
        "series",
        colours,
        rules=[(solve["target"], f"asked for {text.power(solve['target'])}")] if solve["target"] else [],
        points=len(solve["history"]) <= MOST_POINTS,
        x_axis={"format": "d", "tickMinStep": 1},
    )
    norm = NORMS[solve["norm"]]
    chart = Chart(
        draw,
        title=f"{norm}, relative to that of the right-hand side",
        alt=f"The residual falls from {text.power(solve['history'][0])} to {text.power(solve['history'][-1])} in {solve['iterations']} iterations.",
        legend={"one": of_worst, "grid": "the others"} if len(several) > 1 else {},
    )
    table = Table(
        ["Iteration", "Relative residual"],
        [[text.count(k), text.power(r, 4)] for k, r in enumerate(solve["history"])],
        title="Residual by iteration",
        numeric=(0, 1),
    )
    return Section("Convergence", [chart, table], lead=lead(solve))


NORMS = {
    "unpreconditioned": "Norm of the residual",
    "preconditioned": "Norm of the preconditioned residual",
    "natural": "Natural norm of the residual",
}


def lead(solve):
    factor = solve["average_convergence_factor"]
    if factor is None or not 0 < factor:
        return ""
    return f"An iteration left {100 * factor:.3g} % of the residual on average."
