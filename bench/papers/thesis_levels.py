"""Products on the levels of hierarchies for the commands of the dissertation."""

from study import select

STUDY = "bench/nodewise_bench_level_study"
ROUTES = ("direct", "two_step", "three_step")
NAMES = {"direct": "standard", "two_step": "two-step", "three_step": "three-step"}

# Classical coarsening of each displacement by itself.
BEAM = ("--option", "unknowns=3")
PREDICTED_TIMES = (
    "Times are the node-aware max-rate model's with queue search (two thirds of the worst, as the text observes) and contention "
    "on the torus, of the busiest rank of each stage, for the machine file `blue-waters` (table 3.1): exchanges alone, no "
    "arithmetic. The paper measured whole products.")
BEAM_STANDS = (
    "The elastic beam of the gallery on its irregular mesh of linear tetrahedra, 8 : 1 : 1, stands for the paper's; rows are dealt "
    "out evenly in the order of the mesh, layer by layer; classical coarsening with the library's defaults, of each displacement by itself.")


def one(rows, **facts):
    found = select(rows, **facts)
    assert len(found) == 1, (facts, len(found))
    return found[0]


def levels_with_messages(rows, **facts):
    """Levels whose direct product sends between nodes."""
    return [row["level"] for row in select(rows, route="direct", **facts) if row["most_messages_off"]]


def microseconds(row, *terms):
    return 1e6 * sum(row[f"{term}_s"] for term in terms or ("total",))


def listed(values, form="{}"):
    """The numbers of all levels, in words."""
    return ", ".join(form.format(value) for value in values)
