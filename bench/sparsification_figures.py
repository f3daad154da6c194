"""The figures of bench/published_sparsification. Each takes what that script has found."""

import math

COLOURS = {"Galerkin": "black", "Non-Galerkin": "tab:red", "Sparse": "tab:green",
           "Sparse (diag)": "tab:olive", "Hybrid": "tab:blue", "Hybrid (diag)": "tab:purple"}
MARKS = {"Galerkin": "o", "Non-Galerkin": "s", "Sparse": "^", "Sparse (diag)": "v", "Hybrid": "D",
         "Hybrid (diag)": "x"}
CASES = ["black", "tab:green", "tab:red", "tab:orange", "tab:blue"]


def load_pyplot():
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "nodewise"  # the same result gives the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["font.size"] = 9
    from matplotlib import pyplot

    return pyplot


def is_possible():
    try:
        load_pyplot()
    except ImportError:
        return False
    return True


def panels_of(n, columns=3, height=3.3):
    pyplot = load_pyplot()
    rows = math.ceil(n / columns)
    figure, grid = pyplot.subplots(rows, min(n, columns), squeeze=False, constrained_layout=True,
                                   figsize=(4 * min(n, columns), height * rows))
    for axes in list(grid.flat)[n:]:
        axes.set_visible(False)
    return figure, list(grid.flat)


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    load_pyplot().close(figure)


def line(axes, method, xs, ys):
    """A method's line; points that are missing are not drawn."""
    points = [(x, y) for x, y in zip(xs, ys) if y is not None and math.isfinite(y)]
    axes.plot([x for x, _ in points], [y for _, y in points], marker=MARKS[method], markersize=4,
              linewidth=1.2, color=COLOURS[method], label=method,
              markerfacecolor="none" if method in ("Sparse", "Hybrid") else None)


def by_level(axes, found, value):
    for method, record in found.items():
        values = [value(level) for level in record["levels"]]
        line(axes, method, range(len(values)), values)
    axes.set_xlabel("level")
    axes.xaxis.get_major_locator().set_params(integer=True)


def thousands(axes):
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def messages(panels, path):
    figure, axes = panels_of(2 * len(panels), len(panels), 3)
    for place, (title, found) in enumerate(panels.items()):
        by_level(axes[place], found, lambda level: level["sends"])
        axes[place].set_title(title)
        axes[place].set_ylim(bottom=0)
        thousands(axes[place])
        below = axes[len(panels) + place]
        by_level(below, found, lambda level: level["bytes"] / 1e6 if level["bytes"] else None)
        below.set_ylim(bottom=0)
    axes[0].set_ylabel("messages of a product")
    axes[len(panels)].set_ylabel("MB between nodes")
    axes[0].legend(fontsize=8)
    save(figure, path)


def minimum(panels, path):
    figure, axes = panels_of(len(panels), 2, 3.3)
    for place, (title, found) in enumerate(panels.items()):
        by_level(axes[place], found, lambda level: 1e6 * level["plain_s"])
        axes[place].set_title(title)
        axes[place].set_ylim(bottom=0)
    axes[0].set_ylabel("microseconds of a product, (4.5)")
    axes[0].legend(fontsize=8)
    save(figure, path)


def solved(record, by):
    solve = record["solves"][by]
    return solve["iterations"] if solve["converged"] else None


def convergence_factor(record, by):
    solve = record["solves"][by]
    return solve["residual"] ** (1 / solve["iterations"]) if solve["iterations"] else None


def solve_ms(record, by):
    many = solved(record, by)
    return 1e3 * many * record["iteration_s"] if many else None


def beside_galerkin(runs, by, ranks, method):
    """The efficiency beside Galerkin's; without a run on one core, the speedup."""
    def ratio(p):
        times = [solve_ms(runs[p][m], by) for m in ("Galerkin", method) if m in runs[p]]
        return times[0] / times[1] if len(times) == 2 and all(times) else None

    first = ratio(1) if 1 in runs else 1
    return ratio(ranks) / first if first and ratio(ranks) else None


def by_cores(axes, runs, value, title, label):
    ranks = sorted(runs)
    for method in COLOURS:
        line(axes, method, ranks,
             [value(p, method) if method in runs[p] else None for p in ranks])
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, [f"{p:,}" for p in ranks])
    axes.minorticks_off()
    axes.set_xlabel("virtual cores")
    axes.set_ylabel(label)
    axes.set_title(title)


