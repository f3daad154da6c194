"""Several solves side by side."""

from .. import charts, text
from ..model import Chapter, Chart, Section, Table, Text
from . import common, convergence, times

NAMES = {"one": charts.ONE, "two": charts.TWO, "three": charts.THREE, "four": charts.FOUR, "rest": charts.REST}


DASHES = {"0": [1, 0], "1": [7, 4], "2": [2, 3], "3": [9, 3, 2, 3]}


def names_of(documents):
    """File names; where two are the same, what is before them too."""
    names = [document.name for document in documents]
    return [document.path if names.count(name) > 1 else name for document, name in zip(documents, names)]


def chapter(documents):
    names = names_of(documents)
    all_data = [document.data for document in documents]
    made = Chapter(
        title=" and ".join(names) if len(names) == 2 else f"{len(names)} solves",
        command="solve",
        sentence=sentence(names, all_data),
        badge="Compared",
        sources=["Comparison"],
    )
    sections = [
        numbers(names, all_data),
        times_section(names, all_data),
        convergence_section(names, all_data),
        messages_section(names, all_data),
        options_section(names, all_data),
    ]
    made.sections = [s for s in sections if s]
    return made


def total_s(data):
    return data["times_s"]["setup"] + data["times_s"]["solve"]


def sentence(names, all_data):
    """Which is faster, and by how much."""
    converged = [k for k, data in enumerate(all_data) if data["solve"]["converged"]]
    if not converged:
        return "None of them converged."
    failed = [names[k] for k in range(len(names)) if k not in converged]
    said = f" Not converged: {', '.join(failed)}." if failed else ""
    if len(converged) == 1:
        only = converged[0]
        iterations = text.counted(all_data[only]["solve"]["iterations"], "iteration")
        return f"Only {names[only]} converged, in {iterations}." + ("" if len(names) == 2 else said)
    ranked = sorted(converged, key=lambda k: total_s(all_data[k]))
    fast, slow = ranked[0], ranked[-1]
    ratio = total_s(all_data[slow]) / total_s(all_data[fast]) if total_s(all_data[fast]) > 0 else 1
    iterations = (
        f"{all_data[fast]['solve']['iterations']:,} iterations against {all_data[slow]['solve']['iterations']:,}"
    )
    same = "" if same_matrix(all_data) else " The matrices differ."
    return (
        f"{names[fast]} took {text.seconds(total_s(all_data[fast]))}, {names[slow]} {text.significant(ratio)} times as long; "
        f"{iterations}.{same}{said}"
    )


def same_matrix(all_data):
    return len({(d["matrix"]["source"], d["matrix"]["rows"], d["matrix"]["nonzeros"]) for d in all_data}) == 1


def colours_of(names):
    order = list(NAMES)
    return {name: order[min(k, len(order) - 1)] for k, name in enumerate(names)}


ROWS = [
    ("Outcome", lambda d: text.words(d["solve"]["outcome"])),
    ("Iterations", lambda d: text.count(d["solve"]["iterations"])),
    ("Setup", lambda d: text.seconds(d["times_s"]["setup"])),
    ("Solve", lambda d: text.seconds(d["times_s"]["solve"])),
    ("Setup and solve", lambda d: text.seconds(total_s(d))),
    ("Relative residual", lambda d: text.power(d["solve"]["true_relative_residual"])),
    ("Average factor", lambda d: text.factor(d["solve"]["average_convergence_factor"])),
    ("Levels", lambda d: text.count(len(d["hierarchy"]["levels"])) if d["hierarchy"] else "–"),
    ("Operator complexity", lambda d: text.factor(d["hierarchy"]["operator_complexity"]) if d["hierarchy"] else "–"),
    (
        "Messages between nodes, solve",
        lambda d: text.count(sum(a["messages_off_node"] for a in d["operations"]["solve"])),
    ),
    ("Bytes between nodes, solve", lambda d: text.size(sum(a["bytes_off_node"] for a in d["operations"]["solve"]))),
    ("Messages on nodes, solve", lambda d: text.count(sum(a["messages_on_node"] for a in d["operations"]["solve"]))),
    ("Memory of a rank", lambda d: text.size(d["memory_bytes"]["peak_resident_max"])),
    ("Matrix", lambda d: f"{d['matrix']['source']}: {common.matrix_phrase(d['matrix'])}"),
    ("Where", lambda d: common.placement(d["machine"])),
    ("Version", lambda d: f"{d['program']['version']}, {d['program']['commit']}"),
]


