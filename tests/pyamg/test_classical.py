"""The steps of classical coarsening against PyAMG's, on small matrices of many kinds.

Needs PyAMG, which nothing else does: exits with 77, and says so, where it is missing. The
environment names the program of tests/tools/classical_steps.cpp, NODEWISE_CLASSICAL_STEPS, and the
launcher, NODEWISE_MPIEXEC.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import pyamg
    import scipy.io
    import scipy.sparse as sp
    from pyamg import amg_core
    from pyamg.classical import interpolate, split
    from pyamg.strength import classical_strength_of_connection
except ImportError as error:
    print(f"NOT COMPARED with PyAMG, which is not here: {error}", file=sys.stderr)
    sys.exit(77)

PROGRAM = os.environ["NODEWISE_CLASSICAL_STEPS"]
OPEN_MPI = "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
LAUNCHER = shlex.split(os.environ.get("NODEWISE_MPIEXEC", OPEN_MPI))
TIMEOUT_S = 60
# Entries just at the bound are strong there and weak here: no threshold that stencils hit.
THRESHOLDS = [0.0, 0.11, 0.26, 0.51, 0.77]
MEASURES = {"opposite_sign": "min", "absolute": "abs"}
TOLERANCE = 1e-12
LARGEST_WEIGHT = 1e3


def random_matrix(n, density, positive, seed, symmetric):
    """Couplings in (-1, 0), a share of them positive, and a diagonal that dominates them."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=density, rng=rng, format="csr")
    A.setdiag(0)
    A.eliminate_zeros()
    A.data = np.where(rng.random(A.nnz) < positive, 1, -1) * (0.01 + A.data)
    if symmetric:
        A = A + A.T
    return sp.csr_array(A + sp.diags_array(0.01 + abs(A).sum(axis=1)))


def matrices():
    """Named matrices, all with a positive diagonal, as the peer takes for granted."""
    gallery = pyamg.gallery
    rotated = gallery.diffusion_stencil_2d(epsilon=0.001, theta=np.pi / 6, type="FE")
    differences = gallery.diffusion_stencil_2d(epsilon=0.01, theta=np.pi / 4, type="FD")
    box = -np.ones((3, 3, 3))
    box[1, 1, 1] = 26
    wind = np.array([[0, -1.4, 0], [-1.7, 4.0, -0.3], [0, -0.6, 0]])
    elastic, _ = gallery.linear_elasticity((6, 6))
    return {
        "chain": gallery.poisson((40,)),
        "5 points": gallery.poisson((9, 8)),
        "7 points": gallery.poisson((5, 4, 6)),
        "27 points": gallery.stencil_grid(box, (6, 5, 5)),
        "rotated, elements": gallery.stencil_grid(rotated, (10, 9)),
        "rotated, differences": gallery.stencil_grid(differences, (9, 9)),
        "convection": gallery.stencil_grid(wind, (9, 9)),
        "elasticity": elastic,
        "random": random_matrix(70, 0.06, 0.0, 1, symmetric=False),
        "random, symmetric": random_matrix(70, 0.05, 0.0, 2, symmetric=True),
        "random, positive couplings": random_matrix(70, 0.06, 0.3, 3, symmetric=False),
        "random, symmetric, positive couplings": random_matrix(70, 0.05, 0.3, 4, symmetric=True),
    }


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
        self.strength = sp.csr_array(scipy.io.mmread(folder / "strength.mtx"))
        self.strength.eliminate_zeros()
        self.splitting = np.ravel(scipy.io.mmread(folder / "splitting.mtx")).astype("intc")
        self.P = self.coarse = None
        if (folder / "interpolation.mtx").exists():
            self.P = sp.csr_array(scipy.io.mmread(folder / "interpolation.mtx"))
            self.coarse = sp.csr_array(scipy.io.mmread(folder / "coarse.mtx"))


