"""Vega-Lite charts: what all have in common, and the few kinds there are.

Each function returns a function of the width in pixels, so that a chart is drawn for a page and for
a phone. Rows of data have `tip`, what is said of a mark.
"""

import math

from .svg import COLOURS

INK, MUTED, GRID, PAPER = (COLOURS[name] for name in ("ink", "muted", "grid", "paper"))
ONE, TWO, THREE, FOUR, REST = (COLOURS[name] for name in ("one", "two", "three", "four", "rest"))
SERIES = [ONE, TWO, THREE, FOUR]
FONT = "Helvetica, Arial, sans-serif"
NARROW = 340  # pixels of a chart on a phone

CONFIG = {
    "background": None,
    "font": FONT,
    "padding": 2,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelPadding": 6,
        "titlePadding": 8,
        "labelLimit": 400,
    },
    "axisY": {"titleAngle": 0, "titleAlign": "left", "titleY": -12, "titleX": 0, "titleAnchor": "end"},
    "text": {"color": INK, "fontSize": 12, "font": FONT},
    "header": {"labelColor": MUTED, "titleColor": MUTED},
}


def spec(width, height, layers, **more):
    """The whole chart, axes and all, is `width` wide."""
    made = {
        "width": width,
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "config": CONFIG,
        "layer": layers,
    }
    made.update(more)
    return made


def described(encoding):
    return {**encoding, "description": {"field": "tip", "type": "nominal"}}


def quantity(field, title=None, log=False, grid=True, **more):
    scale = {"type": "log"} if log else {"zero": True}
    axis = {"title": title, "grid": grid, "tickCount": 5, "domain": False, "ticks": False}
    axis.update(more.pop("axis", {}))
    scale.update(more.pop("scale", {}))
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis, **more}


def ticks_of(values):
    """Where a logarithmic axis is labelled: at powers of ten, with few of them at 2 and 5 as well."""
    positive = [v for v in values if v and v > 0]
    if not positive:
        return []
    low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    step = max(1, -(-(high - low) // 5))
    decades = [10.0**k for k in range(high, low - 1, -step)]
    return decades if high - low > 2 else [m * d for d in decades for m in (1, 2, 5)]


def by_decades(rows, *fields):
    """The axis of these fields."""
    return {"values": ticks_of([row.get(field) for row in rows for field in fields])}


def scientific():
    """Powers of ten, as people write them."""
    exponent = "replace(format(round(log(datum.value) / log(10)), 'd'), '−', '⁻')"
    for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹"):
        exponent = f"replace({exponent}, /{digit}/g, '{raised}')"
    return {"labelExpr": f"'10' + {exponent}"}


def colour(field, domain, colours):
    return {"field": field, "type": "nominal", "legend": None, "scale": {"domain": domain, "range": colours}}


def lines(
    rows,
    x,
    y,
    series,
    colours,
    *,
    height=260,
    rules=(),
    log_x=False,
    log_y=True,
    band=None,
    points=True,
    dashes=None,
    y_axis=None,
    x_axis=None,
):
    """Lines by `line`, in the colours of their series.

    rules: (value, text) across the chart. band: (low, high), fields between which it is shaded.
    """
    names = list(colours)

    def draw(width):
        x_of = quantity(
            x[0], x[1], log=log_x, grid=False, axis={**(x_axis or {})}, scale={"nice": False, "zero": False}
        )
        marked = by_decades([*rows, *({y[0]: value} for value, _ in rules)], y[0], *(band or ())) if log_y else {}
        y_of = quantity(y[0], y[1], log=log_y, axis={**marked, **(y_axis or (scientific() if log_y else {}))})
        shade = colour(series, names, list(colours.values()))
        layers = []
        if band:
            shaded = [row for row in rows if row.get(band[0]) != row.get(band[1])]
            layers.append(
                {
                    "data": {"values": shaded},
                    "mark": {"type": "area", "opacity": 0.18, "aria": False},
                    "encoding": {
                        "x": x_of,
                        "y": {**y_of, "field": band[0]},
                        "y2": {"field": band[1]},
                        "color": shade,
                        "detail": {"field": "line", "type": "nominal"},
                    },
                }
            )
        line = {"x": x_of, "y": y_of, "color": shade, "detail": {"field": "line", "type": "nominal"}}
        if dashes:
            line["strokeDash"] = {
                "field": "dash",
                "type": "nominal",
                "legend": None,
                "scale": {"domain": list(dashes), "range": list(dashes.values())},
            }
        layers.append(
            {"data": {"values": rows}, "mark": {"type": "line", "strokeWidth": 2, "aria": False}, "encoding": line}
        )
        if points:
            layers.append(
                {
                    "data": {"values": rows},
                    "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
                    "encoding": described({"x": x_of, "y": y_of, "color": shade}),
                }
            )
        for value, text in rules:
            at = [{"value": value, "text": text}]
            layers.append(
                {
                    "data": {"values": at},
                    "mark": {"type": "rule", "color": MUTED, "strokeDash": [4, 4], "aria": False},
                    "encoding": {"y": {**y_of, "field": "value"}},
                }
            )
            layers.append(
                {
                    "data": {"values": at},
                    "mark": {"type": "text", "color": MUTED, "align": "left", "dy": -8, "x": 4},
                    "encoding": {"y": {**y_of, "field": "value"}, "text": {"field": "text"}},
                }
            )
        return spec(width, height, layers)

    return draw


def columns_of(groups, bars_of_group, row_height):
    """Pixels of the height of so many bars."""
    return max(1, len(groups)) * (row_height if bars_of_group == 1 else 14 + 22 * bars_of_group) + 4


def bars(rows, colours, *, row_height=34, by="group", order=None, which=None, thin=(), total="total", marks=()):
    """Stacked bars, one for each group, the sum written behind it, which an axis would only repeat.

    Rows have group, part, value, start, end, and total and last on the last part of each bar. which: names of
    several bars of a group, drawn one below the other, those in `thin` in a lighter tone. marks: rows of
    base, low and high, a point with its band on a bar.
    """
    groups = order or list(dict.fromkeys(row[by] for row in rows))
    parts = list(colours)

    def draw(width):
        narrow = width <= NARROW
        gap = 0.3 if not which or len(which) == 1 else 14 / (14 + 22 * len(which))
        y = {
            "field": by,
            "type": "nominal",
            "sort": groups,
            "axis": {
                "title": None,
                "domain": False,
                "ticks": False,
                "labelColor": INK,
                "labelLimit": 130 if narrow else 260,
                "minExtent": min(130 if narrow else 260, room_of(groups)),
            },
            "scale": {"paddingInner": gap, "paddingOuter": gap / 2},
        }
        offset = {}
        if which:
            offset = {
                "yOffset": {
                    "field": "which",
                    "type": "nominal",
                    "sort": which,
                    "scale": {"domain": which, "paddingInner": 0.12},
                }
            }
        top = max([row["end"] for row in rows] + [mark["high"] for mark in marks] or [1]) or 1
        room = 1.42 if narrow else 1.2
        x = {**quantity("start", scale={"domain": [0, top * room], "nice": False}), "axis": None}
        layers = []
        for lighter in [False, True] if thin else [False]:
            chosen = [row for row in rows if (row.get("which") in thin) == lighter]
            if not chosen:
                continue
            layers.append(
                {
                    "data": {"values": chosen},
                    "mark": {"type": "bar", "opacity": 0.45 if lighter else 1, "cornerRadiusEnd": 1},
                    "encoding": described(
                        {
                            "y": y,
                            **offset,
                            "x": x,
                            "x2": {"field": "end"},
                            "color": colour("part", parts, list(colours.values())),
                        }
                    ),
                }
            )
        highs = {(mark[by], mark.get("which")): mark["high"] for mark in marks}
        ends = [
            {**row, "end": max(row["end"], highs.get((row[by], row.get("which")), 0))}
            for row in rows
            if row.get("last")
        ]
        layers += band_marks(marks, y, offset, x)
        layers.append(
            {
                "data": {"values": ends},
                "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": 6},
                "encoding": {"y": y, **offset, "x": {**x, "field": "end"}, "text": {"field": total}},
            }
        )
        return spec(width, columns_of(groups, len(which) if which else 1, row_height), layers)

    return draw


def room_of(names):
    """Pixels that names take in the fonts that browsers have; Vega measures in its own, which is narrower."""
    return 7.4 * max((len(str(name)) for name in names), default=0) + 8


def band_marks(marks, y, offset, x):
    if not marks:
        return []
    data = {"values": list(marks)}
    place = {"y": y, **offset}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "color": INK, "strokeWidth": 1.5, "aria": False},
            "encoding": {**place, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "data": data,
            "mark": {
                "type": "point",
                "filled": True,
                "color": INK,
                "size": 34,
                "opacity": 1,
                "stroke": PAPER,
                "strokeWidth": 1,
            },
            "encoding": described({**place, "x": {**x, "field": "base"}}),
        },
    ]


