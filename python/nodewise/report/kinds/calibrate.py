"""The page of a calibration: what was measured, and the fits through it."""

import json
import statistics

from .. import charts, text
from ..model import Chapter, Chart, Code, Fact, Section, Table
from . import common
from .scaling import MICROS

PLACES = {
    "same_socket": ("on a socket", "three"),
    "same_node": ("on a node", "one"),
    "other_node": ("between nodes", "two"),
}
SHADES = {"one": charts.ONE, "two": charts.TWO, "three": charts.THREE, "four": charts.FOUR}
SIZES = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.3~g') + ' GiB' : datum.value >= 1048576 ? "
    "format(datum.value / 1048576, '.3~g') + ' MiB' : datum.value >= 1024 ? format(datum.value / 1024, '.3~g') + ' KiB' : "
    "format(datum.value, 'd') + ' B'"
)


def chapter(document):
    data = document.data
    name = (data["machine_file"] or {}).get("name", "A machine")
    made = Chapter(title=name, command="calibrate", sentence=sentence(data), facts=facts(data), sources=[document.name])
    sections = [
        messages_section(data),
        queue_section(data),
        senders_section(data),
        overlap_section(data),
        arithmetic_section(data),
        missing_section(data),
        common.machine_section(data),
        common.repeat_section(data),
        file_section(data),
    ]
    made.sections = [s for s in sections if s]
    return made


def slowest_path(data):
    order = list(PLACES)
    paths = [p for p in data["ping_pong"] if p["fits"]]
    return max(paths, key=lambda p: order.index(p["locality"])) if paths else None


def fits_of(path):
    return sorted(path["fits"].items(), key=lambda item: item[1]["first_bytes"])


def sentence(data):
    where = f"Measured for {text.seconds(data['seconds'])} on {common.placement(data['machine'])}"
    path = slowest_path(data)
    if path is None:
        return f"{where}. No messages could be measured."
    short, long = fits_of(path)[0][1], fits_of(path)[-1][1]
    rate = text.rate(long["rate_bytes_per_s"]) if long["times_grow"] else "a rate that is too high to be seen"
    return f"{where}: a short message {PLACES[path['locality']][0]} takes {text.seconds(short['latency_s']['value'])}, long ones go at {rate}."


def facts(data):
    found = []
    for path in data["ping_pong"]:
        if path["fits"]:
            first = fits_of(path)[0][1]
            found.append(
                Fact(
                    text.seconds(first["latency_s"]["value"]),
                    f"latency {PLACES[path['locality']][0]}",
                    f"fit off by {text.percent(first['relative_error'])}",
                )
            )
    triads = data["computation"]["triad"]
    if triads:
        most = max(triads, key=lambda t: t["bytes_per_s"] or 0)
        found.append(Fact(text.rate(most["bytes_per_s"]), "memory", text.counted(most["threads"], "thread")))
    return found


def quarters(times):
    """What a quarter, half and three quarters of the times are below."""
    return statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else 3 * times


def messages_section(data):
    rows, lines = [], []
    legend = {}
    for path in data["ping_pong"]:
        place, shade = PLACES[path["locality"]]
        points = [p for p in path["points"] if p["times_s"]]
        if points:
            legend[shade] = place
        for p in points:
            low, middle, high = quarters(p["times_s"])
            rows.append(
                {
                    "bytes": p["bytes"],
                    "seconds": middle,
                    "low": low,
                    "high": high,
                    "series": place,
                    "line": place,
                    "tip": f"{text.size(p['bytes'])} {place}: {text.seconds(middle)}, half of the times within "
                    f"{text.seconds(low)} and {text.seconds(high)}",
                }
            )
        for protocol, fit in fits_of(path):
            lines += fit_line(fit, [p["bytes"] for p in points], place, protocol)
    if not rows:
        return None
    draw = charts.fitted(
        rows,
        lines,
        {PLACES[p][0]: SHADES[PLACES[p][1]] for p in PLACES},
        ("bytes", "Bytes of a message", SIZES),
        ("seconds", MICROS),
    )
    chart = Chart(
        draw,
        title="One message",
        legend=legend,
        alt="Times of messages by size, and fits.",
        note="Points: medians, and the half of the times around them. Lines: the fits, latency + bytes / rate, of each protocol.",
    )
    return Section("Messages", [chart, fit_table(data)])


def fit_line(fit, sizes, place, protocol):
    inside = [fit["first_bytes"], *(s for s in sizes if fit["first_bytes"] < s < fit["last_bytes"]), fit["last_bytes"]]
    slope = 1 / fit["rate_bytes_per_s"] if fit["times_grow"] and fit["rate_bytes_per_s"] else 0
    return [
        {"bytes": s, "seconds": fit["latency_s"]["value"] + slope * s, "series": place, "line": f"{place} {protocol}"}
        for s in inside
        if s > 0 and fit["latency_s"]["value"] + slope * s > 0
    ]


def within(estimate, shown):
    return f"{shown(estimate['low'])} to {shown(estimate['high'])}"


def fit_table(data):
    rows = []
    for path in data["ping_pong"]:
        for protocol, fit in fits_of(path):
            rows.append(
                [
                    PLACES[path["locality"]][0],
                    text.words(protocol),
                    f"{text.size(fit['first_bytes'])} to {text.size(fit['last_bytes'])}",
                    text.seconds(fit["latency_s"]["value"]),
                    within(fit["latency_s"], text.seconds),
                    text.rate(fit["rate_bytes_per_s"]) if fit["times_grow"] else "–",
                    text.percent(fit["relative_error"]),
                ]
            )
    return Table(
        ["Where", "Protocol", "Sizes", "Latency", "within", "Rate", "Fit off by"],
        rows,
        title="Fits",
        open=True,
        numeric=(3, 4, 5, 6),
    )