class Case:
    """A matrix and how it is coarsened."""

    def __init__(self, name, A, threshold, measure, coarsening, interpolation, influence=None):
        self.what = f"{name}, {threshold}, {measure}, {coarsening}, {interpolation}"
        self.A, self.influence = A, influence
        self.threshold, self.measure = threshold, measure
        self.interpolation = interpolation
        self.words = [
            f"strength_threshold={threshold}",
            f"strength_measure={measure}",
            "max_row_sum=1",
            f"coarsening={coarsening}",
            f"interpolation={interpolation}",
            "max_interpolation_entries=0",
        ]

    def write(self, folder):
        """The case's input, in a folder of its own; returns its line of the tasks."""
        folder.mkdir()
        scipy.io.mmwrite(folder / "A.mtx", self.A, precision=17, symmetry="general")
        words = [folder / "A.mtx", folder, *self.words]
        if self.influence is not None:
            vector = np.asarray(self.influence, dtype=float).reshape(-1, 1)
            scipy.io.mmwrite(folder / "influence.mtx", vector)
            words.append(f"influence={folder / 'influence.mtx'}")
        return " ".join(map(str, words)) + "\n"


def run(cases, ranks=1):
    """Pairs of a case and its steps, all by one run of the program."""
    cases = list(cases)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = [case.write(folder / str(k)) for k, case in enumerate(cases)]
        (folder / "tasks").write_text("".join(lines))
        launch = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []
        subprocess.run([*launch, PROGRAM, folder / "tasks"], check=True, timeout=TIMEOUT_S)
        return [(case, Steps(folder / str(k))) for k, case in enumerate(cases)]


def prepared(A):
    A = sp.csr_array(A)
    A.eliminate_zeros()
    A.sort_indices()
    A.indptr, A.indices = A.indptr.astype("intc"), A.indices.astype("intc")
    return A


def strength_of(A, threshold, measure):
    """PyAMG's, without the diagonal that it adds."""
    C = sp.csr_array(classical_strength_of_connection(A, theta=threshold, norm=MEASURES[measure]))
    C.setdiag(0)
    C.eliminate_zeros()
    C.data[:] = 1
    C.sort_indices()
    return C


def cases(coarsening, interpolation, influence=lambda n: None):
    """All matrices at all thresholds by both measures."""
    for name, A in matrices().items():
        for threshold in THRESHOLDS:
            for measure in MEASURES:
                yield Case(
                    name, prepared(A), threshold, measure, coarsening, interpolation,
                    influence(A.shape[0]),
                )


INTERPOLATIONS = {
    "direct": interpolate.direct_interpolation,
    "modified_classical": interpolate.classical_interpolation,
    "classical": lambda A, C, s: interpolate.classical_interpolation(A, C, s, modified=False),
}


class Classical(unittest.TestCase):
    def expect_near(self, got, expected, what):
        self.assertEqual(got.shape, expected.shape, what)
        difference = abs(got - expected)
        largest = abs(expected).max() if expected.nnz else 0.0
        self.assertLessEqual(difference.max() if difference.nnz else 0.0, TOLERANCE * largest, what)

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
        for case, steps in run(cases("ruge_stueben_first_pass", "modified_classical")):
            C = self.expect_steps(case, steps)
            np.testing.assert_array_equal(steps.splitting, split.RS(C), case.what)

    # The second pass is the one of Ruge and Stüben, which PyAMG's is not quite. It leaves no pair
    # without a coarse point in common, with which PyAMG's unmodified formula could do nothing.
    def test_both_passes_with_classical(self):
        added = 0
        for case, steps in run(cases("ruge_stueben", "classical")):
            C = self.expect_steps(case, steps)
            added += steps.splitting.sum() - split.RS(C).sum()
        self.assertGreater(added, 0)

    def test_pmis_from_the_same_weights_with_direct(self):
        compared = 0
        for case, steps in run(cases("pmis", "direct")):
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
        influences = lambda n: rng.integers(0, n // 4, n).astype("intc")  # noqa: E731
        for case, steps in run(cases("ruge_stueben_first_pass", "direct", influences)):
            C = prepared(strength_of(case.A, case.threshold, case.measure))
            T = prepared(C.T)
            expected = np.empty(C.shape[0], dtype="intc")
            amg_core.rs_cf_splitting(
                C.shape[0], C.indptr, C.indices, T.indptr, T.indices, case.influence, expected
            )
            np.testing.assert_array_equal(steps.splitting, expected, case.what)

    def test_on_three_ranks(self):
        for interpolation in ["direct", "modified_classical"]:
            for case, steps in run(cases("cljp", interpolation), ranks=3):
                self.expect_steps(case, steps)


if __name__ == "__main__":
    print(f"comparing with PyAMG {pyamg.__version__}", flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # PyAMG's kernels print a line for each zero
    unittest.main()
