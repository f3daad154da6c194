"""Messages and bytes: by level and locality, and node by node."""

from .. import bins, charts, png, text
from ..model import Chart, HeatMap, Section, Table, Text

LOCALITIES = {"in a domain": charts.THREE, "on a node": charts.ONE, "between nodes": charts.TWO}
LEGEND = {"three": "in a domain", "one": "on a node", "two": "between nodes"}
ORANGE = (206, 88, 20)
MOST_CELLS = 8  # in which numbers are written


def localities(traffic, what, has_domains):
    """What goes where, each once."""
    split = {}
    on_domain = traffic[f"{what}_on_domain"] if has_domains else 0
    if has_domains:
        split["in a domain"] = on_domain
    split["on a node"] = traffic[f"{what}_on_node"] - on_domain
    split["between nodes"] = traffic[f"{what}_off_node"]
    return split


def chart(data, what, shown):
    has_domains = data["machine"]["domains"] > data["machine"]["nodes"]
    rows, names = [], []
    for level, info in enumerate(data["hierarchy"]["levels"]):
        name = f"level {level}"
        names.append(name)
        parts = localities(info["product_traffic"], what, has_domains)
        tips = {place: f"{name}, {place}: {shown(value)}" for place, value in parts.items()}
        rows += charts.stacked(name, parts, tips, shown(sum(parts.values())))
    used = {place: colour for place, colour in LOCALITIES.items() if has_domains or place != "in a domain"}
    draw = charts.bars(rows, used, order=names)
    legend = {colour: place for colour, place in LEGEND.items() if place in used}
    return Chart(
        draw,
        title=f"{what.capitalize()} of a product",
        half=True,
        legend=legend,
        alt=f"{what.capitalize()} that all ranks together send in one product with the matrix of each level.",
    )


def section(data):
    if not data["hierarchy"] or data["machine"]["ranks"] == 1:
        return None
    parts = [
        chart(data, "messages", text.count),
        chart(data, "bytes", text.size),
        traffic_table(data),
        totals_table(data),
    ]
    return Section("Messages by level", parts, lead=lead(data))


def lead(data):
    solve = data["operations"]["solve"]
    off = sum(a["messages_off_node"] for a in solve)
    total = off + sum(a["messages_on_node"] for a in solve)
    if total == 0:
        return "The solve sent no messages."
    volume = sum(a["bytes_off_node"] for a in solve)
    if data["machine"]["nodes"] == 1:
        return f"The whole solve sent {text.counted(total, 'message')}, all of them on one node."
    return (
        f"The whole solve sent {text.counted(total, 'message')}, {text.count(off)} of them between nodes with "
        f"{text.size(volume)}. One product with the matrix of each level sends:"
    )


def traffic_table(data):
    rows = []
    for level, info in enumerate(data["hierarchy"]["levels"]):
        t = info["product_traffic"]
        rows.append(
            [
                str(level),
                text.words(info["route"]),
                text.count(t["messages_on_node"]),
                text.count(t["messages_off_node"]),
                text.count(t["bytes_on_node"]),
                text.count(t["bytes_off_node"]),
                text.count(t["max_messages_of_a_rank"]),
            ]
        )
    return Table(
        [
            "Level",
            "Route",
            "Messages on node",
            "Between nodes",
            "Bytes on node",
            "Between nodes",
            "Most messages of a rank",
        ],
        rows,
        title="One product of each level",
        numeric=(0, 2, 3, 4, 5, 6),
    )


def totals_table(data):
    rows = []
    for phase in ("setup", "solve"):
        accounts = data["operations"][phase]
        fields = (
            "messages_on_node",
            "messages_off_node",
            "bytes_on_node",
            "bytes_off_node",
            "collective_calls",
            "waits",
        )
        rows.append([phase, *(text.count(sum(a[field] for a in accounts)) for field in fields)])
    return Table(
        ["", "Messages on node", "Between nodes", "Bytes on node", "Between nodes", "Collectives of a rank", "Waits"],
        rows,
        title="The whole run",
        numeric=(1, 2, 3, 4, 5, 6),
    )


def nodes_section(data):
    """Which node sends to which."""
    levels = (data.get("pictures") or {}).get("levels", [])
    if not levels or data["machine"]["nodes"] == 1:
        return None
    n = levels[0]["node_bins"]
    nodes = data["machine"]["nodes"]
    parts = []
    squares = {}
    for what, shown in (("messages", text.count), ("bytes", text.size)):
        sums = bins.added([bins.square(level[what], n) for level in levels])
        squares[what] = sums
        parts.append(heat_map(sums, nodes, what, shown))
    parts.append(busiest_table(squares, nodes, n))
    each = "" if n == nodes else f" A pixel joins up to {-(-nodes // n)} successive nodes."
    parts.insert(
        2,
        Text(
            f"Rows send, columns receive; the diagonal is what stays on a node.{each} The stronger the colour the more, by the logarithm."
        ),
    )
    return Section(
        "Node to node",
        parts,
        lead="What nodes send to each other in one product with the matrix of each level, all levels together.",
    )


def heat_map(sums, nodes, what, shown):
    n = len(sums)
    largest = max(v for row in sums for v in row)
    cells = []
    if n <= MOST_CELLS:
        cells = [[shown(v) if v else "" for v in row] for row in sums]
    return HeatMap(
        png.data_uri(png.encode(png.cover(sums, strongest=170 if cells else 255), ORANGE)),
        n,
        nodes,
        what.capitalize(),
        f"at most {shown(largest)}",
        f"{what.capitalize()} from node to node",
        cells=cells,
    )


def node_name(bin_, nodes, n):
    starts = bins.bounds(nodes, n)
    first, end = starts[bin_], starts[bin_ + 1]
    return f"node {first}" if end - first == 1 else f"nodes {first} to {end - 1}"


def busiest_table(squares, nodes, n):
    pairs = [
        (squares["bytes"][i][j], squares["messages"][i][j], i, j)
        for i in range(n)
        for j in range(n)
        if squares["messages"][i][j] and i != j
    ]
    pairs.sort(reverse=True)
    rows = [
        [node_name(i, nodes, n), node_name(j, nodes, n), text.count(messages), text.count(size)]
        for size, messages, i, j in pairs[:20]
    ]
    return Table(["From", "To", "Messages", "Bytes"], rows, title="The busiest pairs", numeric=(2, 3))
