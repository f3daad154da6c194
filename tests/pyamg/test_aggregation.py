"""The steps of smoothed aggregation against PyAMG's, on small matrices of many kinds."""

import math
from unittest import mock

import numpy as np
import pyamg
import scipy.io
import scipy.sparse as sp
from pyamg.aggregation import fit_candidates, jacobi_prolongation_smoother, standard_aggregation
from pyamg.relaxation.relaxation import gauss_seidel, jacobi
from pyamg.strength import symmetric_strength_of_connection
from steps import Comparison, matrices, prepared, read, run

# Entries just at the bound are strong there and weak here: no threshold that stencils hit.
THRESHOLDS = [0.0, 0.03, 0.13, 0.31]
LEAST_DIAGONAL = 0.1  # of a row, that filtering may leave
RADIUS_PATH = "pyamg.aggregation.smooth.approximate_spectral_radius"


class Problem:
    """A matrix, the rows of a point, and vectors that the coarse grid is to represent; where the
    restriction is another, vectors for that, too."""

    def __init__(self, A, unknowns, candidates, left=None):
        self.A, self.unknowns, self.candidates, self.left = prepared(A), unknowns, candidates, left

    def transposed(self):
        """What makes a restriction as this makes a prolongation."""
        return Problem(self.A.T, self.unknowns, self.left)