def numbers(names, all_data):
    rows = [[label, *(show(data) for data in all_data)] for label, show in ROWS]
    return Section(
        "Side by side", [Table(["", *names], rows, open=True, title="", numeric=tuple(range(1, len(names) + 1)))]
    )


def times_section(names, all_data):
    rows = []
    for name, data in zip(names, all_data):
        parts = {"setup": data["times_s"]["setup"], "solve": data["times_s"]["solve"]}
        tips = {part: f"{name}, {part}: {text.seconds(value)}" for part, value in parts.items()}
        rows += charts.stacked(name, parts, tips, text.seconds(total_s(data)))
    draw = charts.bars(rows, {"setup": charts.THREE, "solve": charts.ONE}, order=names)
    chart = Chart(draw, alt="Seconds of setup and solve of each report.", legend={"three": "setup", "one": "solve"})
    return Section("Time", [chart, level_times(names, all_data)])


def level_times(names, all_data):
    sums = [times.by_level(data["operations"]["solve"]) for data in all_data]
    levels = times.ordered({level for of in sums for level in of})
    rows = [
        [
            times.level_name(level, "no level"),
            *(text.seconds(sum(of[level].values())) if level in of else "–" for of in sums),
        ]
        for level in levels
    ]
    return Table(["", *names], rows, title="The solve by level", numeric=tuple(range(1, len(names) + 1)))


def convergence_section(names, all_data):
    rows = []
    colours = colours_of(names)
    for k, (name, data) in enumerate(zip(names, all_data)):
        of = convergence.rows_of(data["solve"]["history"], name, f"s{k}", name)
        rows += [{**row, "dash": str(k % len(DASHES))} for row in of]
    if not rows:
        return None
    draw = charts.lines(
        rows,
        ("iteration", "Iteration"),
        ("residual", None),
        "series",
        {name: NAMES[colour] for name, colour in colours.items()},
        dashes=DASHES,
        points=max(len(d["solve"]["history"]) for d in all_data) <= convergence.MOST_POINTS,
        x_axis={"format": "d", "tickMinStep": 1},
    )
    legend = {}
    for name, colour in colours.items():
        legend[colour] = f"{legend[colour]}, {name}" if colour in legend else name
    return Section(
        "Convergence", [Chart(draw, alt="Residuals of all by iteration.", title="Relative residual", legend=legend)]
    )


def messages_section(names, all_data):
    if not all(data["hierarchy"] for data in all_data) or all(data["machine"]["ranks"] == 1 for data in all_data):
        return None
    rows = []
    depth = max(len(data["hierarchy"]["levels"]) for data in all_data)
    for level in range(depth):
        row = [f"level {level}"]
        for data in all_data:
            levels = data["hierarchy"]["levels"]
            t = levels[level]["product_traffic"] if level < len(levels) else None
            row += (
                [text.count(t["messages_on_node"]), text.count(t["messages_off_node"]), text.size(t["bytes_off_node"])]
                if t
                else ["–"] * 3
            )
        rows.append(row)
    columns = [""]
    for name in names:
        columns += [f"{name}: messages on node", "between nodes", "bytes between nodes"]
    return Section(
        "Messages of a product",
        [Table(columns, rows, title="By level", open=True, numeric=tuple(range(1, len(columns))))],
    )


def options_section(names, all_data):
    every = dict.fromkeys(name for data in all_data for name in data["options"])
    rows = []
    for option in every:
        values = [common.shown(data["options"][option]) if option in data["options"] else "–" for data in all_data]
        if len(set(values)) > 1:
            rows.append([f"--{option}", *values])
    parts = [Table(["Option", *names], rows, title="", open=True)] if rows else [Text("All options are the same.")]
    return Section("Options that differ", parts)
