#!/usr/bin/env python3
"""PyAMG's multigrid on systems that nodewise_bench_peers --write has written; prints Markdown.

    peer_pyamg.py [--repeats N] [--tolerance T] FOLDER

Conjugate gradients preconditioned by one V-cycle, from a zero guess to the true relative residual;
smoothed aggregation and Ruge-Stueben coarsening with PyAMG's defaults. One process, one thread.
"""

import argparse
import pathlib
import statistics
import time

import numpy as np
import pyamg
import scipy.sparse as sp

MATRIX, VECTOR = 1211216, 1211214
SOLVERS = {
    "smoothed aggregation": lambda A: pyamg.smoothed_aggregation_solver(A),
    "smoothed aggregation, energy": lambda A: pyamg.smoothed_aggregation_solver(A, smooth="energy"),
    "Ruge-Stueben": lambda A: pyamg.ruge_stuben_solver(A),
}


def read(path):
    """A matrix or a vector in PETSc's binary format: big-endian, 32-bit integers."""
    raw = path.read_bytes()
    kind, n = np.frombuffer(raw, ">i4", 2)
    if kind == VECTOR:
        return np.frombuffer(raw, ">f8", n, 8).astype(float)
    assert kind == MATRIX, path
    m, nnz = np.frombuffer(raw, ">i4", 2, 8)
    lengths = np.frombuffer(raw, ">i4", n, 16)
    cols = np.frombuffer(raw, ">i4", nnz, 16 + 4 * n)
    vals = np.frombuffer(raw, ">f8", nnz, 16 + 4 * n + 4 * nnz)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("intc")
    return sp.csr_array((vals.astype(float), cols.astype("intc"), offsets), shape=(n, m))


def run(make, A, b, asked):
    """Setup and solve in seconds, iterations, complexity and the true relative residual."""
    begin = time.perf_counter()
    multigrid = make(A)
    middle = time.perf_counter()
    residuals = []
    x = multigrid.solve(b, tol=asked, accel="cg", maxiter=1000, residuals=residuals)
    end = time.perf_counter()
    residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
    return middle - begin, end - middle, len(residuals) - 1, multigrid.operator_complexity(), residual


def warm_up(make, A, b, tolerance):
    """The tolerance by PyAMG's own test that gives the true residual wanted; None: none does."""
    asked = tolerance
    for _ in range(4):
        residual = run(make, A, b, asked)[-1]
        if residual <= tolerance:
            return asked
        asked *= 0.9 * tolerance / residual
    return None


def text(samples):
    return f"{statistics.median(samples):.3f} ({min(samples):.3f}..{max(samples):.3f})"


def compare(name, A, b, arguments):
    print(f"#### {name}, {A.shape[0]} rows, PyAMG {pyamg.__version__}, 1 process\n")
    print("| choices | setup, s | solve, s | total, s | iterations | operator complexity |")
    print("|---|---|---|---|---|---|")
    asked = {what: warm_up(make, A, b, arguments.tolerance) for what, make in SOLVERS.items()}
    runs = {what: [] for what in SOLVERS}
    for _ in range(arguments.repeats):  # in turn
        for what, make in SOLVERS.items():
            if asked[what]:
                runs[what].append(run(make, A, b, asked[what]))
    for what, done in runs.items():
        if not done:
            print(f"| {what} | not solved | | | | |")
            continue
        setup, solve, iterations, complexity, _ = zip(*done)
        total = [a + c for a, c in zip(setup, solve)]
        print(f"| {what} | {text(setup)} | {text(solve)} | {text(total)} | {iterations[-1]} "
              f"| {complexity[-1]:.2f} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    for path in sorted(arguments.folder.glob("*.petsc")):
        if not path.stem.endswith("_b"):
            compare(path.stem, read(path), read(path.with_name(path.stem + "_b.petsc")), arguments)


if __name__ == "__main__":
    main()
