"""Restrictions that are no transposed prolongation from the command line."""

import json

import pytest

FLOW = ["--problem", "convection2d", "--n", "40", "--flow", "rotating", "--diffusion", "1e-5"]
SMOOTHED = ["--method", "aggregation", "--restriction", "smoothed"]
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
        (["--solver", "cg"], "--method air makes multigrid nonsymmetric, which cg cannot use"),
        (["--smoother", "jacobi"], "--smoother is not for --method air"),
        (["--method", "classical", "--restriction-distance", "1"], "needs --method air"),
        (["--restriction", "smoothed"], "--restriction needs --method aggregation"),
        ([*SMOOTHED, "--solver", "cg"], "--restriction smoothed makes multigrid nonsymmetric, which cg"),
        (
            [*SMOOTHED[:2], "--left-near-null-space", "L.mtx"],
            "--left-near-null-space is for --restriction smoothed",
        ),
    ],
)
def test_what_does_not_go_together(nodewise, options, words):
    method = [] if "--method" in options else AIR[:2]
    result = nodewise("solve", *FLOW, *method, *options)
    assert result.code == 2, result.err
    assert any(words in message for message in result.messages), result.err


def test_virtual_ranks_have_restrictions_of_their_own(nodewise, tmp_path):
    machine = ["--virtual-ranks", "4", "--ranks-per-node", "2", "--routes", "direct"]
    result = nodewise("inspect", *FLOW, *AIR[:2], *machine, "--details", "--json", tmp_path / "r.json")
    assert result.code == 0, result.err
    assert "Restriction to the next level" in result.out
    counted = json.loads((tmp_path / "r.json").read_text())["virtual_ranks"]
    assert counted["coarse_levels_are_exact"]
    first = counted["levels"][0]
    assert first["restriction"]["direct"]["on_node"]["messages"] > 0
    assert first["restriction"] != first["interpolation"]
    assert counted["levels"][-1]["restriction"] is None


def test_an_aggregation_smooths_its_restriction(nodewise, tmp_path):
    """With vectors for it from a file: ones are what it takes without one."""
    n = 40 * 40
    ones = ["%%MatrixMarket matrix array real general", f"{n} 1", *(["1"] * n)]
    (tmp_path / "ones.mtx").write_text("\n".join(ones) + "\n")
    other = [*ones[:2], *(str(1 + i % 7) for i in range(n))]
    (tmp_path / "other.mtx").write_text("\n".join(other) + "\n")
    residuals = {}
    for file in ["", "ones.mtx", "other.mtx"]:
        left = ["--left-near-null-space", file] if file else []
        words = [*FLOW[:-1], "1", *SMOOTHED, *left, "--random-rhs", "--json", "r.json"]
        result = nodewise("solve", *words)
        assert result.code == 0, result.err
        residuals[file] = json.loads((tmp_path / "r.json").read_text())["solve"]["history"]
    assert residuals[""] == residuals["ones.mtx"] != residuals["other.mtx"]


def test_a_prediction_counts_smoothed_restrictions(nodewise, tmp_path):
    machine = ["--virtual-ranks", "4", "--ranks-per-node", "2", "--machine", "eos"]
    sent = {}
    for restriction in ["transposed", "smoothed"]:
        words = [*FLOW, *SMOOTHED[:3], restriction, *machine, "--routes", "direct"]
        result = nodewise("predict", *words, "--json", "r.json")
        assert result.code == 0, result.err
        report = json.loads((tmp_path / "r.json").read_text())
        assert report["setup"]["left_out"] == []
        sent[restriction] = report["levels"][0]["interpolation"]["direct"]["bytes"]
    assert sent["smoothed"] > 2 * sent["transposed"]
