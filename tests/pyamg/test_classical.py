"""The steps of classical coarsening against PyAMG's, on small matrices of many kinds."""

import ctypes

import numpy as np
import scipy.io
import scipy.sparse as sp
from pyamg import amg_core
from pyamg.classical import interpolate, split
from pyamg.strength import classical_strength_of_connection
from steps import Comparison, matrices, prepared, read, run

# Entries just at the bound are strong there and weak here: no threshold that stencils hit.
THRESHOLDS = [0.0, 0.11, 0.26, 0.51, 0.77]
MEASURES = {"opposite_sign": "min", "absolute": "abs"}
LARGEST_WEIGHT = 1e3


def hash64(key, seed):
    """The finaliser of SplitMix64, as in nodewise/base/hash.hpp."""
    mask = (1 << 64) - 1
    z = (key + (seed + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def uniform(n, seed):
    return np.array([(hash64(i, seed) >> 11) * 2.0**-53 for i in range(n)])


class Steps:
    """What the program made of a matrix."""

    def __init__(self, folder):
        self.strength = read(folder / "strength.mtx")
        self.splitting = np.ravel(scipy.io.mmread(folder / "splitting.mtx")).astype("intc")
        self.P = read(folder / "interpolation.mtx")
        self.R = read(folder / "restriction.mtx")
        self.coarse = read(folder / "coarse.mtx")


class Case:
    """A matrix and how it is coarsened; `vectors` are those that the program reads, by name."""

    def __init__(self, name, A, threshold, measure, coarsening, interpolation, vectors=None, more=()):
        self.what = f"{name}, {threshold}, {measure}, {coarsening}, {interpolation}, {' '.join(more)}"
        self.A, self.vectors = A, vectors or {}
        self.threshold, self.measure = threshold, measure
        self.interpolation = interpolation
        self.words = [
            f"strength_threshold={threshold}",
            f"strength_measure={measure}",
            "max_row_sum=1",
            f"coarsening={coarsening}",
            f"interpolation={interpolation}",
            "max_interpolation_entries=0",
            "isolated_couplings=lumped",
            *more,
        ]

    def write(self, folder):
        scipy.io.mmwrite(folder / "A.mtx", self.A, precision=17, symmetry="general")
        words = [folder / "A.mtx", folder, *self.words]
        for name, values in self.vectors.items():
            vector = np.asarray(values, dtype=float).reshape(-1, 1)
            scipy.io.mmwrite(folder / f"{name}.mtx", vector, precision=17)
            words.append(f"{name}={folder / name}.mtx")
        return words


def strength_of(A, threshold, measure):
    """PyAMG's, without the diagonal that it adds."""
    C = sp.csr_array(classical_strength_of_connection(A, theta=threshold, norm=MEASURES[measure]))
    C.setdiag(0)
    C.eliminate_zeros()
    C.data[:] = 1
    C.sort_indices()
    return C


def cases(coarsening, interpolation, vectors=lambda n: None, more=()):
    """All matrices at all thresholds by both measures."""
    for name, A in matrices().items():
        for threshold in THRESHOLDS:
            for measure in MEASURES:
                yield Case(
                    name, prepared(A), threshold, measure, coarsening, interpolation,
                    vectors(A.shape[0]), more,
                )


def fractions_of_cljp(n):
    """What PyAMG's splitting adds to the measures: the C library's random numbers."""
    libc = ctypes.CDLL(None)
    libc.srand(2448422)
    return np.array([libc.rand() / 0x7FFFFFFF for _ in range(n)])


INTERPOLATIONS = {
    "direct": interpolate.direct_interpolation,
    "modified_classical": interpolate.classical_interpolation,
    "classical": lambda A, C, s: interpolate.classical_interpolation(A, C, s, modified=False),
}


class Classical(Comparison):
    def expect_interpolation(self, case, steps, C):
        """PyAMG's weights. It divides by sums that are zero, or would be but for rounding, where
        couplings of both signs cancel; those few rows are left out."""
        P = sp.csr_array(INTERPOLATIONS[case.interpolation](case.A, C, steps.splitting))
        sizes = abs(P.toarray()).max(axis=1)
        usable = np.isfinite(sizes) & (sizes < LARGEST_WEIGHT)
        self.assertGreater(usable.mean(), 0.6, case.what)
        self.expect_near(steps.P[usable], P[usable], case.what)

    def expect_steps(self, case, steps):
        """Strength and, for the splitting there is, interpolation and coarse matrix."""
        C = strength_of(case.A, case.threshold, case.measure)
        self.assertEqual((steps.strength != C).nnz, 0, case.what)
        if steps.P is not None:
            self.expect_interpolation(case, steps, C)
            self.expect_near(steps.coarse, sp.csr_array(steps.P.T @ case.A @ steps.P), case.what)
        return C

    def test_first_pass_with_modified_classical(self):
        for case, steps in run(cases("ruge_stueben_first_pass", "modified_classical"), Steps):
            C = self.expect_steps(case, steps)
            np.testing.assert_array_equal(steps.splitting, split.RS(C), case.what)

    # The second pass is the one of Ruge and Stüben, which PyAMG's is not quite. It leaves no pair
    # without a coarse point in common, with which PyAMG's unmodified formula could do nothing.
    def test_both_passes_with_classical(self):
        added = 0
        for case, steps in run(cases("ruge_stueben", "classical"), Steps):
            C = self.expect_steps(case, steps)
            added += steps.splitting.sum() - split.RS(C).sum()
        self.assertGreater(added, 0)

    def test_pmis_from_the_same_weights_with_direct(self):
        compared = 0
        for case, steps in run(cases("pmis", "direct"), Steps):
            C = self.expect_steps(case, steps)
            if (C != C.T).nnz > 0:
                continue  # PyAMG's takes all neighbours for dependants
            weights = np.ravel(C.sum(axis=0)) + uniform(C.shape[0], 0)
            expected = split.MIS(prepared(C), weights)
            expected[np.diff(C.indptr) == 0] = 0
            np.testing.assert_array_equal(steps.splitting, expected, case.what)
            compared += 1
        self.assertGreater(compared, 30)

    # Few enough that no measure comes near the number of points, where PyAMG's stop to rise.
    def test_first_pass_with_influence(self):
        rng = np.random.default_rng(5)
        influences = lambda n: {"influence": rng.integers(0, n // 4, n).astype("intc")}  # noqa: E731
        for case, steps in run(
            cases("ruge_stueben_first_pass", "direct", influences), Steps
        ):
            C = prepared(strength_of(case.A, case.threshold, case.measure))
            T = prepared(C.T)
            expected = np.empty(C.shape[0], dtype="intc")
            amg_core.rs_cf_splitting(
                C.shape[0], C.indptr, C.indices, T.indptr, T.indices, case.vectors["influence"], expected
            )
            np.testing.assert_array_equal(steps.splitting, expected, case.what)

    def expect_cljp(self, ranks):
        vectors = lambda n: {"fractions": fractions_of_cljp(n)}  # noqa: E731
        compared = 0
        for case, steps in run(cases("cljp", "direct", vectors), Steps, ranks):
            C = prepared(strength_of(case.A, case.threshold, case.measure))
            if (C != C.T).nnz > 0:
                continue  # PyAMG's makes points coarse on which none depends
            expected = split.CLJP(C)
            expected[np.diff(C.indptr) == 0] = 0
            np.testing.assert_array_equal(steps.splitting, expected, case.what)
            compared += 1
        self.assertGreater(compared, 30)

    def test_cljp_from_the_same_weights(self):
        self.expect_cljp(ranks=1)

    def test_cljp_from_the_same_weights_on_three_ranks(self):
        self.expect_cljp(ranks=3)

    def expect_air(self, coarsening, distance, ranks):
        """Local approximate ideal restriction, one-point interpolation and R A P."""
        compared = 0
        for threshold in [0.04, 0.17]:
            more = [
                "method=air",
                f"restriction_distance={distance}",
                f"restriction_threshold={threshold}",
            ]
            for case, steps in run(cases(coarsening, "one_point", more=more), Steps, ranks):
                C = strength_of(case.A, case.threshold, case.measure)
                self.assertEqual((steps.strength != C).nnz, 0, case.what)
                if steps.P is None:
                    continue
                R = interpolate.local_air(
                    case.A, steps.splitting, theta=threshold, degree=distance
                )
                self.expect_near(steps.R, sp.csr_array(R), case.what)
                self.expect_one_point(steps.P, C, case, steps.splitting)
                self.expect_near(steps.coarse, sp.csr_array(steps.R @ case.A @ steps.P), case.what)
                compared += 1
        self.assertGreater(compared, 200)

    def expect_one_point(self, P, C, case, splitting):
        """PyAMG's point, or one of a coupling within a percent of its, of which Nodewise takes the
        first."""
        sizes = abs(case.A).multiply(C).toarray()
        theirs = interpolate.one_point_interpolation(case.A, prepared(sp.csr_array(sizes)), splitting)
        points = np.flatnonzero(splitting)
        self.assertEqual(P.shape, theirs.shape, case.what)
        np.testing.assert_array_equal(np.diff(P.indptr), np.diff(theirs.indptr), case.what)
        np.testing.assert_array_equal(P.data, np.ones(P.nnz), case.what)
        for i, (got, wanted) in enumerate(zip(P.indptr, theirs.indptr[:-1])):
            if P.indptr[i + 1] == got:
                continue
            chosen, best = P.indices[got], theirs.indices[wanted]
            if splitting[i] == 0:
                beside = sizes[i, points]
                self.assertEqual(chosen, np.flatnonzero(beside > 0.99 * beside[best])[0], case.what)
            else:
                self.assertEqual(chosen, best, case.what)

    def test_air(self):
        for distance in [1, 2]:
            self.expect_air("ruge_stueben_first_pass", distance, ranks=1)

    def test_air_on_three_ranks(self):
        for distance in [1, 2]:
            self.expect_air("pmis", distance, ranks=3)

    def test_on_three_ranks(self):
        for interpolation in ["direct", "modified_classical"]:
            for case, steps in run(cases("cljp", interpolation), Steps, ranks=3):
                self.expect_steps(case, steps)
