"""Who solves the coarsest system, and how large it may be."""

import json

import pytest


@pytest.mark.parametrize("ranks", [1, 3])
def test_factors_take_thousands_of_rows(nodewise, tmp_path, ranks):
    result = nodewise("solve", "--problem", "laplace27", "--n", 24, "--method", "classical", "--coarse-solve", "factors",
                      "--max-coarse-rows", 3000, "--json", "r.json", ranks=ranks)
    if "MUMPS, which this build is without" in result.err:
        pytest.skip("NOT TESTED: there is no MUMPS")
    assert result.code == 0, result.err
    last = json.loads((tmp_path / "r.json").read_text())["hierarchy"]["levels"][-1]
    assert last["rows"] > 600 and last["coarse_solver"] == "direct by factors"


def test_an_inverse_does_not(nodewise):
    result = nodewise("solve", "--problem", "laplace27", "--n", 8, "--max-coarse-rows", 2001, ranks=2)
    assert result.code == 2
    assert result.messages == ["nodewise: multigrid setup: --max-coarse-rows is at most 2000 for an inverse; take "
                               "--coarse-solve factors, or fewer"]
