"""The levels as pictures."""

from .. import png, text
from ..bins import square
from ..model import Picture, Pictures, Section, Table, Text
from . import common

BLUE = (38, 118, 190)  # on white and on black


def picture(data, level, of_level):
    info = levels_of(data)[level] if level < len(levels_of(data)) else None
    entries = square(of_level["entries"], of_level["bins"])
    rows, bins = of_level["rows"], of_level["bins"]
    nonzeros = sum(map(sum, entries))
    lines = [text.counted(rows, "row"), text.counted(nonzeros, "nonzero"), f"{text.significant(nonzeros / rows)} a row"]
    if info is not None:
        lines.append(
            text.counted(info["active_ranks"], "rank") + (f", {info['copies']} copies" if info["copies"] > 1 else "")
        )
    each = "a row" if rows == bins else f"about {text.significant(rows / bins)} rows"
    return Picture(
        png.data_uri(png.encode(png.cover(entries), BLUE)),
        bins,
        f"Level {level}" if info else "The matrix",
        lines,
        f"Where the nonzeros of level {level} lie; a pixel is {each} wide",
    )


def levels_of(data):
    return data["hierarchy"]["levels"] if data["hierarchy"] else []


def section(data):
    pictures = (data.get("pictures") or {}).get("levels", [])
    levels = levels_of(data)
    if not pictures and not levels:
        return None
    parts = []
    if pictures:
        parts.append(
            Pictures(
                [picture(data, k, p) for k, p in enumerate(pictures)],
                note="A pixel is a block of entries, stronger where more of them are not zero, on every level by its own scale.",
            )
        )
    else:
        parts.append(Text("This report has no pictures of the levels; nodewise solve --json writes them."))
    if levels:
        parts.append(level_table(levels))
    return Section("Hierarchy" if levels else "Matrix", parts, lead=lead(data))


def lead(data):
    hierarchy = data["hierarchy"]
    if not hierarchy:
        return ""
    return (
        f"{text.counted(len(hierarchy['levels']), 'level')}; all together have {text.significant(hierarchy['operator_complexity'])} "
        f"times the nonzeros of the matrix and {text.significant(hierarchy['grid_complexity'])} times its rows."
    )


def level_table(levels):
    rows = [
        [
            str(k),
            text.count(v["rows"]),
            text.count(v["nonzeros"]),
            text.significant(v["nonzeros"] / max(1, v["rows"])),
            text.count(v["interpolation_nonzeros"]) if v["interpolation_nonzeros"] else "–",
            text.count(v["active_ranks"]),
            v["precision"],
            text.words(v["route"]),
            text.words(v["transport"]),
            common.shown(v["coarse_solver"]),
        ]
        for k, v in enumerate(levels)
    ]
    return Table(
        [
            "Level",
            "Rows",
            "Nonzeros",
            "A row",
            "Of the interpolation",
            "Ranks",
            "Precision",
            "Route",
            "Transport",
            "Solved by",
        ],
        rows,
        title="Every level",
        numeric=(0, 1, 2, 3, 4, 5),
    )
