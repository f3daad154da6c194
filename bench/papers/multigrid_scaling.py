"""Setup and solve as processes are added: points of a curve, table, statements and plot."""

from study import plain_log
from multigrid import messages_s, predict, setup_work_s, work_s

CYCLES = 20  # of a solve
SOLVE = (f"A solve is {CYCLES} cycles, 1.6 ns for a floating-point operation of them and of the setup's Galerkin products, which are "
         "counted. Strength, splitting and interpolation are not in it but by their messages. Node-aware: each operation of each level "
         "over its cheapest route.")


def point(study, ranks, options):
    """Milliseconds, direct and node-aware, of what `predict` says of so many ranks."""
    return point_of(predict(study, ranks, *options))


def point_of(report):
    messages = {phase: [messages_s(report, phase, aware) for aware in (False, True)] for phase in ("setup", "cycle")}
    return add_up(report["ranks"], report["levels"][0]["rows"], setup_work_s(report), work_s(report), messages)


def strong_points(report):
    """Of each of the numbers of ranks that `predict --rank-counts` was given, and of the report's own."""
    rows = report["levels"][0]["rows"]

    def seconds_of(phase):
        return [phase[route]["formula_s"]["total"] for route in ("first_route", "best_by_formula")]
    found = [add_up(p["ranks"], rows, p["setup"]["work_s"], p["work_s"], {"setup": seconds_of(p["setup"]), "cycle": seconds_of(p)})
             for p in report["scaling"]["points"]]
    return [*found, point_of(report)]


def add_up(ranks, rows, products, work, messages):
    setup = [1e3 * (products + s) for s in messages["setup"]]
    solve = [1e3 * CYCLES * (work + s) for s in messages["cycle"]]
    return {"ranks": ranks, "rows": rows, "work": 1e3 * CYCLES * work, "products": 1e3 * products, "setup": setup, "solve": solve,
            "total": [a + b for a, b in zip(setup, solve)]}


def fewest(points, aware):
    """Processes with the lowest total."""
    return min(points, key=lambda p: p["total"][aware])["ranks"]


def show_scaling(study, name, points):
    study.table(f"{name}: milliseconds of the setup, with its Galerkin products, and of {CYCLES} cycles, with their arithmetic",
                ["processes", "rows", "Galerkin products", "arithmetic of the cycles", "setup, direct", "node-aware", "cycles, direct", "node-aware",
                 "together, direct", "node-aware", "gain"],
                [[p["ranks"], p["rows"], p["products"], p["work"], *p["setup"], *p["solve"], *p["total"], p["total"][0] / p["total"][1]]
                 for p in points])


def judge_strong(study, found):
    rotated_rs = found["Ruge-Stüben, rotated"]
    limit, rows = fewest(rotated_rs, 0), rotated_rs[0]["rows"]
    study.judge("Ruge-Stüben scales to 10,000 rows a process without node-aware messages; beyond, communication outweighs (figure 7.1)",
                2_000 <= rows / limit <= 50_000, f"quickest on {limit:,} processes, with {rows / limit:,.0f} rows each",
                part=limit < rotated_rs[-1]["ranks"])
    gains = {name: points[-1]["total"][0] / points[-1]["total"][1] for name, points in found.items()}
    study.judge("node-aware messages improve both solvers, most near the strong scaling limit (figures 7.19 to 7.21)",
                all(g > 1 for g in gains.values()) and all(
                    points[-1]["total"][0] / points[-1]["total"][1] > points[0]["total"][0] / points[0]["total"][1]
                    for points in found.values()),
                f"on {rotated_rs[-1]['ranks']:,} processes: " + ", ".join(f"{n} {g:.1f}" for n, g in gains.items()),
                part=any(g > 1 for g in gains.values()))
    flat = max(p["solve"][1] for p in rotated_rs if p["ranks"] >= fewest(rotated_rs, 1)) / min(p["solve"][1] for p in rotated_rs)
    study.judge("with node-aware messages the solve hardly costs more beyond the limit (figure 7.19)", flat < 1.5,
                f"the cycles take at most {flat:.2f} times their least time beyond the quickest number of processes", part=flat < 3)


def draw_scaling(axes, found):
    """Of points by name, an axis each."""
    from matplotlib.ticker import NullLocator
    for axis, (name, points) in zip(axes, found.items()):
        ranks = [p["ranks"] for p in points]
        for key, color in (("setup", "tab:blue"), ("solve", "tab:orange"), ("total", "black")):
            for aware, style in ((0, "--"), (1, "-")):
                axis.plot(ranks, [p[key][aware] for p in points], style, color=color, marker="o", markersize=3,
                          label=f"{key}, {'node-aware' if aware else 'direct'}")
        plain_log(axis)
        axis.set(xscale="log", title=name, xlabel="processes", ylabel="predicted ms")
        axis.set_xticks(ranks, [f"{r:,}" for r in ranks])
        axis.xaxis.set_minor_locator(NullLocator())
    axes[len(found) - 1].legend(fontsize=7, bbox_to_anchor=(1.02, 1), loc="upper left")
