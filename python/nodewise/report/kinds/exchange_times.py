"""Times of exchanges as a prediction has them: added up by level, term by term, with the band of the scenarios."""

# The terms of the formulas, those of one nature together: latency, bandwidth, the node's injection,
# queues and shared links.
TERMS = {
    "latency": ("latency", "distance", "multicore"),
    "bandwidth": ("bandwidth", "limited_bandwidth"),
    "injection": ("injection",),
    "queues": ("queue",),
    "contention": ("contention",),
}

SETUP = {
    "splitting": "splitting",
    "spectral_radius": "spectral radius",
    "row_scales": "row scales",
    "interpolation": "interpolation",
    "interpolation_rows": "rows of P",
    "product_rows": "rows of the product",
    "requests": "requests",
    "redistribution": "moves",
}


def first_route(data):
    return data["routes"][0]


def simulated(time):
    return time["simulated_s"]["base"]


def scale_time(time, times):
    """A time `times` over: terms, and the scenarios one by one, whose band is not that of sums of bands."""
    return {
        "terms": {name: times * sum(time["formula_s"][t] for t in of) for name, of in TERMS.items()},
        "scenarios": [times * s for s in time["simulated_s"]["by_scenario"]],
    }


def summed(times):
    """Of several such: terms by name, and base, low and high."""
    terms = {name: sum(t["terms"][name] for t in times) for name in TERMS}
    scenarios = [sum(values) for values in zip(*(t["scenarios"] for t in times))] or [0]
    return {"terms": terms, "base": scenarios[0], "low": min(scenarios), "high": max(scenarios)}


def of_cycle(level, route, _data=None):
    """What a cycle exchanges on a level over a route."""
    often = level["in_a_cycle"]
    parts = [scale_time(level["product"][route], often["products"])]
    parts += [
        scale_time(level[name][route], often["transfers"]) for name in ("restriction", "prolongation") if level[name]
    ]
    if level["gathering"]:
        parts.append(scale_time(level["gathering"]["plain"], often["solves"]))
    return summed(parts)


def of_setup(level, route, data):
    """Likewise the setup."""
    parts = [scale_time(level[name][route], 1) for name in SETUP if level[name]]
    if level["matrix_gathering"]:
        parts.append(scale_time(level["matrix_gathering"]["plain"], 1))
    parts.append(scale_time(data["allreduce"]["plain"], level["setup_reductions"]))
    return summed(parts)
