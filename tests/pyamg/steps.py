"""What the comparisons with PyAMG share: matrices, and the program that takes the steps.

Needs PyAMG, which nothing else does: exits with 77, and says so, where it is missing. The
environment names the program of tests/tools/coarsening_steps.cpp, NODEWISE_COARSENING_STEPS, and
the launcher, NODEWISE_MPIEXEC.
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
except ImportError as error:
    print(f"NOT COMPARED with PyAMG, which is not here: {error}", file=sys.stderr)
    sys.exit(77)

PROGRAM = os.environ["NODEWISE_COARSENING_STEPS"]
OPEN_MPI = "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
LAUNCHER = shlex.split(os.environ.get("NODEWISE_MPIEXEC", OPEN_MPI))
TIMEOUT_S = 120
TOLERANCE = 1e-12


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


def prepared(A):
    A = sp.csr_array(A)
    A.eliminate_zeros()
    A.sort_indices()
    A.indptr, A.indices = A.indptr.astype("intc"), A.indices.astype("intc")
    return A


def read(path):
    """A matrix in compressed rows without stored zeros; None where there is no such file."""
    if not path.exists():
        return None
    A = sp.csr_array(scipy.io.mmread(path))
    A.eliminate_zeros()
    return A


def run(cases, steps, ranks=1):
    """Pairs of a case and its steps, all by one run of the program. A case writes its files to a
    folder of its own and returns its line of the tasks; steps(folder) reads what came of it."""
    cases = list(cases)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = []
        for k, case in enumerate(cases):
            (folder / str(k)).mkdir()
            lines.append(" ".join(map(str, case.write(folder / str(k)))) + "\n")
        (folder / "tasks").write_text("".join(lines))
        launch = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []
        subprocess.run([*launch, PROGRAM, folder / "tasks"], check=True, timeout=TIMEOUT_S)
        return [(case, steps(folder / str(k))) for k, case in enumerate(cases)]


class Comparison(unittest.TestCase):
    def expect_near(self, got, expected, what):
        self.assertEqual(got.shape, expected.shape, what)
        difference = abs(got - expected)
        largest = abs(expected).max() if expected.nnz else 0.0
        self.assertLessEqual(difference.max() if difference.nnz else 0.0, TOLERANCE * largest, what)
