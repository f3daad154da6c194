"""Where the time went, by level and operation, beside what was predicted."""

from .. import charts, text
from ..model import Chart, Section, Table, Text

PARTS = {"computing": charts.ONE, "communicating": charts.TWO}
LEGEND = {"one": "computing", "two": "communicating and waiting"}
MEASURED, PREDICTED = "measured", "predicted"


def by_level(accounts):
    """Seconds of all operations of a level, the mean of the ranks; None: of no level."""
    sums = {}
    for account in accounts:
        level = sums.setdefault(account["level"], dict.fromkeys(PARTS, 0.0))
        for part in PARTS:
            level[part] += account["mean_of_the_ranks"][f"{part}_s"]
    return sums


def predicted_by_level(data):
    """What messages should have taken, and arithmetic at the bandwidth of the memory where that is known."""
    prediction = data.get("prediction")
    if not prediction:
        return {}
    predicted = {
        level: {"computing": 0.0, "communicating": info["communicating_s"]}
        for level, info in enumerate(prediction["levels"])
    }
    predicted[None] = {"computing": 0.0, "communicating": prediction["krylov_communicating_s"]}
    for kernel in (data["local_kernels"] or {}).get("kernels", []):
        level = None if kernel["kernel"] == "krylov_product" else kernel["level"]
        if kernel["share_of_bound"] is not None and level in predicted:
            predicted[level]["computing"] += kernel["computing_s"] * kernel["share_of_bound"]
    return predicted


def level_name(level, outside):
    return outside if level is None else f"level {level}"


def ordered(levels):
    """The finest first, what belongs to none at the end."""
    return sorted(levels, key=lambda level: (level is None, level or 0))


def bar_rows(measured, predicted, outside):
    rows = []
    for which, of in ((MEASURED, measured), (PREDICTED, predicted)):
        for level in ordered(measured):
            parts = of.get(level)
            if parts is None or which == PREDICTED and sum(parts.values()) == 0:
                continue
            name = level_name(level, outside)
            tips = {part: f"{name}, {part}, {which}: {text.seconds(value)}" for part, value in parts.items()}
            rows += charts.stacked(name, parts, tips, text.seconds(sum(parts.values())), which=which)
    return rows


def chart(data, phase, outside):
    measured = by_level(data["operations"][phase])
    if not measured:
        return None
    predicted = predicted_by_level(data) if phase == "solve" else {}
    rows = bar_rows(measured, predicted, outside)
    names = [level_name(level, outside) for level in ordered(measured)]
    draw = charts.bars(rows, PARTS, order=names, which=[MEASURED, PREDICTED] if predicted else None, thin=(PREDICTED,))
    total = sum(sum(parts.values()) for parts in measured.values())
    share = sum(parts["communicating"] for parts in measured.values()) / total if total > 0 else 0
    return Chart(
        draw,
        title=f"{phase.capitalize()}: {text.seconds(total)}, {text.percent(share)} of it communicating",
        alt=f"Seconds of the {phase} by level, computing and communicating.",
        legend=LEGEND,
        note="The lighter bars are predicted." if predicted else "",
    )


def section(data):
    parts = [c for c in (chart(data, "setup", "no level"), chart(data, "solve", "Krylov method")) if c]
    if not parts:
        return None
    for one in parts:
        one.half = len(parts) == 2 and not data.get("prediction")
    parts += [Text(note) for note in notes(data)]
    for phase in ("setup", "solve"):
        parts.append(operation_table(data["operations"][phase], phase))
    if data.get("prediction"):
        parts.append(prediction_table(data))
    if data["local_kernels"] and data["local_kernels"]["kernels"]:
        parts.append(kernel_table(data["local_kernels"]))
    return Section(
        "Where the time went",
        parts,
        lead="Seconds of the mean rank. Communicating is packing, sending, and waiting for other ranks.",
    )


def notes(data):
    said = []
    if data["machine"]["placement"] == "given" and data["machine"]["nodes"] > 1:
        said.append(
            "The nodes were given with the command: the messages are those of such a machine, the times those of the hosts it ran on."
        )
    prediction = data.get("prediction")
    if prediction:
        bandwidth = (data["local_kernels"] or {}).get("bandwidth_bytes_per_s")
        arithmetic = (
            f"arithmetic at its memory's {text.rate(bandwidth)}"
            if bandwidth
            else "arithmetic is not predicted, since its file has no bandwidth of the memory"
        )
        said.append(
            f"Predicted for the machine {prediction['machine']}: messages by the formulas that choose routes, over the routes taken; "
            f"{arithmetic}. Waiting for slower ranks, dot products and a direct coarse solve are not predicted."
        )
        if prediction["not_predicted"]:
            said.append(f"The cycle is not predicted: {prediction['not_predicted']}")
    return said


def operation_table(accounts, phase):
    rows = []
    for a in sorted(accounts, key=lambda a: -sum(a["mean_of_the_ranks"].values())):
        mean = a["mean_of_the_ranks"]
        rows.append(
            [
                text.words(a["operation"]),
                "–" if a["level"] is None else str(a["level"]),
                text.count(a["runs"]),
                text.seconds(mean["computing_s"]),
                text.seconds(mean["communicating_s"]),
                text.count(a["messages_on_node"]),
                text.count(a["messages_off_node"]),
                text.size(a["bytes_on_node"]),
                text.size(a["bytes_off_node"]),
                text.count(a["waits"]),
            ]
        )
    return Table(
        [
            "Operation",
            "Level",
            "Runs",
            "Computing",
            "Communicating",
            "Messages on node",
            "Between nodes",
            "Bytes on node",
            "Between nodes",
            "Waits",
        ],
        rows,
        title=f"Every operation of the {phase}",
        numeric=tuple(range(1, 10)),
    )


def prediction_table(data):
    measured, predicted = by_level(data["operations"]["solve"]), predicted_by_level(data)
    rows = []
    for level in ordered(predicted):
        was = measured.get(level, dict.fromkeys(PARTS, 0.0))
        rows.append(
            [
                level_name(level, "Krylov method"),
                text.seconds(was["computing"]),
                text.seconds(predicted[level]["computing"]),
                text.seconds(was["communicating"]),
                text.seconds(predicted[level]["communicating"]),
            ]
        )
    return Table(
        ["", "Computing", "predicted", "Communicating", "predicted"],
        rows,
        title="Predicted beside measured",
        numeric=(1, 2, 3, 4),
    )


def kernel_table(kernels):
    rows = [
        [
            text.words(k["kernel"]),
            str(k["level"]),
            text.count(k["runs"]),
            text.size(k["moved_bytes"]),
            text.seconds(k["computing_s"]),
            text.rate(k["moved_bytes"] / k["computing_s"] if k["computing_s"] else None),
            text.percent(k["share_of_bound"]),
        ]
        for k in kernels["kernels"]
    ]
    return Table(
        ["Kernel", "Level", "Runs", "Moved", "Computing", "Rate", "Of what memory allows"],
        rows,
        title="Local kernels against the memory",
        numeric=(1, 2, 3, 4, 5, 6),
    )