def problems():
    """All symmetric matrices with constants, some with more vectors, and elasticity."""
    rng = np.random.default_rng(11)
    for name, A in matrices().items():
        A = prepared(A)
        if name == "elasticity" or abs(A - A.T).max() > 1e-14:
            continue
        ones = np.ones((A.shape[0], 1))
        yield name, Problem(A, 1, ones)
        if name in ["5 points", "27 points", "rotated, elements"]:
            yield f"{name}, two vectors", Problem(A, 1, np.hstack([ones, rng.random(ones.shape)]))
    A, modes = pyamg.gallery.linear_elasticity((7, 7))
    yield "elasticity, rigid body modes", Problem(A, 2, modes)
    yield "elasticity, constants", Problem(A, 2, np.tile(np.eye(2), (A.shape[0] // 2, 1)))
    yield "elasticity, point by point", Problem(A, 1, np.ones((A.shape[0], 1)))


def nonsymmetric_problems():
    """With vectors for the restriction: constants, others, and two at each point of two unknowns."""
    rng = np.random.default_rng(12)
    for name, A in matrices().items():
        A = prepared(A)
        if abs(A - A.T).max() < 1e-14:
            continue
        ones = np.ones((A.shape[0], 1))
        yield name, Problem(A, 1, ones, ones)
        yield f"{name}, other vectors", Problem(A, 1, ones, 0.5 + rng.random(ones.shape))
        two = [np.hstack([ones, rng.random(ones.shape)]) for _ in range(2)]
        yield f"{name}, two vectors", Problem(A, 1, *two)
        both = sp.kron(A, np.array([[1.0, 0.2], [-0.1, 0.8]]))
        constants = np.tile(np.eye(2), (A.shape[0], 1))
        yield f"{name}, two unknowns", Problem(both, 2, constants, constants)


def connections(problem, threshold):
    """PyAMG's matrix of strengths, without the diagonal, and that with it."""
    k = problem.unknowns
    A = problem.A if k == 1 else sp.bsr_array(problem.A, blocksize=(k, k))
    if k > 1 and threshold == 0:
        threshold = 1e-300  # of blocks PyAMG then keeps what is zero, too
    C = prepared(symmetric_strength_of_connection(A, theta=threshold))
    D = sp.csr_array(C - sp.diags_array(C.diagonal()))
    D.eliminate_zeros()
    D.data[:] = 1
    return C, D


def sizes(problem):
    """The matrix of the points: moduli, or norms of the blocks."""
    k = problem.unknowns
    blocks = problem.A.toarray().reshape(problem.A.shape[0] // k, k, -1, k)
    return np.sqrt((blocks**2).sum(axis=(1, 3)))


def improved(problem, case):
    """The candidates after relaxation on A x = 0, one by one."""
    B = problem.candidates.astype(float)
    for x in B.T if case.candidate_sweeps else []:
        x = np.ascontiguousarray(x)
        zero = np.zeros_like(x)
        if case.by_gauss_seidel:
            gauss_seidel(problem.A, x, zero, iterations=case.candidate_sweeps, sweep="symmetric")
        else:
            damping = 4 / 3 / case.radius
            jacobi(problem.A, x, zero, iterations=case.candidate_sweeps, omega=damping)
        B = np.column_stack([B[:, 1:], x])
    return B


def filtered(problem, strong):
    """The matrix without weak entries, which are added to the same unknown of the row's point."""
    k, A = problem.unknowns, problem.A.toarray()
    keep = np.kron(strong.toarray() + np.eye(strong.shape[0]), np.ones((k, k))) > 0
    B = np.where(keep, A, 0.0)
    for i in range(A.shape[0]):
        point = i // k * k
        for j in np.flatnonzero(~keep[i]):
            B[i, point + j % k] += A[i, j]
        if not B[i, i] * math.copysign(1, A[i, i]) >= LEAST_DIAGONAL * abs(A[i, i]):
            B[i] = A[i]
    return prepared(B)


class StandardSteps:
    def __init__(self, folder):
        self.strength = read(folder / "strength.mtx")
        self.roots = np.ravel(scipy.io.mmread(folder / "roots.mtx")).astype(int)


class Steps:
    def __init__(self, folder):
        self.strength = read(folder / "strength.mtx")
        self.improved = scipy.io.mmread(folder / "improved.mtx").toarray()
        self.tentative = read(folder / "tentative.mtx")
        self.candidates = read(folder / "candidates.mtx")
        self.P = read(folder / "interpolation.mtx")
        self.coarse = read(folder / "coarse.mtx")
        self.R = read(folder / "restriction.mtx")
        self.left = read(folder / "left_candidates.mtx")


class Case:
    """A problem and how it is coarsened; with roots: what is made of these."""

    def __init__(self, name, problem, threshold, roots=None, more=()):
        self.what = f"{name}, {threshold}, {' '.join(more)}"
        self.problem, self.threshold, self.roots = problem, threshold, roots
        self.filtered = "filter_prolongation=true" in more
        self.sweeps = 2 if "prolongation_sweeps=2" in more else 1
        self.candidate_sweeps = 3 if "candidate_sweeps=3" in more else 0
        self.by_gauss_seidel = "candidate_relaxation=gauss_seidel" in more
        self.radius = 1.7 if self.filtered else 2.1
        self.words = [
            "method=aggregation",
            f"unknowns={problem.unknowns}",
            f"aggregation_threshold={threshold}",
            *more,
        ]
        if problem.left is not None:
            self.words.append("restriction=smoothed")

    def write(self, folder):
        scipy.io.mmwrite(folder / "A.mtx", self.problem.A, precision=17, symmetry="general")
        words = [folder / "A.mtx", folder, *self.words]
        if self.roots is not None:
            np.savetxt(folder / "roots.txt", self.roots, fmt="%d")
            scipy.io.mmwrite(folder / "B.mtx", self.problem.candidates, precision=17)
            words += [
                f"roots={folder / 'roots.txt'}",
                f"candidates={folder / 'B.mtx'}",
                f"radius={self.radius}",
            ]
            if self.problem.left is not None:
                scipy.io.mmwrite(folder / "L.mtx", self.problem.left, precision=17)
                words.append(f"left={folder / 'L.mtx'}")
        return words


def roots_of(aggregates, roots):
    """The root of each point's aggregate; -1: none."""
    of_point = np.full(aggregates.shape[0], -1)
    rows, columns = aggregates.nonzero()
    of_point[rows] = np.asarray(roots)[columns]
    return of_point


def standard_roots(C):
    """Of PyAMG's standard aggregates."""
    return roots_of(*standard_aggregation(C))


def hashed_roots(n, size):
    """Aggregates of points from anywhere, about `size` each; every seventh point is in none."""
    n_roots = max(1, n // size)
    roots = (np.arange(n_roots) * size + size // 2) % n
    of_point = roots[(np.arange(n) * 5 + 1) % n_roots]
    of_point[::7] = -1
    of_point[roots] = roots
    return of_point


class Aggregation(Comparison):
    def test_standard_aggregates(self):
        """The same roots and the same first and last pass. In the second PyAMG takes the first
        neighbour that is in an aggregate, and Nodewise the aggregate that is coupled most."""
        cases = [Case(name, p, t) for name, p in problems() for t in THRESHOLDS]
        joined = 0
        for case, steps in run(cases, StandardSteps):
            C, strong = connections(case.problem, case.threshold)
            self.assertEqual((steps.strength != strong).nnz, 0, case.what)
            theirs = standard_roots(C)
            self.assertEqual(set(steps.roots), set(theirs), case.what)
            first = self.first_pass(strong)
            late = [i for i in range(len(theirs)) if theirs[i] >= 0 and first[i] < 0]
            by_size = sizes(case.problem)
            for i, root in enumerate(steps.roots):
                beside = [j for j in strong.indices[strong.indptr[i] : strong.indptr[i + 1]]
                          if first[j] >= 0]
                if i not in late or not beside:
                    self.assertEqual(root, theirs[i], case.what)
                    continue
                couplings = {r: 0.0 for r in first[beside]}
                for j in beside:
                    couplings[first[j]] += by_size[i, j]
                # Sums that are equal but for rounding count as equal.
                self.assertGreater(couplings[root], 0.98 * max(couplings.values()), case.what)
                joined += 1
        self.assertGreater(joined, 100)

    @staticmethod
    def first_pass(strong):
        """Whole neighbourhoods of which nothing is taken, in the order of the points."""
        root = np.full(strong.shape[0], -1)
        for i in range(strong.shape[0]):
            beside = strong.indices[strong.indptr[i] : strong.indptr[i + 1]]
            if root[i] < 0 and len(beside) and (root[beside] < 0).all():
                root[beside] = root[i] = i
        return root

    def smoothed(self, case, problem, joins, B):
        """PyAMG's tentative prolongator, coarse vectors and smoothed prolongator."""
        T, R = fit_candidates(prepared(joins), B)
        S = problem.A
        if case.filtered:
            S = filtered(problem, connections(problem, case.threshold)[1])
        with mock.patch(RADIUS_PATH, lambda *_, **__: case.radius):
            P = jacobi_prolongation_smoother(
                S, sp.csr_array(T), None, R, omega=4 / 3, degree=case.sweeps, weighting="diagonal"
            )
        return sp.csr_array(T), sp.csr_array(R), sp.csr_array(P)

    def expect_steps(self, case, steps):
        """The tentative prolongator and the coarse vectors (R with a positive diagonal in both),
        the smoothed prolongator, with the spectral radius given, and the Galerkin product; with
        left vectors the restriction, by the same steps with the transposed matrix."""
        problem = case.problem
        k, n_points = problem.unknowns, problem.A.shape[0] // problem.unknowns
        roots = sorted(set(case.roots) - {-1})
        columns = [roots.index(r) for r in case.roots if r >= 0]
        members = np.flatnonzero(np.asarray(case.roots) >= 0)
        joins = sp.csr_array(
            (np.ones(len(members), dtype="intc"), (members, columns)), shape=(n_points, len(roots))
        )
        B = improved(problem, case)
        self.assertLessEqual(abs(steps.improved - B).max(), 1e-12 * abs(B).max(), case.what)
        strong = connections(problem, case.threshold)[1]
        self.assertEqual((steps.strength != strong).nnz, 0, case.what)
        T, coarse, P = self.smoothed(case, problem, joins, steps.improved)
        self.expect_near(steps.tentative, T, case.what)
        self.expect_near(steps.candidates, coarse, case.what)
        self.expect_near(steps.P, P, case.what)
        R = P.T
        if problem.left is not None:
            other = problem.transposed()
            _, left, Rt = self.smoothed(case, other, joins, improved(other, case))
            R = sp.csr_array(Rt.T)
            self.expect_near(steps.left, left, case.what)
            self.expect_near(steps.R, R, case.what)
        self.expect_near(steps.coarse, sp.csr_array(R @ problem.A @ P), case.what)

    def cases(self, thresholds, choices, problems=problems):
        """Aggregates by standard aggregation, and of points far apart."""
        for name, problem in problems():
            k, n = problem.unknowns, problem.A.shape[0]
            size = 4 if problem.candidates.shape[1] < 3 else 6
            for threshold in thresholds:
                roots = standard_roots(connections(problem, threshold)[0])
                for more in choices:
                    if (roots >= 0).any() and problem.candidates.shape[1] == 1:
                        yield Case(name, problem, threshold, roots, more)
                    yield Case(name, problem, threshold, hashed_roots(n // k, size), more)

    CHOICES = [
        (),
        ("filter_prolongation=true",),
        ("prolongation_sweeps=2",),
        ("candidate_sweeps=3",),
    ]
    # On several ranks sweeps see what other ranks had before.
    ON_ONE_RANK = [("smoother=gauss_seidel", "candidate_sweeps=3", "candidate_relaxation=gauss_seidel")]

    def test_from_given_aggregates(self):
        for case, steps in run(self.cases(THRESHOLDS[1:3], self.CHOICES + self.ON_ONE_RANK), Steps):
            self.expect_steps(case, steps)

    def test_from_given_aggregates_on_three_ranks(self):
        for case, steps in run(self.cases(THRESHOLDS[2:3], self.CHOICES), Steps, ranks=3):
            self.expect_steps(case, steps)

    def test_restrictions_of_nonsymmetric_matrices(self):
        cases = list(self.cases(THRESHOLDS[1:2], self.CHOICES + self.ON_ONE_RANK, nonsymmetric_problems))
        self.assertGreater(len(cases), 60)
        for case, steps in run(cases, Steps):
            self.expect_steps(case, steps)
            self.assertGreater(abs(steps.R.T - steps.P).max(), 1e-3, case.what)

    def test_restrictions_of_nonsymmetric_matrices_on_three_ranks(self):
        cases = self.cases(THRESHOLDS[2:3], self.CHOICES, nonsymmetric_problems)
        for case, steps in run(cases, Steps, ranks=3):
            self.expect_steps(case, steps)

    def test_two_levels_of_nonsymmetric_matrices(self):
        """R, P and the coarse matrix that PyAMG itself makes with symmetry="nonsymmetric"."""
        for name, problem in nonsymmetric_problems():
            A = problem.A
            if problem.unknowns > 1:
                A = sp.bsr_array(A, blocksize=(problem.unknowns,) * 2)
            relaxation = ("gauss_seidel", {"sweep": "symmetric", "iterations": 3})
            with mock.patch(RADIUS_PATH, lambda *_, **__: 2.1):
                theirs = pyamg.smoothed_aggregation_solver(
                    A, B=problem.candidates, BH=problem.left, symmetry="nonsymmetric",
                    improve_candidates=[relaxation], max_levels=2, max_coarse=1, keep=True,
                )
            fine, coarse = theirs.levels
            case = Case(name, problem, 0.0, roots_of(fine.AggOp, fine.Cnodes), self.ON_ONE_RANK[0])
            self.assertEqual(case.radius, 2.1)
            (_, steps), = run([case], Steps)
            k = problem.candidates.shape[1]
            by_root = (k * np.argsort(fine.Cnodes)[:, None] + np.arange(k)).ravel()
            P, R, C = (sp.csr_array(M) for M in [fine.P, fine.R, coarse.A])
            self.expect_near(steps.P, P[:, by_root], case.what)
            self.expect_near(steps.R, R[by_root], case.what)
            self.expect_near(steps.coarse, C[by_root][:, by_root], case.what)
