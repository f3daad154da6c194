"""Programs that know PETSc and nothing of Nodewise, told by their options alone to load it.

Their iterations are to be those of `nodewise solve` for the matrix that they write. The environment says where
the programs, the library and the command line are; a program that could not be compiled is skipped.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

PROGRAMS = pathlib.Path(os.environ["NODEWISE_PETSC_PROGRAMS"])
LIBRARY = os.environ["NODEWISE_PETSC_LIBRARY"]
CLI = os.environ["NODEWISE_CLI"]
LAUNCH = os.environ["NODEWISE_MPIEXEC"].split()
RANKS = [1, 2, 4]
# Conjugate gradients that stop as the command line's do.
ITERATE = ["-ksp_type", "cg", "-ksp_norm_type", "unpreconditioned", "-ksp_rtol", "1e-8"]
NODEWISE = ["-dll_append", LIBRARY, "-pc_type", "nodewise"]


def launch(ranks, *command):
    """What `command` says on so many ranks, and how it ended."""
    here = LAUNCH[:1] + ["-n", str(ranks)] + LAUNCH[1:]
    run = subprocess.run([*here, *map(str, command)], capture_output=True, text=True, timeout=300)
    return run.returncode, run.stdout + run.stderr


def run_program(name, ranks, *options):
    program = PROGRAMS / name
    if not program.exists():
        pytest.skip(f"NOT TESTED: {name} was not compiled, for want of its compiler")
    return launch(ranks, program, *ITERATE, *options)


def iterations_of(said):
    assert "FAILED" not in said and "PETSC ERROR" not in said, said
    return [int(n) for n in re.findall(r"^iterations (\d+) solved", said, re.MULTILINE)]


def solved(name, ranks, *options):
    status, said = run_program(name, ranks, *NODEWISE, *options)
    assert status == 0, said
    return iterations_of(said)


def of_command_line(ranks, *arguments):
    status, said = launch(ranks, CLI, "solve", *arguments, "--solver", "cg", "--precision", "same")
    assert status == 0, said
    return int(re.search(r"converged after (\d+) iteration", said).group(1))


@pytest.fixture(scope="module")
def laplace(tmp_path_factory):
    file = tmp_path_factory.mktemp("laplace") / "A.petsc"
    solved("laplace", 1, "-write", file)
    return file


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("program", ["laplace", "laplace_f"])
def test_programs_iterate_as_the_command_line(laplace, program, ranks):
    assert solved(program, ranks) == [of_command_line(ranks, laplace)]


@pytest.mark.parametrize("ranks", RANKS)
def test_programs_take_options(laplace, ranks):
    mine = {"preset": "default", "smoother": "chebyshev", "method": "aggregation"}
    options = [word for name, value in mine.items() for word in (f"-nodewise_{name}", value)]
    flags = [word for name, value in mine.items() for word in (f"--{name}", value)]
    assert solved("laplace", ranks, *options) == [of_command_line(ranks, laplace, *flags)]


@pytest.mark.parametrize("ranks", RANKS)
def test_elasticity_with_its_near_null_space(tmp_path, ranks):
    name = tmp_path / "plate"
    solved("elasticity", 1, "-write", name)
    expected = of_command_line(ranks, f"{name}.petsc", "--rhs", f"{name}.b.mtx", "--unknowns", 2,
                               "--near-null-space", f"{name}.modes.mtx")
    for matrix in ("aij", "baij"):
        assert solved("elasticity", ranks, "-mat_type", matrix) == [pytest.approx(expected, abs=1)]


@pytest.mark.parametrize("ranks", [1, 2])
def test_new_values(ranks):
    [anew] = solved("laplace", ranks, "-weight", 20)
    of = {}
    for reuse in ("interpolation", "splitting", "none"):
        _, of[reuse] = solved("laplace", ranks, "-again", "-pc_nodewise_reuse", reuse)
    _, of_old = solved("laplace", ranks, "-again", "-ksp_reuse_preconditioner")
    assert of["none"] == anew
    assert of["none"] <= of["splitting"] <= of["interpolation"] < of_old


def test_many_solvers_one_after_another():
    assert len(set(solved("laplace", 2, "-n", 8, "-solves", 60))) == 1


def test_help_lists_every_option():
    _, said = run_program("laplace", 1, *NODEWISE, "-help")
    listed = subprocess.run([CLI, "options", "--markdown"], capture_output=True, text=True, check=True).stdout
    group = listed.split("## Multigrid")[1].split("\n## ")[0]
    names = [n.replace("-", "_") for n in re.findall(r"^\| `(?:-\w, )?--([a-z-]+)", group, re.MULTILINE)]
    known = set(re.findall(r"-pc_nodewise_(\w+) ", said))
    # These name files, machines or threads on the command line, and are no options of the library.
    assert len(names) > 60 and len([n for n in names if n not in known]) <= 8, [n for n in names if n not in known]
    assert "-pc_nodewise_smoother <now" in said


def test_view_shows_the_hierarchy():
    _, said = run_program("laplace", 2, *NODEWISE, "-ksp_view")
    assert re.search(r"type: nodewise", said) and re.search(r"^\s+0\s+1600\s+7840\s+2\s", said, re.MULTILINE), said


@pytest.mark.parametrize("options, sentence", [
    (["-pc_nodewise_smother", "jacobi"], "did you mean -pc_nodewise_smoother"),
    (["-pc_nodewise_max_levels", "0"], "-pc_nodewise_max_levels: '0' is not a whole number"),
    (["-nodewise_tolerance", "1e-3"], "see -ksp_rtol"),
])
def test_bad_options_are_refused(options, sentence):
    status, said = run_program("laplace", 2, *NODEWISE, *options)
    assert status != 0 and sentence in said, said
    assert said.count(sentence) == 1, said  # one rank speaks for all


def test_prefixes_and_inner_solvers(laplace):
    options = ["-pc_type", "ksp", "-ksp_type", "fgmres", "-ksp_ksp_type", "cg", "-ksp_pc_type", "nodewise",
               "-ksp_pc_nodewise_smoother", "chebyshev", "-ksp_ksp_rtol", "1e-9"]
    status, said = run_program("laplace", 2, "-dll_append", LIBRARY, *options)
    assert status == 0 and iterations_of(said)[0] <= 2, said


PYTHON_PROGRAM = """
import sys, petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
A = PETSc.Mat().load(PETSc.Viewer().createBinary(sys.argv[1], "r"))
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setFromOptions()
x, b = A.createVecs()
x.set(1)
A.mult(x, b)
ksp.solve(b, x)
PETSc.Sys.Print("iterations", ksp.getIterationNumber(), "solved" if ksp.converged else "FAILED")
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_petsc4py_takes_it_as_other_programs_do(laplace, monkeypatch, ranks):
    folder = subprocess.run(["pkg-config", "--variable=prefix", "PETSc"], capture_output=True, text=True, check=True)
    monkeypatch.syspath_prepend(folder.stdout.strip() + "/lib/python3/dist-packages")
    monkeypatch.setenv("PYTHONPATH", sys.path[0], prepend=os.pathsep)
    if importlib.util.find_spec("petsc4py") is None:
        pytest.skip("NOT TESTED: there is no petsc4py (Debian: python3-petsc4py-real)")
    status, said = launch(ranks, sys.executable, "-c", PYTHON_PROGRAM, laplace, *ITERATE, *NODEWISE)
    assert status == 0, said
    assert iterations_of(said) == [of_command_line(ranks, laplace)]


def test_the_library_shows_one_name():
    names = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
    assert [line.split()[2] for line in names.stdout.splitlines()] == ["PetscDLLibraryRegister_nodewise_petsc"]


def test_the_library_needs_petsc():
    needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
    assert "libpetsc" in needed
