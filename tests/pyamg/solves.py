"""Whole solves by PyAMG and by the program nodewise, of one system by the same choices.

The environment names the program, NODEWISE_CLI, and the folder of real matrices,
NODEWISE_MATRIX_DIR, whose README has a table of them.
"""

import json
import math
import os
import pathlib
import subprocess
import tempfile
from unittest import mock

import numpy as np
import pyamg
import scipy.io
import scipy.sparse as sp
from steps import prepared

PROGRAM = os.environ.get("NODEWISE_CLI", "")
MATRICES = pathlib.Path(os.environ.get("NODEWISE_MATRIX_DIR") or "no matrices")
TIMEOUT_S = 300
TOLERANCE = 1e-8
MAX_ITERATIONS = 500
AGGREGATION = "pyamg.aggregation.aggregation"

GRAPHS = ["usroads-48", "ct2010", "delaunay_n16", "wave", "ca-CondMat"]
NONSYMMETRIC = ["memplus", "cage11", "bentpipe2d_100", "sherman3", "pflare_stream_2364"]

# PyAMG's defaults. An entry just at the bound is strong in PyAMG and weak in Nodewise: with the
# last number below a quarter a bound is the last number below PyAMG's.
CHOICES = {
    "preset": "default",
    "sweep-order": "symmetric",
    "max-coarse-rows": 10,
    "tolerance": TOLERANCE,
    "max-iterations": MAX_ITERATIONS,
    "restart": MAX_ITERATIONS,
    "stagnation-window": 0,
    "transport": "point_to_point",
}
RUGE_STUEBEN = CHOICES | {
    "method": "classical",
    "smoother": "gauss_seidel",
    "strength-measure": "absolute",
    "strength-threshold": np.nextafter(0.25, 0),
    "max-row-sum": 1,
    "coarsening": "ruge_stueben_first_pass",
    "interpolation": "modified_classical",
    "max-interpolation-entries": 0,
    "isolated-couplings": "lumped",
    "max-levels": 30,
}
SMOOTHED_AGGREGATION = CHOICES | {
    "method": "aggregation",
    "smoother": "gauss_seidel",
    "aggregates": "standard",
    "aggregation-threshold": 0,
    "candidate-sweeps": 4,
    "candidate-relaxation": "gauss_seidel",
    "max-levels": 10,
}
JOINS_FIRST = SMOOTHED_AGGREGATION | {"aggregates": "standard_first"}
# Of points with several unknowns PyAMG relaxes all at once.
OF_BLOCKS = SMOOTHED_AGGREGATION | {"smoother": "block_gauss_seidel"}


def read_matrix(name):
    return prepared(scipy.io.mmread(MATRICES / f"{name}.mtx.gz").astype(float))


def system(name):
    """A real matrix, of a graph its grounded Laplacian, and the right-hand side."""
    A = read_matrix(name)
    if name in GRAPHS:
        A = prepared(sp.csr_array(sp.diags_array(A.sum(axis=1)) - A)[:-1, :-1])
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    if name == "restricted_channel_3d":  # pure Neumann
        b -= b.mean()
    return A, b


def write_petsc(path, A, b):
    """The matrix and the right-hand side in PETSc's binary format; returns their files."""
    of_A, of_b = path / "A.petsc", path / "b.petsc"
    with open(of_A, "wb") as file:
        np.array([1211216, *A.shape, A.nnz], ">i4").tofile(file)
        np.diff(A.indptr).astype(">i4").tofile(file)
        A.indices.astype(">i4").tofile(file)
        A.data.astype(">f8").tofile(file)
    with open(of_b, "wb") as file:
        np.array([1211214, len(b)], ">i4").tofile(file)
        b.astype(">f8").tofile(file)
    return of_A, of_b


class Solved:
    """Iterations, None where these did not converge, and (rows, entries) of the levels."""

    def __init__(self, iterations, levels):
        self.iterations, self.levels = iterations, levels


