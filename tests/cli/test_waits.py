"""How often a setup waits for the network, of real ranks and of virtual ones."""

import json

import pytest

NODES = ["--ranks-per-node", "2"]
# Without what predictions leave out, and scales of rows that travel beside each other.
SETUP = ["--redistribution", "none", "--precision", "same", "--smoother", "jacobi"]


def waits_by_level(operations):
    """The last level is not among them: a prediction takes its gathering for an allgather."""
    waits = {}
    for entry in operations:
        if entry["level"] is not None:
            waits[entry["level"]] = waits.get(entry["level"], 0) + entry["waits"]
    return [waits[level] for level in sorted(waits)][:-1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--problem", "laplace27", "--n", "14", "--method", "classical"], [16, 18, 18]),
        (["--problem", "laplace9", "--n", "40", "--method", "aggregation",
          "--aggregates", "independent_set"], [46, 40]),
    ],
)
def test_real_ranks_wait_as_often_as_virtual_ones(nodewise, tmp_path, words, expected):
    options = [*words, *SETUP, *NODES, "--max-coarse-rows", "20"]
    real = nodewise("solve", *options, "--route", "direct", "--json", "r.json", ranks=4)
    assert real.code == 0, real.err
    found = json.loads((tmp_path / "r.json").read_text())
    virtual = nodewise("predict", *options, "--virtual-ranks", "4", "--routes", "direct",
                       "--machine", "generic-cluster", "--json", "p.json")
    assert virtual.code == 0, virtual.err
    predicted = json.loads((tmp_path / "p.json").read_text())
    waits = waits_by_level(found["operations"]["setup"])
    assert [level["setup_waits"] for level in predicted["levels"]][:-1] == waits
    assert waits == expected
