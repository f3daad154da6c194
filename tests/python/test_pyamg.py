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
                                       {"strength": ("classical", {"thetta": 0.5})}, {"keep": True},
                                       {"coarse_solver": "gauss_seidel"}])
def test_what_has_no_counterpart_is_refused_by_name(arguments):
    with pytest.raises(nw.OptionError, match="here"):
        ours.ruge_stuben_solver(poisson(5), **arguments)


def test_near_null_space_is_b():
    A = sp.csr_matrix(poisson(25))
    B = np.stack([np.ones(625), np.linspace(-1, 1, 625)], axis=1)
    mine = ours.smoothed_aggregation_solver(A, B)
    other = theirs.smoothed_aggregation_solver(A, B)
    assert [level.rows for level in mine.levels] == [level.A.shape[0] for level in other.levels]


@pytest.mark.parametrize("cycle", ["V", "W", "F"])
def test_cycles_are_chosen_by_solve(cycle):
    A = systems()["poisson"]
    b = np.ones(A.shape[0])
    mine, other = ours.ruge_stuben_solver(A), theirs.ruge_stuben_solver(A)
    assert len(mine.levels) > 3 and mine.cycle_complexity(cycle) == pytest.approx(other.cycle_complexity(cycle))
    mine_residuals, other_residuals = [], []
    mine.solve(b, tol=1e-8, cycle=cycle, residuals=mine_residuals)
    other.solve(b, tol=1e-8, cycle=cycle, residuals=other_residuals)
    np.testing.assert_allclose(mine_residuals, other_residuals, rtol=1e-5)
    np.testing.assert_allclose(mine.aspreconditioner(cycle) @ b, other.aspreconditioner(cycle) @ b, rtol=1e-9)
    mine.update(2 * A)
    np.testing.assert_allclose(2 * A @ mine.solve(b, tol=1e-9, cycle=cycle), b, atol=1e-6)


def test_nonsymmetric_restriction():
    A = systems()["poisson"]
    n = A.shape[0]
    A = sp.csr_matrix(A + sp.diags_array([-0.4 * np.ones(n - 1), 0.4 * np.ones(n - 1)], offsets=[-1, 1]))
    ones, b = np.ones((n, 1)), np.arange(n) / n
    arguments = {"symmetry": "nonsymmetric", "improve_candidates": None}
    mine = ours.smoothed_aggregation_solver(A, ones, ones, **arguments)
    other = theirs.smoothed_aggregation_solver(A, ones, ones, **arguments)
    assert [level.rows for level in mine.levels] == [level.A.shape[0] for level in other.levels]
    R, theirs_R = mine.levels[0].R.toarray(), other.levels[0].R.toarray()
    assert np.abs(R - mine.levels[0].P.toarray().T).max() > 0.01
    np.testing.assert_allclose(np.abs(R).sum(axis=1), np.abs(theirs_R).sum(axis=1), rtol=0.1)
    np.testing.assert_allclose(mine.solve(b, tol=1e-10), other.solve(b, tol=1e-10), atol=1e-6)


@pytest.mark.parametrize("arguments", [{"symmetry": "complex"}, {"diagonal_dominance": True},
                                       {"improve_candidates": ["gauss_seidel"]},
                                       {"improve_candidates": [("gauss_seidel", {"sweep": "forward"}), None]}])
def test_what_has_no_counterpart_in_aggregation_is_refused_by_name(arguments):
    with pytest.raises(nw.OptionError, match="here"):
        ours.smoothed_aggregation_solver(poisson(5), **arguments)


@pytest.mark.parametrize("arguments", [{"cycle": "AMLI"}, {"accel": "cgs"}, {"accel": print}, {"cycles_per_level": 2},
                                       {"cycle": "F", "accel": "cg"}])
def test_what_has_no_counterpart_in_a_solve_is_refused_by_name(arguments):
    with pytest.raises(nw.OptionError, match="here"):
        ours.ruge_stuben_solver(poisson(5)).solve(np.ones(25), **arguments)
