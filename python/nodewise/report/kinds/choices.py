"""What was chosen, and why."""

from .. import text
from ..model import Section, Table
from . import common


def section(data):
    rows = [*preset(data), *method(data), *levels(data), *precision(data), *collectives(data), *placement(data)]
    return Section(
        "What was chosen, and why",
        [Table(["Choice", "Taken", "Why"], rows, title="", open=True, prose=True), *predictions(data)],
    )


def preset(data):
    p = data["preset"]
    set_options = "\n".join(f"--{name.replace('_', '-')} {common.shown(value)}" for name, value in p["set"].items())
    why = p["reason"] or "named with the command, or the only one"
    rows = [["Preset", p["name"], why[:1].upper() + why[1:]]]
    if set_options:
        rows.append(["Set by it", set_options, ""])
    if p["kept"]:
        rows.append(["Given otherwise", ", ".join(f"--{name.replace('_', '-')}" for name in p["kept"]), ""])
    return rows


def method(data):
    solve = data["solve"]
    why = (
        ("The matrix is symmetric" if data["matrix"]["symmetric"] else "The matrix is not symmetric")
        if solve["method_was_chosen_by_symmetry"]
        else "Named with the command"
    )
    return [["Krylov method", text.words(solve["method"]), why]]


KINDS = [
    ("Route", "route", "route_choice"),
    ("Route of the setup", "setup_route", "setup_route_choice"),
    ("Transport", "transport", "transport_choice"),
    ("Overlap", "overlap", "overlap_choice"),
]


def levels(data):
    """Those of levels, levels with the same choice and reason together."""
    if not data["hierarchy"]:
        return []
    all_levels = data["hierarchy"]["levels"]
    rows = []
    for name, field, reason in KINDS:

        def of(info, field=field, reason=reason):
            choice = info.get(reason)
            return (info[field], choice["reason"]) if choice else None

        for which, (taken, why) in common.alike(all_levels, of):
            rows.append([f"{name}, {which}", text.words(taken), why])
    for which, (taken, why) in common.alike(all_levels, ranks_of):
        rows.append([f"Ranks, {which}", taken, why])
    for which, (taken, why) in common.alike(all_levels, losses_of):
        rows.append([f"Entries, {which}", taken, why])
    return rows


def ranks_of(info):
    choice = info["redistribution_choice"]
    if not choice:
        return None
    copies = ", copied to each node" if choice["redundant"] else ""
    return f"{text.count(choice['ranks'])} of {text.count(choice['ranks_before'])}{copies}", choice["reason"]


def losses_of(info):
    choice = info["sparsity_choice"]
    if not choice:
        return None
    return (f"dropped below {text.significant(choice['tolerance'])}" if choice["drop"] else "all kept"), choice[
        "reason"
    ]


def precision(data):
    chosen = data["hierarchy"] and data["hierarchy"]["cycle_precision"]
    if not chosen or not chosen["reason"]:
        return []
    return [["Precision of the cycle", chosen["name"], chosen["reason"]]]


def collectives(data):
    if data["machine"]["ranks"] == 1:
        return []
    names = {"dot_products": "Dot products", "sparse_exchange": "Sparse exchange"}
    return [
        [names[key], text.words(c["algorithm"]), c["reason"]]
        for key, c in data["collective_communication"].items()
        if c["chosen"]
    ]


def placement(data):
    rows = []
    if data["partition_choice"]:
        rows.append(["Partition", text.words(data["partition_choice"]["chosen"]), data["partition_choice"]["reason"]])
    if data["placement"]:
        p = data["placement"]
        rows.append(
            [
                "Placement of parts",
                f"{text.count(p['moved_parts'])} of {text.count(p['parts'])} moved",
                f"Values between nodes {text.count(p['values_between_nodes_before'])} before, {text.count(p['values_between_nodes'])} after",
            ]
        )
    return rows


def predictions(data):
    """What each route would have cost."""
    rows = []
    for level, info in enumerate(data["hierarchy"]["levels"] if data["hierarchy"] else []):
        for purpose, field in (("solve", "route_choice"), ("setup", "setup_route_choice")):
            for p in (info[field] or {}).get("predictions", []):
                rows.append(
                    [
                        str(level),
                        purpose,
                        text.words(p["route"]),
                        text.seconds(p["seconds"]),
                        text.count(p["most_messages_off_node"]),
                    ]
                )
    if not rows:
        return []
    return [
        Table(
            ["Level", "Exchanges of", "Route", "Predicted", "Most messages of a rank between nodes"],
            rows,
            title="What each route would cost",
            numeric=(0, 3, 4),
        )
    ]