def queue_section(data):
    queue = data["queue"]
    rows, lines = [], []
    for key, fit_key, name in (("in_order_s", "fit_in_order", "in order"), ("reversed_s", "fit_reversed", "reversed")):
        for p in queue["points"]:
            if p[key]:
                low, middle, high = quarters(p[key])
                rows.append(
                    {
                        "messages": p["messages"],
                        "seconds": middle,
                        "low": low,
                        "high": high,
                        "series": name,
                        "line": name,
                        "tip": f"{text.counted(p['messages'], 'message')}, receives {name}: {text.seconds(middle)}",
                    }
                )
        fit = queue[fit_key]
        if fit:
            a, b, c = (fit[field]["value"] for field in ("base_s", "per_message_s", "queue_search_s"))
            lines += [
                {
                    "messages": p["messages"],
                    "seconds": a + b * p["messages"] + c * p["messages"] ** 2,
                    "series": name,
                    "line": name,
                }
                for p in queue["points"]
                if a + b * p["messages"] + c * p["messages"] ** 2 > 0
            ]
    if not rows:
        return None
    draw = charts.fitted(
        rows,
        lines,
        {"in order": charts.ONE, "reversed": charts.TWO},
        ("messages", "Messages under way", None),
        ("seconds", MICROS),
    )
    chart = Chart(
        draw,
        title="Many messages at once, the same bytes in all",
        alt="Times by the number of messages under way.",
        legend={"one": "receives in the order of the sends", "two": "reversed, so that the queue is searched"},
    )
    return Section("Queues", [chart])


def senders_section(data):
    rows = []
    senders = sorted({p["senders"] for p in data["injection"] if p["times_s"]})
    shades = list(SHADES.values())
    for p in data["injection"]:
        if p["times_s"]:
            rate = p["senders"] * p["bytes"] / statistics.median(p["times_s"])
            name = text.counted(p["senders"], "sender")
            rows.append(
                {
                    "bytes": p["bytes"],
                    "rate": rate,
                    "series": name,
                    "line": name,
                    "tip": f"{name}, {text.size(p['bytes'])}: {text.rate(rate)}",
                }
            )
    if not rows:
        return None
    colours = {text.counted(n, "sender"): shades[min(k, 3)] for k, n in enumerate(senders)}
    draw = charts.lines(
        rows,
        ("bytes", "Bytes of a message"),
        ("rate", None),
        "series",
        colours,
        log_x=True,
        x_axis={"labelExpr": SIZES},
        y_axis={"labelExpr": "format(datum.value, '~s') + 'B/s'"},
    )
    legend = {list(SHADES)[min(k, 3)]: text.counted(n, "sender") for k, n in enumerate(senders)}
    return Section(
        "Several senders of a node",
        [Chart(draw, title="Bytes a second of all senders together", alt="Rates by size and senders.", legend=legend)],
    )


def overlap_section(data):
    rows = []
    for point in data["overlap"] or []:
        for s in point.get("sweep", []):
            if s["both_s"]:
                name = text.words(point["direction"])
                both = statistics.median(s["both_s"])
                rows.append(
                    {
                        "work": 1e3 * s["work_s"],
                        "both": 1e3 * both,
                        "series": name,
                        "line": f"{name} {point['bytes']}",
                        "tip": f"{name}, {text.size(point['bytes'])}: {text.seconds(s['work_s'])} of work take {text.seconds(both)} with the message",
                    }
                )
    if not rows:
        return None
    draw = charts.lines(
        rows,
        ("work", "Milliseconds of work"),
        ("both", None),
        "series",
        {"receive": charts.ONE, "send": charts.TWO},
        log_y=False,
    )
    return Section(
        "Work while a message travels",
        [
            Chart(
                draw,
                title="Milliseconds of work and message together",
                alt="Time of work and message by work.",
                legend={"one": "receive", "two": "send"},
            )
        ],
    )


def arithmetic_section(data):
    computation = data["computation"]
    rows = [
        ["triad", f"{text.counted(t['threads'], 'thread')}", text.size(t["array_bytes"]), text.rate(t["bytes_per_s"])]
        for t in computation["triad"]
    ]
    rows += [
        [
            "product",
            text.counted(round(p["rows"]), "row"),
            text.count(round(p["nonzeros"])) + " nonzeros",
            f"{text.seconds(p['s_per_flop'])} a flop",
        ]
        for p in computation["spmv"] + computation["level_products"]
    ]
    return (
        Section(
            "Arithmetic",
            [Table(["Kernel", "", "Size", "Speed"], rows, title=f"{len(rows)} measurements", numeric=(3,))],
        )
        if rows
        else None
    )


def missing_section(data):
    rows = [[text.words(m["what"]), m["why"]] for m in data["not_measured"]]
    return Section("Not measured", [Table(["What", "Why"], rows, title="", open=True, prose=True)]) if rows else None


def file_section(data):
    if not data["machine_file"]:
        return None
    made = json.dumps(data["machine_file"], indent=2, ensure_ascii=False)
    return Section(
        "Machine file",
        [
            Table(
                [],
                [
                    [text.words(k), common.shown(v) if not isinstance(v, (dict, list)) else f"{len(v)} entries"]
                    for k, v in data["machine_file"].items()
                ],
                title="What it holds",
            ),
            Code(made, "As JSON"),
        ],
    )
