"""The page of a prediction: what the exchanges of each level cost by route, and on how many ranks to run."""

from .. import charts, text
from ..model import Chapter, Chart, Fact, Section, Table, Text
from . import common
from .exchange_times import SETUP, TERMS, first_route, of_cycle, of_setup, simulated
from .scaling import scaling_section

COLOURS = {
    "latency": charts.ONE,
    "bandwidth": charts.FOUR,
    "injection": charts.REST,
    "queues": charts.TWO,
    "contention": charts.THREE,
}
LEGEND = {"one": "latency", "four": "bandwidth", "rest": "injection", "two": "queues", "three": "contention"}


def chapter(document):
    data = document.data
    made = Chapter(
        title=data["matrix"]["source"],
        command="predict",
        sentence=sentence(data),
        badge=data["machine"]["name"],
        facts=facts(data),
        sources=[document.name],
    )
    sections = [
        scaling_section(data),
        cycle_section(data),
        setup_section(data),
        gpu_section(data),
        choices_section(data),
        machine_section(data),
        common.repeat_section(data),
        Section("Options", [common.options_table(data["options"])]),
    ]
    made.sections = [s for s in sections if s]
    return made


def gain(data, what):
    best = simulated(data[what]["best_by_simulation"])
    return simulated(data[what]["one_route"][first_route(data)]) / best if best > 0 else 1


def sentence(data):
    ranks = (
        f"{text.counted(data['ranks'], 'rank')} on {text.counted(data['nodes'], 'node')} of {data['machine']['name']}"
    )
    best = simulated(data["cycle"]["best_by_simulation"])
    if best == 0:
        return f"On {ranks} a multigrid cycle for {data['matrix']['source']} sends nothing."
    said = (
        f"On {ranks} the messages of a multigrid cycle for {data['matrix']['source']} ({common.matrix_phrase(data['matrix'])}) should take "
        f"{text.seconds(best)} over the best routes, simulated"
    )
    if len(data["routes"]) > 1:
        direct = simulated(data["cycle"]["one_route"][first_route(data)])
        said += f", against {text.seconds(direct)} always {text.words(first_route(data))}"
    work = data["work_of_a_cycle_s"]
    return said + (f"; its arithmetic takes {text.seconds(work)}." if work else ".") + fastest(data)


def fastest(data):
    found = (data["scaling"] or {}).get("fastest")
    if not found:
        return ""
    best = found["best"]["by_simulation"]
    return f" More than {text.counted(best['ranks'], 'rank')} do not pay."


def band(time):
    return f"{text.seconds(time['simulated_s']['low'])} to {text.seconds(time['simulated_s']['high'])}"


def facts(data):
    cycle, setup = data["cycle"]["best_by_simulation"], data["setup"]["best_by_simulation"]
    found = [
        Fact(text.seconds(simulated(cycle)), "messages of a cycle", f"band {band(cycle)}"),
        Fact(
            text.seconds(data["cycle"]["best_by_formula"]["formula_s"]["total"]),
            "by formula",
            "one message after the other",
        ),
        Fact(text.seconds(data["work_of_a_cycle_s"]), "arithmetic of a cycle", "rank with most"),
        Fact(text.seconds(simulated(setup)), "messages of the setup", f"band {band(setup)}"),
    ]
    if len(data["routes"]) > 1:
        found.insert(
            2,
            Fact(
                f"{text.significant(gain(data, 'cycle'))} ×",
                "gain by routes",
                f"against {text.words(first_route(data))}",
            ),
        )
    return found


def level_chart(data, of, what):
    rows, marks, names = [], [], []
    for k, level in enumerate(data["levels"]):
        name = f"level {k}"
        names.append(name)
        for route in data["routes"]:
            time = of(level, route, data)
            total = sum(time["terms"].values())
            tips = {
                term: f"{name}, {text.words(route)}, {term}: {text.seconds(v)}" for term, v in time["terms"].items()
            }
            rows += charts.stacked(name, time["terms"], tips, f"{text.words(route)} {text.seconds(total)}", which=route)
            marks.append(
                {
                    "group": name,
                    "which": route,
                    "base": time["base"],
                    "low": time["low"],
                    "high": time["high"],
                    "tip": f"{name}, {text.words(route)}, simulated: {text.seconds(time['base'])}, band {text.seconds(time['low'])} to {text.seconds(time['high'])}",
                }
            )
    draw = charts.bars(
        rows, COLOURS, order=names, which=data["routes"] if len(data["routes"]) > 1 else None, marks=marks
    )
    return Chart(
        draw,
        title=f"Messages of {what} by level and route",
        legend=LEGEND,
        alt=f"The terms of the formula for {what}, by level and route, and the simulated time with its band.",
        note="Bars and numbers: the formula, term by term. Points: simulated, with the band that the scenarios span.",
    )