def by_nodewise(A, b, choices, method="cg", candidates=None):
    """Solves on one rank; A may be the options of a model problem, and b None: b = A 1."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = []
        if isinstance(A, dict):
            choices = choices | A
        else:
            of_A, of_b = write_petsc(folder, A, b)
            words += [of_A, "--rhs", of_b]
        if candidates is not None:
            scipy.io.mmwrite(folder / "candidates.mtx", candidates, precision=17)
            words += ["--near-null-space", folder / "candidates.mtx"]
        for option, value in choices.items():
            words += [f"--{option}", str(value)]
        report = folder / "report.json"
        words += ["--solver", method, "--quiet", "--json", report]
        ran = subprocess.run(
            [PROGRAM, "solve", *words],
            capture_output=True, text=True, timeout=TIMEOUT_S,
        )
        if not report.exists():
            raise RuntimeError(ran.stderr)
        report = json.loads(report.read_text())
    levels = [(level["rows"], level["nonzeros"]) for level in report["hierarchy"]["levels"]]
    return Solved(report["solve"]["iterations"] if report["solve"]["converged"] else None, levels)


def by_pyamg(multigrid, b, method="cg", tolerance=TOLERANCE):
    for level in multigrid.levels:
        if getattr(level.A, "blocksize", None) == (1, 1):  # the same sweeps in a ninth of the time
            level.A = level.A.tocsr()
    residuals = []
    _, info = multigrid.solve(
        b, tol=tolerance, maxiter=MAX_ITERATIONS, accel=method, residuals=residuals,
        return_info=True,
    )
    levels = [(level.A.shape[0], level.A.nnz) for level in multigrid.levels]
    return Solved(len(residuals) - 1 if info == 0 else None, levels)


class JoinsMostConnected:
    """Standard aggregates with Nodewise's second pass: points join the aggregate that they are
    coupled most with, where PyAMG takes that of the first neighbour which is in one."""

    def __init__(self):
        self.strength = pyamg.strength.symmetric_strength_of_connection
        self.sizes = None

    def of_strength(self, A):
        self.sizes = abs(sp.csr_array(A))
        if A.format != "bsr" or A.blocksize[0] == 1:
            return self.strength(A)
        C = self.strength(A, theta=1e-300)  # with 0 PyAMG keeps blocks that are zero
        norms = np.sqrt((A.data**2).sum(axis=(1, 2)))
        self.sizes = sp.csr_array((norms, A.indices, A.indptr), shape=C.shape, copy=True)
        return C

    def of_aggregation(self, C):
        strong = prepared(C - sp.diags_array(C.diagonal()))
        beside = np.split(strong.indices, strong.indptr[1:-1])
        roots, of_point = [], np.full(C.shape[0], -1)
        for i, near in enumerate(beside):
            if of_point[i] < 0 and len(near) and (of_point[near] < 0).all():
                of_point[near] = of_point[i] = len(roots)
                roots.append(i)
        first = of_point.copy()
        coupled = prepared(self.sizes)
        for i in np.flatnonzero(first < 0):
            near = set(beside[i][first[beside[i]] >= 0])
            row = slice(coupled.indptr[i], coupled.indptr[i + 1])
            sums = {}
            for j, size in zip(coupled.indices[row], coupled.data[row]):
                if j in near:
                    sums[first[j]] = sums.get(first[j], 0.0) + size
            if sums:  # equal but for rounding: the first
                of_point[i] = min(sums, key=lambda a: (-round(64 * math.log2(sums[a])), a))
        for i, near in enumerate(beside):
            if of_point[i] < 0 and len(near):
                of_point[i] = len(roots)
                of_point[near[of_point[near] < 0]] = len(roots)
                roots.append(i)
        members = np.flatnonzero(of_point >= 0)
        ones = np.ones(len(members), dtype="int8")
        return (
            sp.csr_array((ones, (members, of_point[members])), shape=(C.shape[0], len(roots))),
            np.array(roots),
        )

    def __call__(self, make):
        """What make() returns with these aggregates on all levels."""
        with (
            mock.patch(f"{AGGREGATION}.symmetric_strength_of_connection", self.of_strength),
            mock.patch(f"{AGGREGATION}.standard_aggregation", self.of_aggregation),
        ):
            return make()
