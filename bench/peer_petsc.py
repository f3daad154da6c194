#!/usr/bin/env python3
"""What PETSc makes of a system, by the choices that its users try: JSON on standard output, for bench/hard_systems --petsc.

  bench/peer_petsc.py A.mtx [b.mtx] [--seconds N]

Each choice is tried to a true residual of 1e-8 in at most 1,000 iterations; the quickest that gets there is named. BoomerAMG is
hypre's, in PETSc. It needs petsc4py (Debian: python3-petsc4py-real) and SciPy.
"""

import argparse
import glob
import json
import sys
import time

import numpy
import scipy.io
import scipy.sparse

sys.path += glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages")
import petsc4py  # noqa: E402

petsc4py.init(["peer_petsc"])
from petsc4py import PETSc  # noqa: E402

FOR_ANY = {
    "gmres, ilu(0)": {"ksp_type": "gmres", "pc_type": "ilu"},
    "gmres(100), ilu(2)": {"ksp_type": "gmres", "ksp_gmres_restart": 100, "pc_type": "ilu", "pc_factor_levels": 2},
    "gmres, gamg": {"ksp_type": "gmres", "pc_type": "gamg"},
    "gmres, BoomerAMG": {"ksp_type": "gmres", "pc_type": "hypre", "pc_hypre_type": "boomeramg"},
    "fgmres, fieldsplit of the saddle point": {
        "ksp_type": "fgmres", "pc_type": "fieldsplit", "pc_fieldsplit_detect_saddle_point": None, "pc_fieldsplit_type": "schur",
        "pc_fieldsplit_schur_precondition": "selfp", "fieldsplit_0_ksp_type": "preonly", "fieldsplit_0_pc_type": "ilu",
        "fieldsplit_1_ksp_type": "preonly", "fieldsplit_1_pc_type": "jacobi"},
}
FOR_SYMMETRIC = {
    "cg, icc(0)": {"ksp_type": "cg", "pc_type": "icc"},
    "cg, gamg": {"ksp_type": "cg", "pc_type": "gamg"},
    "cg, BoomerAMG": {"ksp_type": "cg", "pc_type": "hypre", "pc_hypre_type": "boomeramg"},
    "minres": {"ksp_type": "minres", "pc_type": "none"},
}


def read(path):
    matrix = scipy.io.mmread(path)
    return scipy.sparse.csr_matrix(matrix) if scipy.sparse.issparse(matrix) else numpy.asarray(matrix).ravel()


def attempt(A, csr, b, settings, symmetric):
    """Seconds and iterations, or nothing where it does not get there."""
    options = PETSc.Options()
    options.clear()
    for name, value in settings.items():
        options.setValue(name, value)
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    A.setOption(PETSc.Mat.Option.SYMMETRIC, symmetric)
    begin = time.perf_counter()
    try:
        ksp.setOperators(A)
        ksp.setTolerances(rtol=1e-9, max_it=1000)
        ksp.setFromOptions()
        x = A.createVecRight()
        ksp.solve(PETSc.Vec().createWithArray(b, comm=PETSc.COMM_SELF), x)
    except PETSc.Error:
        return None
    finally:
        seconds, iterations = time.perf_counter() - begin, ksp.getIterationNumber()
        ksp.destroy()
    residual = numpy.linalg.norm(b - csr @ x.getArray()) / numpy.linalg.norm(b)
    return {"seconds": seconds, "iterations": iterations} if residual <= 1e-8 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrix")
    parser.add_argument("rhs", nargs="?")
    parser.add_argument("--seconds", type=float, default=60, help="no further choice is begun after so many")
    args = parser.parse_args()
    csr = read(args.matrix)
    b = read(args.rhs) if args.rhs else csr @ numpy.ones(csr.shape[0])
    symmetric = abs(csr - csr.T).max() <= 1e-12 * abs(csr).max()
    A = PETSc.Mat().createAIJ(csr.shape, csr=(csr.indptr, csr.indices, csr.data), comm=PETSc.COMM_SELF)
    A.assemble()
    best, begin = None, time.perf_counter()
    for name, settings in {**(FOR_SYMMETRIC if symmetric else {}), **FOR_ANY}.items():
        if time.perf_counter() - begin > args.seconds:
            break
        found = attempt(A, csr, b, settings, symmetric)
        if found and (best is None or found["seconds"] < best["seconds"]):
            best = {"choice": name, **found}
    print(json.dumps(best))


if __name__ == "__main__":
    main()