def cycle_section(data):
    return Section("A cycle", [level_chart(data, of_cycle, "a cycle"), level_table(data, of_cycle), sizes_table(data)])


def setup_section(data):
    parts = [level_chart(data, of_setup, "the setup"), level_table(data, of_setup), operation_table(data)]
    left_out = data["setup"]["left_out"]
    if left_out:
        parts.append(Text(f"Not counted: {', '.join(text.words(name) for name in left_out)}."))
    return Section(
        "The setup", parts, lead=f"A chain of {text.counted(data['setup']['waits'], 'wait')} for the network."
    )


def level_table(data, of):
    rows = []
    for k, level in enumerate(data["levels"]):
        for route in data["routes"]:
            time = of(level, route, data)
            rows.append(
                [
                    str(k),
                    text.words(route),
                    *(text.seconds(v) for v in time["terms"].values()),
                    text.seconds(sum(time["terms"].values())),
                    text.seconds(time["base"]),
                    text.seconds(time["low"]),
                    text.seconds(time["high"]),
                ]
            )
    columns = ["Level", "Route", *(name.capitalize() for name in TERMS), "Formula", "Simulated", "at least", "at most"]
    return Table(columns, rows, title="Term by term", numeric=(0, *range(2, len(columns))))


def sizes_table(data):
    rows = [
        [
            str(k),
            text.count(v["rows"]),
            text.count(v["nonzeros"]),
            text.count(v["active_ranks"]),
            text.count(v["most_rows_of_a_rank"]),
            text.significant(v["in_a_cycle"]["products"]),
            text.seconds(v["work_s"]),
            text.words(v["cheapest_by_formula"]),
            text.words(v["cheapest_by_simulation"]),
        ]
        for k, v in enumerate(data["levels"])
    ]
    return Table(
        [
            "Level",
            "Rows",
            "Nonzeros",
            "Ranks",
            "Most rows of a rank",
            "Products",
            "Arithmetic",
            "Cheapest by formula",
            "simulated",
        ],
        rows,
        title="Every level",
        numeric=(0, 1, 2, 3, 4, 5, 6),
    )


def operation_table(data):
    rows = []
    for k, level in enumerate(data["levels"]):
        route = level["cheapest_by_simulation"]
        cells = [text.seconds(simulated(level[name][route])) if level[name] else "–" for name in SETUP]
        reductions = level["setup_reductions"] * simulated(data["allreduce"]["plain"])
        rows.append([str(k), text.words(route), *cells, text.seconds(reductions)])
    return Table(
        ["Level", "Route", *(name.capitalize() for name in SETUP.values()), "Allreduces"],
        rows,
        title="By operation, over the route that is cheapest in a cycle, simulated",
        numeric=(0, *range(2, 11)),
    )


def gpu_section(data):
    """Where vectors lie on cards: each way of the data to other nodes."""
    if not data["gpu"]:
        return None
    one_way = (data["gpu"].get("cycle") or {}).get("one_way")
    if not one_way:
        return None
    rows = [
        [text.words(way), text.words(route), text.seconds(time["formula_s"]["total"]), text.seconds(simulated(time))]
        for way, by_route in one_way.items()
        for route, time in by_route.get("one_route", {}).items()
    ]
    return Section(
        "Data on cards", [Table(["Way", "Route", "Formula", "Simulated"], rows, title="", open=True, numeric=(2, 3))]
    )


def choices_section(data):
    rows = [["Preset", data["preset"]["name"], data["preset"]["reason"] or "named with the command"]]
    if data["partition_choice"]:
        rows.append(["Partition", text.words(data["partition_choice"]["chosen"]), data["partition_choice"]["reason"]])
    for which, (taken, why) in common.alike(data["levels"], ranks_of):
        rows.append([f"Ranks, {which}", taken, why])
    return Section(
        "What was chosen, and why", [Table(["Choice", "Taken", "Why"], rows, title="", open=True, prose=True)]
    )


def ranks_of(level):
    choice = level["redistribution_choice"]
    return (
        (f"{text.count(choice['ranks'])} of {text.count(choice['ranks_before'])}", choice["reason"]) if choice else None
    )


def machine_section(data):
    machine = data["machine"]
    rows = [
        ["Name", machine["name"]],
        ["Source", machine["source"]],
        [
            "Parameters",
            "measured" if machine["measured"] else "not measured: compare routes by them, and trust no microsecond",
        ],
        ["Scenario", text.words(machine["scenario"])],
    ]
    if machine["unknown"]:
        rows.append(["Not known", ", ".join(machine["unknown"])])
    if machine["left_out"]:
        rows.append(["Without effect", ", ".join(machine["left_out"])])
    rows.append(["Scenarios of the band", "; ".join(data["scenarios"])])
    return Section("Machine", [Table([], rows, title="", open=True), common.program_table(data["program"])])
