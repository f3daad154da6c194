"""The tables and the plot of bench/simulate/run."""

import collections
import sys

# What the platform assumes unless a table says otherwise: simplat.cpp's own numbers.
BASE = ("NIC gap 50 ns a message, CPU 0.5 us to send and 0.5 us to receive between nodes, 0.1 us each "
        "on a node, latency 1.3 us + 0.1 us a hop, NIC 10 GB/s, memory 40 GB/s")
MEANING = {
    "base": BASE,
    "gap 0": "base with NIC gap 0",
    "gap 200 ns": "base with NIC gap 200 ns",
    "on node 0": "base with on-node sending and receiving free",
    "on node 500 ns": "base with 0.5 us to send and 0.5 us to receive on a node",
    "all 0": "gap and all CPU overheads 0: only latency and bandwidth",
}


def times(result, kind):
    """{level: {route: line}} of a result; random exchanges are level 0."""
    levels = collections.defaultdict(dict)
    for line in result["lines"]:
        if line["kind"] == kind:
            levels[line.get("level", 0)][line["route"]] = line
    return levels


def gain(routes, route):
    return routes["direct"]["us"] / routes[route]["us"]


def ranks(result):
    return result["lines"][0]["ranks"]


def of_kind(results, kind):
    return [r for r in results if any(line["kind"] == kind for line in r["lines"])]


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def random_table(results):
    rows = []
    for r in sorted(of_kind(results, "random"), key=lambda r: ranks(r)):
        routes = times(r, "random")[0]
        us = [f"{routes[k]['us']:.1f}" for k in ("ascending", "direct", "two_step", "three_step")]
        messages = [routes[k]["max_off_node"] for k in ("direct", "two_step", "three_step")]
        rows.append([ranks(r), r["topology"], r["assumption"], *us,
                     f"{gain(routes, 'two_step'):.2f}", f"**{gain(routes, 'three_step'):.2f}**",
                     " / ".join(map(str, messages))])
    return table(["ranks", "network", "assumption", "direct, ascending order, us", "direct, us",
                  "two_step, us", "three_step, us", "direct / two_step", "direct / three_step",
                  "off-node messages of the busiest rank"], rows)


def level_table(results):
    rows = []
    for r in sorted(of_kind(results, "level"), key=lambda r: ranks(r)):
        for level, routes in sorted(times(r, "level").items()):
            us = [f"{routes[k]['us']:.1f}" for k in ("direct", "two_step", "three_step")]
            messages = [routes[k]["max_off_node"] for k in ("direct", "two_step", "three_step")]
            rows.append([ranks(r), r["topology"], r["assumption"], level, routes["direct"]["rows"],
                         *us, f"{gain(routes, 'two_step'):.2f}",
                         f"**{gain(routes, 'three_step'):.2f}**", " / ".join(map(str, messages))])
    return table(["ranks", "network", "assumption", "level", "rows", "direct, us", "two_step, us",
                  "three_step, us", "direct / two_step", "direct / three_step",
                  "off-node messages of the busiest rank"], rows)


def solve_table(results):
    rows = []
    for r in sorted(of_kind(results, "solve"), key=lambda r: ranks(r)):
        lines = [line for line in r["lines"] if line["kind"] == "solve"]
        for line in lines:
            route = line["route"]
            if line["from_level"]:
                route += f" from level {line['from_level']}"
            rows.append([ranks(r), r["topology"], r["assumption"], line["problem"], route,
                         line["iterations"], f"{line['residual']:.1e}", f"{line['solve_us']:.0f}",
                         f"**{lines[0]['solve_us'] / line['solve_us']:.2f}**"])
    return table(["ranks", "network", "assumption", "problem", "routes", "iterations",
                  "true relative residual", "communication of the solve, us", "direct / this"], rows)


def markdown(results):
    used = {r["assumption"] for r in results}
    text = ["### Assumptions", ""]
    text += table(["name", "what is assumed"],
                  [[name, what] for name, what in MEANING.items() if name in used])
    for title, kind, make in (
            ("Random sparse exchange: 32 destinations a rank, 128 bytes each", "random",
             random_table),
            ("Levels of a hierarchy", "level", level_table),
            ("Solves", "solve", solve_table)):
        if of_kind(results, kind):
            text += [f"### {title}", ""] + make(results)
    return "\n".join(text)


Compared = collections.namedtuple("Compared", "what route smpi us low high")


def compared(result):
    """All that the event simulation predicted: SMPI's us, the prediction's in the median of orders
    of what happens at one instant, the least and the most."""
    rows = []
    for kind, name in (("random", "random exchange"), ("level", "level {}")):
        for level, routes in sorted(times(result, kind).items()):
            wanted = [line for line in result["lines"]
                      if line["kind"] == "predicted" and ("level" in line) == (kind == "level")
                      and line.get("level", 0) == level]
            rows += [Compared(name.format(level), line["route"], routes[line["route"]]["us"],
                              line["us"], line["low"], line["high"]) for line in wanted]
    return rows


def error(row):
    return abs(row.us / row.smpi - 1)


def of_some_order(row):
    """Whether some order comes within 5 % of SMPI."""
    return row.low <= 1.05 * row.smpi and row.high >= 0.95 * row.smpi


