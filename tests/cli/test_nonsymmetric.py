"""Local approximate ideal restriction from the command line."""

import json

import pytest

FLOW = ["--problem", "convection2d", "--n", "40", "--flow", "rotating", "--diffusion", "1e-5"]
AIR = ["--method", "air", "--coarsening", "pmis", "--random-rhs"]


def solved(nodewise, folder, options, ranks):
    result = nodewise("solve", *FLOW, *AIR, *options, "--json", "r.json", ranks=ranks)
    assert result.code == 0, result.err
    return json.loads((folder / "r.json").read_text())


def test_any_number_of_ranks(nodewise, tmp_path):
    one = solved(nodewise, tmp_path, [], 1)
    three = solved(nodewise, tmp_path, [], 3)
    assert one["solve"]["iterations"] == three["solve"]["iterations"] < 15
    rows = [[level["rows"] for level in r["hierarchy"]["levels"]] for r in (one, three)]
    assert rows[0] == rows[1] and len(rows[0]) > 3


@pytest.mark.parametrize(
    "options, words",
    [
        (["--solver", "cg"], "needs a symmetric preconditioner, and method air makes"),
        (["--smoother", "jacobi"], "--smoother is not for --method air"),
        (["--method", "classical", "--restriction-distance", "1"], "is for --method air"),
    ],
)
def test_what_does_not_go_together(nodewise, options, words):
    method = [] if "--method" in options else AIR[:2]
    result = nodewise("solve", *FLOW, *method, *options)
    assert result.code == 2, result.err
    assert any(words in message for message in result.messages), result.err


def test_virtual_ranks_have_restrictions_of_their_own(nodewise, tmp_path):
    machine = ["--virtual-ranks", "4", "--ranks-per-node", "2", "--routes", "direct"]
    result = nodewise("inspect", *FLOW, *AIR[:2], *machine, "--json", tmp_path / "r.json")
    assert result.code == 0, result.err
    assert "Restriction to the next level" in result.out
    counted = json.loads((tmp_path / "r.json").read_text())["virtual_ranks"]
    assert counted["coarse_levels_are_exact"]
    first = counted["levels"][0]
    assert first["restriction"]["direct"]["on_node"]["messages"] > 0
    assert first["restriction"] != first["interpolation"]
    assert counted["levels"][-1]["restriction"] is None
