"""The preconditioner for petsc4py beside the solver itself; skipped where there is no petsc4py."""

import re

import pytest

from conftest import run_ranks

pytest.importorskip("petsc4py", reason="NOT TESTED: there is no petsc4py (Debian: python3-petsc4py-real)")

PROGRAM = """
import sys, petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
import nodewise as nw
n = 40
A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
def fill(weight):
    begin, end = A.getOwnershipRange()
    for row in range(begin, end):
        x, y = divmod(row, n)
        A[row, row] = 2 + 2 * weight
        for other, value, there in ((row - n, -weight, x > 0), (row - 1, -1, y > 0), (row + 1, -1, y < n - 1),
                                    (row + n, -weight, x < n - 1)):
            if there:
                A[row, other] = value
    A.assemble()
ksp = PETSc.KSP().create()
x, b = A.createVecs()
for weight in (1, 20):
    fill(weight)
    x.set(1)
    A.mult(x, b)
    ksp.setOperators(A)
    ksp.setFromOptions()
    ksp.solve(b, x)
    PETSc.Sys.Print("iterations", ksp.getIterationNumber(), "solved" if ksp.converged else "FAILED")
    indptr, indices, data = A.getValuesCSR()
    matrix = nw.Matrix.from_csr((data, indices, indptr), comm=A.comm.tompi4py(), columns=n * n)
    _, info = nw.solver(matrix, precision="same").solve(b.getArray(), rtol=1e-8, accel="cg", return_info=True)
    PETSc.Sys.Print("nodewise", info.iterations)
ksp.view()
ksp.destroy()
"""
ITERATE = ["-ksp_type", "cg", "-ksp_norm_type", "unpreconditioned", "-ksp_rtol", "1e-8", "-pc_type", "python",
           "-pc_python_type", "nodewise.petsc.PC"]


@pytest.mark.parametrize("ranks", [1, 2])
def test_iterations_are_those_of_the_solver(ranks):
    run = run_ranks(ranks, "-c", PROGRAM, *ITERATE, "-pc_nodewise_reuse", "none")
    assert run.returncode == 0, run.stdout + run.stderr
    theirs = re.findall(r"^iterations (\d+) solved", run.stdout, re.MULTILINE)
    assert theirs == re.findall(r"^nodewise (\d+)", run.stdout, re.MULTILINE) and len(theirs) == 2, run.stdout
    assert "1600" in run.stdout.split("python")[-1]  # the levels


def test_new_values_keep_the_interpolation():
    first = run_ranks(1, "-c", PROGRAM, *ITERATE)
    assert first.returncode == 0, first.stdout + first.stderr
    kept, anew = (int(re.findall(rf"^{who} (\d+)", first.stdout, re.MULTILINE)[1]) for who in ("iterations", "nodewise"))
    assert kept >= anew


@pytest.mark.parametrize("option, sentence", [("-pc_nodewise_smother", "smoother"), ("-nodewise_tolerance", "-ksp_rtol"),
                                              ("-pc_nodewise_reuse", "splitting")])
def test_bad_options_are_refused(option, sentence):
    run = run_ranks(1, "-c", PROGRAM, *ITERATE, option, "jacobi")
    assert run.returncode != 0 and sentence in run.stdout + run.stderr, run.stdout + run.stderr