def stacked(group, parts, tips, total, **more):
    """The rows of one bar: parts is name to value."""
    rows, start = [], 0
    for name, value in parts.items():
        rows.append(
            {
                "group": group,
                "part": name,
                "value": value,
                "start": start,
                "end": start + value,
                "tip": tips[name],
                **more,
            }
        )
        start += value
    if rows:
        rows[-1]["last"] = True
        rows[-1]["total"] = total
    return rows


def fitted(points, fits, colours, x, y, height=300):
    """Medians with the middle half of the times, and lines through them; both axes by logarithms.

    x: field, title and an expression of its labels, y: field and an expression.
    """

    def draw(width):
        shade = colour("series", list(colours), list(colours.values()))
        labels = {"labelExpr": x[2]} if x[2] else {"format": ","}
        x_of = quantity(
            x[0],
            x[1],
            log=True,
            grid=False,
            axis={**labels, "tickCount": 4 if width <= NARROW else 8},
            scale={"base": 2, "nice": False},
        )
        y_of = quantity(
            y[0], None, log=True, axis={**by_decades([*points, *fits], y[0], "low", "high"), "labelExpr": y[1]}
        )
        return spec(
            width,
            height,
            [
                {
                    "data": {"values": points},
                    "mark": {"type": "rule", "opacity": 0.45, "strokeWidth": 1.5, "aria": False},
                    "encoding": {"x": x_of, "y": {**y_of, "field": "low"}, "y2": {"field": "high"}, "color": shade},
                },
                {
                    "data": {"values": fits},
                    "mark": {"type": "line", "strokeWidth": 1.8, "aria": False},
                    "encoding": {"x": x_of, "y": y_of, "color": shade, "detail": {"field": "line", "type": "nominal"}},
                },
                {
                    "data": {"values": points},
                    "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
                    "encoding": described({"x": x_of, "y": y_of, "color": shade}),
                },
            ],
        )

    return draw
