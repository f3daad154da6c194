"""The page of an inspection: facts of a matrix, its levels, and what virtual ranks would send."""

from .. import charts, text
from ..model import Chapter, Chart, Fact, Notices, Section, Table
from . import common

ROUTES = {"direct": "two", "two_step": "one", "three_step": "three"}
SHADES = {"one": charts.ONE, "two": charts.TWO, "three": charts.THREE}


def chapter(document):
    data = document.data
    made = Chapter(
        title=data["matrix"]["source"],
        command="inspect",
        sentence=sentence(data),
        facts=facts(data),
        sources=[document.name],
    )
    sections = [
        obstacle(data),
        messages_section(data),
        levels_section(data),
        matrix_section(data),
        common.machine_section(data),
        common.repeat_section(data),
    ]
    made.sections = [s for s in sections if s]
    return made


def sentence(data):
    matrix = data["matrix"]
    kind = "symmetric" if matrix["symmetric"] else "not symmetric"
    said = f"{matrix['source']} has {common.matrix_phrase(matrix)}, and is {kind}."
    hierarchy = data["hierarchy"]
    if hierarchy:
        levels = text.counted(len(hierarchy["levels"]), "level")
        times = text.significant(hierarchy["operator_complexity"])
        said += f" Multigrid makes {levels} of it, with {times} times its nonzeros."
    virtual = data["virtual_ranks"]
    if virtual:
        busiest = max((best_route(level)[1], k) for k, level in enumerate(virtual["levels"]))
        direct = (
            max(
                level["product"]["direct"]["off_node"]["max_messages_of_a_rank"]
                for level in virtual["levels"]
                if "direct" in level["product"]
            )
            if any("direct" in level["product"] for level in virtual["levels"])
            else busiest[0]
        )
        said += (
            f" On {text.counted(virtual['ranks'], 'rank')} of {text.counted(virtual['nodes'], 'node')} the busiest rank sends up to "
            f"{text.counted(direct, 'message')} to other nodes in a product; by the best routes {text.count(busiest[0])}."
        )
    return said


def best_route(level):
    most = {route: v["off_node"]["max_messages_of_a_rank"] for route, v in level["product"].items()}
    route = min(most, key=most.get)
    return route, most[route]


def facts(data):
    m = data["matrix"]
    return [
        Fact(text.count(m["rows"]), "rows", f"{text.count(m['columns'])} columns"),
        Fact(text.count(m["nonzeros"]), "nonzeros", f"{text.significant(m['nonzeros'] / m['rows'])} a row"),
        Fact(text.count(m["longest_row"]), "longest row", f"shortest {text.count(m['shortest_row'])}"),
        Fact(text.count(m["bandwidth"]), "bandwidth"),
    ]


def obstacle(data):
    return (
        Section("Findings", [Notices([("No hierarchy", data["no_hierarchy"], "")])]) if data["no_hierarchy"] else None
    )


def chart(levels, key, title, shown):
    rows, names = [], []
    routes = list(levels[0]["product"])
    for k, level in enumerate(levels):
        name = f"level {k}"
        names.append(name)
        for route, volumes in level["product"].items():
            value = volumes["off_node"][key]
            spoken = text.words(route)
            rows += charts.stacked(
                name, {route: value}, {route: f"{name}, {spoken}: {shown(value)}"}, shown(value), which=route
            )
    colours = {route: SHADES[ROUTES.get(route, "one")] for route in routes}
    draw = charts.bars(rows, colours, order=names, which=routes)
    return Chart(
        draw,
        title=title,
        half=True,
        legend={ROUTES.get(route, "one"): text.words(route) for route in routes},
        alt=f"{title} by level and route.",
    )


def messages_section(data):
    virtual = data["virtual_ranks"]
    if not virtual:
        return None
    levels = virtual["levels"]
    parts = [
        chart(levels, "messages", "Of all ranks together", text.count),
        chart(levels, "max_messages_of_a_rank", "Of the busiest rank", text.count),
        volumes_table(levels),
    ]
    return Section(
        "Messages between nodes",
        parts,
        lead=f"In one product with the matrix of each level, on {text.counted(virtual['ranks'], 'rank')} of "
        f"{text.counted(virtual['nodes'], 'node')}.",
    )


def volumes_table(levels):
    rows = []
    for k, level in enumerate(levels):
        for name in ("product", "interpolation", "restriction", "interpolation_rows"):
            for route, v in (level[name] or {}).items():
                on, off = v["on_node"], v["off_node"]
                rows.append(
                    [
                        str(k),
                        text.words(name),
                        text.words(route),
                        text.count(on["messages"]),
                        text.count(off["messages"]),
                        text.count(on["bytes"]),
                        text.count(off["bytes"]),
                        text.count(off["max_messages_of_a_rank"]),
                        text.count(off["max_bytes_of_a_rank"]),
                    ]
                )
    return Table(
        [
            "Level",
            "Exchange",
            "Route",
            "Messages on node",
            "Between nodes",
            "Bytes on node",
            "Between nodes",
            "Most messages of a rank",
            "Most bytes of a rank",
        ],
        rows,
        title="Every exchange",
        numeric=(0, 3, 4, 5, 6, 7, 8),
    )


def levels_section(data):
    if not data["hierarchy"]:
        return None
    rows = [
        [
            str(k),
            text.count(v["rows"]),
            text.count(v["nonzeros"]),
            text.significant(v["nonzeros"] / max(1, v["rows"])),
            text.count(v["longest_row"]),
        ]
        for k, v in enumerate(data["hierarchy"]["levels"])
    ]
    return Section(
        "Hierarchy",
        [
            Table(
                ["Level", "Rows", "Nonzeros", "A row", "Longest row"],
                rows,
                title="",
                open=True,
                numeric=(0, 1, 2, 3, 4),
            )
        ],
    )


def matrix_section(data):
    rows = [
        [text.words(k).capitalize(), f"{v:,}" if isinstance(v, int) and not isinstance(v, bool) else common.shown(v)]
        for k, v in data["matrix"].items()
    ]
    return Section("Matrix", [Table([], rows, title="Every fact")])
