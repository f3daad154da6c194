"""Hierarchies of the dissertation's chapter 7, predicted for many ranks of Blue Waters."""

import math

from study import kept

OPERATIONS = {"product": "A x", "restriction": "R x", "splitting": "splitting", "interpolation": "interpolation",
              "interpolation_rows": "rows for A P", "product_rows": "rows for R (A P)"}
RUGE_STUEBEN = ["--method", "classical", "--strength-threshold", 0.25, "--coarsening", "falgout", "--interpolation", "modified_classical"]
AGGRESSIVE = ["--method", "classical", "--strength-threshold", 0.25, "--coarsening", "hmis", "--interpolation", "extended_i"]
AGGREGATION = ["--method", "aggregation", "--aggregation-threshold", 0.25]
COMMON = ["--preset", "default", "-m", "blue-waters", "--ranks-per-node", "16"]
ASSUMPTIONS = (
    "Messages are counted by the code that plans them, for virtual ranks, 16 a node; their times are the formula's (max-rate, queue "
    "search) for the machine file `blue-waters`. Nothing is measured.",
    "Rotated diffusion: bilinear elements, angle π/4, ε = 0.001, strength 0.25.",
)
FEWER = "The paper has 10 million rows; here are fewer, on as many fewer processes, so that each has as many."


def rotated(n):
    return ["--problem", "rotated_fe", "--n", n, "--angle", math.pi / 4]


def laplace(n):
    return ["--problem", "laplace27", "--n", n]


def predict(study, ranks, *words):
    """The report of a prediction."""
    words = ["predict", *map(str, words), *COMMON, "--virtual-ranks", str(ranks), "--quiet"]
    return kept(words, lambda path: study.text("cli/nodewise", *words, "--json", path))


def seconds(exchange):
    return exchange["formula_s"]["total"]


def gain(level, operation, route="three_step"):
    """How many times as fast an operation's messages are over a route; nothing where there are none."""
    routes = level.get(operation)
    if not routes or seconds(routes["direct"]) == 0:
        return None
    return seconds(routes["direct"]) / seconds(routes[route])


FLOP_S = 1.6e-9  # a product's, as performance/sparser-levels.md takes it for Blue Waters, whose file has none


def work_s(report):
    """Seconds of a cycle's arithmetic: two operations for every entry that a pass over a level's matrix meets."""
    return sum(2 * FLOP_S * level["in_a_cycle"]["passes"] * level["most_nonzeros_of_a_rank"] for level in report["levels"])


def setup_work_s(report):
    """Seconds of the arithmetic of a setup's Galerkin products, as if an operation took as long as in a product with a vector."""
    return sum(FLOP_S * level["galerkin_flops"] for level in report["levels"])


def messages_s(report, phase, aware):
    """Seconds of a phase's messages: all direct, or each level and operation over its cheapest route."""
    times = report[phase]
    return seconds(times["best_by_formula"] if aware else times["one_route"]["direct"])