def scaling(found, path):
    weak, strong, most, pcg = found
    figure, axes = panels_of(6, 3, 3.2)
    by_cores(axes[0], weak, lambda p, m: convergence_factor(weak[p][m], "gmres"),
             "4.11, weak: GMRES", "residual's factor an iteration")
    by_cores(axes[1], weak, lambda p, m: solve_ms(weak[p][m], "gmres"), "4.11, weak: GMRES",
             "modelled ms of a solve")
    by_cores(axes[2], weak, lambda p, m: beside_galerkin(weak, "gmres", p, m),
             "4.12, weak", "efficiency beside Galerkin's")
    by_cores(axes[3], strong, lambda p, m: beside_galerkin(strong, "gmres", p, m),
             "4.13, strong", "efficiency beside Galerkin's")
    by_cores(axes[4], most, lambda p, m: beside_galerkin(most, "gmres", p, m),
             "the largest problem", "Galerkin's time / the method's")
    by_cores(axes[5], pcg, lambda p, m: solve_ms(pcg[p][m], "cg"), "4.16, weak: PCG",
             "modelled ms of a solve")
    axes[1].legend(fontsize=8)
    save(figure, path)


def lost(panels, path):
    figure, axes = panels_of(3 * len(panels), 3, 3)
    for row, (title, found) in enumerate(panels.items()):
        by_row = axes[3 * row:3 * row + 3]
        for colour, (name, record) in zip(CASES, found.items()):
            style = {"color": colour, "label": name, "linewidth": 1.2}
            if name == "1 alone":  # another line covers it
                style |= {"linestyle": "--", "zorder": 3}
            for panel, by in zip(by_row, ("stationary", "gmres")):
                panel.plot(record["solves"][by]["history"], **style)
                panel.xaxis.get_major_locator().set_params(integer=True)
                panel.set_title(f"{title}: " + ("GMRES" if by == "gmres" else "cycles alone"))
                panel.set_yscale("log")
                panel.set_ylim(1e-9, 10)
                panel.set_xlabel("iteration")
            by_row[2].plot([level["most_sends"] for level in record["levels"]], marker=".", **style)
        by_row[0].set_ylabel("relative residual")
        by_row[2].set_xlabel("level")
        by_row[2].set_title("messages of the busiest core")
        by_row[2].set_ylim(bottom=0)
    axes[0].legend(fontsize=8)
    save(figure, path)


def adaptive(panels, path):
    figure, axes = panels_of(2 * len(panels), len(panels), 3)
    for place, (title, found) in enumerate(panels.items()):
        residuals, sent = axes[place], axes[len(panels) + place]
        for colour, (name, record) in zip(CASES[::2], found.items()):
            solve = record["solves"]["cg"]
            residuals.plot(solve["history"], marker=".", color=colour, label=name, linewidth=1.2)
            sends = solve["sends"] or [record["sends"]] * solve["iterations"]
            sent.plot(range(1, len(sends) + 1), sends, drawstyle="steps-mid", color=colour,
                      label=name, linewidth=1.5)
        for event in found["adaptive"]["solves"]["cg"]["entries_back"]:
            for panel in (residuals, sent):
                panel.axvline(event["iteration"], color="0.85", linewidth=0.8, zorder=0)
        residuals.set_yscale("log")
        residuals.set_title(title)
        sent.set_ylim(bottom=0)
        thousands(sent)
        sent.set_xlabel("iteration of PCG")
    axes[0].set_ylabel("relative residual")
    axes[len(panels)].set_ylabel("messages of a product, all levels")
    axes[0].legend(fontsize=8)
    save(figure, path)


def matrices(found, path):
    ranks = sorted({p for by_ranks in found.values() for p in by_ranks})
    figure, axes = panels_of(2 * len(ranks), len(ranks), 3.4)
    names = list(found)
    both = (lambda r: r["iteration_s"], lambda r: solve_ms(r, "gmres"))
    ratios = [value(record) / value(records["Galerkin"]) for by_ranks in found.values()
              for records in by_ranks.values() for record in records.values() for value in both
              if value(record)]
    least, most = max(0.3, min(ratios)), min(2, max(ratios))
    for place, p in enumerate(ranks):
        for row, value in enumerate(both):
            panel = axes[row * len(ranks) + place]
            for method in list(COLOURS)[1:]:
                points = []
                for y, name in enumerate(names):
                    records = found[name].get(p, {})
                    if method in records and value(records[method]):
                        points.append((value(records[method]) / value(records["Galerkin"]), y))
                panel.plot([x for x, _ in points], [y for _, y in points], MARKS[method],
                           color=COLOURS[method], label=method, markersize=4.5,
                           markerfacecolor="none")
            panel.axvline(1, color="0.7", linewidth=1, zorder=0)
            panel.set_yticks(range(len(names)), names if place == 0 else [])
            panel.grid(axis="y", color="0.93")
            panel.set_title(f"{p} cores: " + ("an iteration" if row == 0 else "the solve"))
            panel.set_xlim(least - 0.03, most + 0.03)
            panel.set_xlabel("time beside Galerkin's")
    axes[0].legend(fontsize=7)
    save(figure, path)
