"""PyAMG's solvers under its names: the same levels and residuals up to rounding, where PyAMG is installed."""

import numpy as np
import nodewise as nw
import pytest
import scipy.sparse as sp
from conftest import poisson
from nodewise import pyamg as ours

theirs = pytest.importorskip("pyamg")


def systems():
    rng = np.random.default_rng(5)
    A = poisson(30)
    rotated = nw.gallery.rotated(20).to_scipy() if "rotated" in dir(nw.gallery) else poisson(21)
    return {"poisson": sp.csr_matrix(A), "rotated": sp.csr_matrix(rotated),
            "random": sp.csr_matrix(A + sp.diags_array(rng.uniform(0, 0.1, A.shape[0])))}


@pytest.mark.parametrize("name", systems())
@pytest.mark.parametrize("make", ["ruge_stuben_solver", "smoothed_aggregation_solver"])
@pytest.mark.parametrize("accel", [None, "cg"])
def test_the_same_as_pyamg(name, make, accel):
    A = systems()[name]
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    mine, other = getattr(ours, make)(A), getattr(theirs, make)(A)
    assert [level.rows for level in mine.levels] == [level.A.shape[0] for level in other.levels]
    assert [level.nonzeros for level in mine.levels] == [level.A.nnz for level in other.levels]
    assert mine.operator_complexity() == pytest.approx(other.operator_complexity())
    assert mine.cycle_complexity() == pytest.approx(other.cycle_complexity())
    mine_residuals, other_residuals = [], []
    x = mine.solve(b, tol=1e-8, accel=accel, residuals=mine_residuals)
    y = other.solve(b, tol=1e-8, accel=accel, residuals=other_residuals)
    # PyAMG estimates the spectral radius that aggregates are smoothed by from a random vector.
    is_exact = make == "ruge_stuben_solver"
    assert abs(len(mine_residuals) - len(other_residuals)) <= (0 if is_exact else 1)
    np.testing.assert_allclose(mine_residuals[:5], other_residuals[:5], rtol=1e-6 if is_exact else 0.2)
    np.testing.assert_allclose(x, y, atol=1e-6 * np.abs(y).max())


def test_the_arguments_of_solve():
    A = systems()["poisson"]
    ml = ours.ruge_stuben_solver(A, max_levels=3, max_coarse=50)
    b, seen = np.ones(A.shape[0]), []
    x, info = ml.solve(b, None, 1e-6, 30, "V", "cg", callback=seen.append, return_info=True)
    assert info == 0 and isinstance(info, int) and len(seen) > 2
    x, info = ml.solve(b, tol=1e-12, maxiter=2, return_info=True)
    assert info == 2


@pytest.mark.parametrize("arguments", [{"strength": "evolution"}, {"CF": "CR"}, {"interpolation": "injection"},
                                       {"presmoother": "kaczmarz"}, {"presmoother": ("jacobi", {"omega": 0.5})},
                                       {"strength": ("classical", {"thetta": 0.5})}])
def test_what_has_no_counterpart_is_refused_by_name(arguments):
    with pytest.raises(nw.OptionError, match="here"):
        ours.ruge_stuben_solver(poisson(5), **arguments)


def test_near_null_space_is_b():
    A = sp.csr_matrix(poisson(25))
    B = np.stack([np.ones(625), np.linspace(-1, 1, 625)], axis=1)
    mine = ours.smoothed_aggregation_solver(A, B)
    other = theirs.smoothed_aggregation_solver(A, B)
    assert [level.rows for level in mine.levels] == [level.A.shape[0] for level in other.levels]