def far_off(result):
    """What is wrong with the predictions of a result: one by more than a tenth, or half of them by
    more than three in a hundred."""
    rows = sorted(compared(result), key=error)
    wrong = [f"the event simulation of {row.what}, {row.route}, is off by {error(row):.1%}"
             for row in rows if error(row) > 0.1]
    if rows and error(rows[len(rows) // 2]) > 0.03:
        wrong.append(f"the event simulation is off by {error(rows[len(rows) // 2]):.1%} in the median")
    return wrong


def same_order(rows):
    """Of how many exchanges the fastest route is the predicted one, and of how many in all."""
    by_exchange = collections.defaultdict(list)
    for row in rows:
        by_exchange[row.what].append(row)
    same = sum(min(routes, key=lambda r: r.smpi).route == min(routes, key=lambda r: r.us).route
               for routes in by_exchange.values())
    return same, len(by_exchange)


def comparison(results):
    """The event simulation beside SMPI: a line for each run, and all exchanges under "base"."""
    summary, single = [], []
    assumptions = list(MEANING)
    for r in sorted(results, key=lambda r: (ranks(r), assumptions.index(r["assumption"]))):
        rows = compared(r)
        errors = sorted(map(error, rows))
        within = sum(e <= 0.05 for e in errors)
        same, n = same_order(rows)
        summary.append([ranks(r), r["assumption"], len(rows), f"{100 * errors[len(errors) // 2]:.1f}",
                        f"{100 * errors[-1]:.1f}", f"{within} of {len(rows)}",
                        f"{sum(map(of_some_order, rows))} of {len(rows)}", f"{same} of {n}"])
        if r["assumption"] == "base":
            single += [[ranks(r), row.what, row.route, f"{row.smpi:.2f}", f"{row.us:.2f}",
                        f"{row.low:.2f} to {row.high:.2f}", f"{row.us / row.smpi:.3f}"]
                       for row in rows]
    return "\n".join(
        table(["ranks", "assumption", "exchanges", "median error, %", "largest error, %",
               "within 5 %", "of some order", "fastest route right"], summary)
        + table(["ranks", "exchange", "route", "SMPI, us", "event simulation, us", "its orders, us",
                 "ratio"], single))


def replace(page, mark, text):
    """Puts the text between the page's markers."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    head, rest = page.read_text().split(begin)
    page.write_text(f"{head}{begin}\n\n{text}\n{end}{rest.split(end)[1]}")


def band(axes, points, label):
    """The base value of each x with the range over all assumptions; points: x -> {name: gain}.

    No range where not all were run: it would look as if little depended on them.
    """
    xs = sorted(x for x in points if "base" in points[x])
    base = [points[x]["base"] for x in xs]
    low = [min(points[x].values()) for x in xs]
    high = [max(points[x].values()) for x in xs]
    line, = axes.plot(xs, base, marker="o", markersize=4, label=label)
    complete = [len(points[x]) == max(map(len, points.values())) for x in xs]
    axes.fill_between(xs, low, high, where=complete, alpha=0.15, color=line.get_color(),
                      linewidth=0)


def draw(axes, results, kind, x_of, label_of):
    series = collections.defaultdict(lambda: collections.defaultdict(dict))
    for r in of_kind(results, kind):
        for level, routes in times(r, kind).items():
            for route in ("two_step", "three_step"):
                points = series[label_of(r, route)][x_of(r, level)]
                points[r["assumption"]] = gain(routes, route)
    for label, points in sorted(series.items()):
        band(axes, points, label)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    ticks = [0.5, 1, 2, 5, 10, 20]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_yticks([], minor=True)
    axes.set_ylabel("time of direct / time of the route")
    axes.grid(alpha=0.3)


def plot(results, folder):
    """simulated.svg and .png: gains by rank count and by level, bands over the assumptions."""
    try:
        import matplotlib
    except ImportError:
        print("NOT DRAWN: there is no matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        return
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "nodewise"  # the same figures give the same file
    from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5))
    flat = [r for r in results if r["topology"] == "flat"]
    draw(left, flat, "random", lambda r, level: ranks(r), lambda r, route: route)
    left.set_xscale("log", base=2)
    left.set_xticks(sorted({ranks(r) for r in of_kind(flat, "random")}))
    left.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%d"))
    left.set_xlabel("simulated ranks, 16 on a node")
    left.set_title("random exchange, 32 x 128 bytes a rank, flat network")
    left.legend()
    most = max((ranks(r) for r in of_kind(flat, "level")), default=0)
    levels = [r for r in flat if ranks(r) == most]
    draw(right, levels, "level", lambda r, level: level, lambda r, route: route)
    right.set_xlabel("level (0: finest)")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.set_title(f"27-point hierarchy, {most} ranks, flat network")
    right.legend(loc="lower center")
    figure.text(0.5, 0.005, "line: base assumptions; band: NIC gap 0 to 200 ns, on-node overhead 0 to "
                "0.5 us, all overheads 0", ha="center", fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(folder / "simulated.svg", metadata={"Date": None})
    figure.savefig(folder / "simulated.png", dpi=110)
