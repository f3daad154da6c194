"""PyAMG's own tests of the two solvers, which its wheel brings, run against those of `nodewise.pyamg`.

A call that has no counterpart here, and is refused by name, is answered by PyAMG, so that a test of many parameters
goes on with those that have one; how many setups and solves were ours, and why others were not, is written below.
"""

import importlib
import unittest
import warnings
from collections import Counter

import nodewise as nw
import pytest
from nodewise import pyamg as ours

theirs = pytest.importorskip("pyamg")

THEIRS = {name: getattr(theirs, name) for name in ("ruge_stuben_solver", "smoothed_aggregation_solver")}


def is_refused(error):
    """Whether it says that there is no counterpart, and not that something is wrong."""
    return isinstance(error, nw.OptionError) and " here" in str(error) or \
        isinstance(error, TypeError) and "solves real systems" in str(error)


class Tally:
    def __init__(self):
        self.ours = Counter()
        self.refused = Counter()

    def answered(self, what, mine, other):
        """The result of `mine`, or of `other` where that is refused."""
        try:
            result = mine()
        except Exception as error:
            if not is_refused(error):
                raise
            self.refused[str(error).split(":")[0]] += 1
            return other(), False
        self.ours[what] += 1
        return result, True


class Both:
    """Our solver; PyAMG's, made when it is needed, for what ours refuses."""

    def __init__(self, made, make_other, tally):
        self._made, self._make_other, self._tally, self._other = made, make_other, tally, None

    def _theirs(self):
        if self._other is None:
            self._other = self._make_other()
        return self._other

    def solve(self, *words, **named):
        return self._tally.answered("solve", lambda: self._made.solve(*words, **named),
                                    lambda: self._theirs().solve(*words, **named))[0]

    def aspreconditioner(self, *words, **named):
        return self._tally.answered("aspreconditioner", lambda: self._made.aspreconditioner(*words, **named),
                                    lambda: self._theirs().aspreconditioner(*words, **named))[0]

    def __getattr__(self, name):
        return getattr(self._made, name)


def stand_in(name, tally):
    def make(*words, **named):
        def other():
            return THEIRS[name](*words, **named)

        made, is_ours = tally.answered("setup", lambda: getattr(ours, name)(*words, **named), other)
        return Both(made, other, tally) if is_ours else made

    return make


# The tests of PyAMG 5.4.1 in which one of the solvers is set up, and how many of the setups are ours. What is left out
# asks for nothing that has a counterpart, or reads and changes the smoothers inside of PyAMG's solver.
TESTS = {
    "classical.tests.test_classical": {"TestSolverPerformance": {"test_matrix_formats": 4, "test_poisson": 9}},
    "aggregation.tests.test_aggregation": {
        "TestParameters": {"test_aggregation_method": 3, "test_coarse_solvers": 6, "test_diagonal_dominance": 3,
                           "test_prolongation_smoother": 3, "test_smoothers": 6, "test_strength_of_connection": 3},
        "TestComplexSolverPerformance": {"test_precision": 2},
        "TestSolverPerformance": {"test_DAD": 1, "test_basic": 3, "test_coarse_solver_opts": 1,
                                  "test_improve_candidates": 2, "test_matrix_formats": 4, "test_symmetry": 8}},
    "tests.test_multilevel": {"TestMultilevel": {"test_accel": 1, "test_aspreconditioner": 1}},
    "tests.test_index_types": {
        "TestGallery": {"test_coo_assembly": 1, "test_elasticity_p1": 1},
        "TestSmoothedAggregation": {"test_aggregation_method": 2, "test_prolongation_smoother": 2,
                                    "test_strength_of_connection": 2},
        "TestSolvers": {"test_ruge_stuben": 6}},
    "krylov.tests.test_simple_iterations": {"TestSimpleIterations": {"test_minimal_residual": 1,
                                                                     "test_steepest_descent": 1}},
}

# What they ask for beside, and is refused: docs/python.md has the same list.
REFUSED = {
    "accel": ["cgs", "<function"], "aggregate": ["lloyd", "balanced lloyd", "naive"], "CF": ["PMISc", "CLJPc", "CR"],
    "coarse_solver": ["cg", "jacobi", "gauss_seidel", "block_gauss_seidel", "gauss_seidel_nr"], "cycle": ["AMLI"],
    "smooth": ["energy", "richardson"], "smoother": ["schwarz"],
    "strength": ["algebraic_distance", "affinity", "classical", "evolution"],
    "parameter": ["rtol"], "diagonal_dominance": ["of PyAMG"], "improve_candidates": ["of PyAMG on coarse levels"],
    "the": ["smoothers before and after the coarse correction differ"],
}


def is_listed(reason):
    what, _, which = reason.partition(" ")
    return any(which.strip("'").startswith(known) for known in REFUSED.get(what, ()))


def run_one(module, case, name, monkeypatch):
    tally = Tally()
    loaded = importlib.import_module(f"pyamg.{module}")
    for solver in THEIRS:
        for place in (loaded, theirs):
            if hasattr(place, solver):
                monkeypatch.setattr(place, solver, stand_in(solver, tally))
    result = unittest.TestResult()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unittest.TestSuite([getattr(loaded, case)(name)]).run(result)
    return tally, result.failures + result.errors


@pytest.mark.skipif(theirs.__version__ != "5.4.1", reason="the tests of another PyAMG may be others")
@pytest.mark.parametrize("module, case, name, setups", [(module, case, name, setups) for module in TESTS
                                                        for case, names in TESTS[module].items()
                                                        for name, setups in names.items()])
def test_passes_here_too(module, case, name, setups, monkeypatch):
    tally, failures = run_one(module, case, name, monkeypatch)
    assert not failures, failures[0][1]
    assert tally.ours["setup"] == setups, tally.ours
    assert all(is_listed(reason) for reason in tally.refused), tally.refused


def test_that_it_can_fail(monkeypatch):
    """A solver that does nothing is found out."""
    monkeypatch.setattr(ours.MultilevelSolver, "solve", lambda self, b, x0=None, residuals=None, **_: residuals.extend(
        [1.0, 1.0]))
    _, failures = run_one("classical.tests.test_classical", "TestSolverPerformance", "test_poisson", monkeypatch)
    assert failures
