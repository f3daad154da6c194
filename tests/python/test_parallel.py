"""On 1, 2, 3 and 4 ranks: parallel_cases.py, and the command line."""

import json
import sys

import pytest
from conftest import HERE, RANKS, run_ranks

CASES = ["rows_and_empty_ranks", "types_differ_by_rank", "levels", "iterations_are_those_of_one_rank",
         "blocks_and_update", "one_rank_fails", "tolerances_differ", "interrupted", "communicators", "assembly",
         "dolfinx", "petsc", "reports", "outlives_finalize"]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", CASES)
def test_case(case, ranks):
    done = run_ranks(ranks, str(HERE / "parallel_cases.py"), case)
    assert done.returncode == 0 and "passed" in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.mark.parametrize("ranks", [1, 2])
def test_command_line(tmp_path, ranks):
    report = tmp_path / "report.json"
    done = run_ranks(ranks, "-m", "nodewise", "solve", "--problem", "laplace7", "-n", "8", "--json", str(report))
    assert done.returncode == 0 and "converged after" in done.stdout, done.stdout + done.stderr
    assert json.loads(report.read_text())["machine"]["ranks"] == ranks


def test_command_line_fails_as_it_should():
    done = run_ranks(2, "-m", "nodewise", "solve", "/nowhere/A.mtx")
    assert done.returncode == 3 and done.stderr.count("/nowhere/A.mtx") == 1, done.stderr
    done = run_ranks(1, "-m", "nodewise", "slove")
    assert done.returncode == 2 and "solve" in done.stderr


def test_import_starts_nothing():
    done = run_ranks(1, "-c", "import sys, nodewise; assert not any(m.startswith('mpi4py') for m in sys.modules), 1; "
                              "assert 'numpy' not in sys.modules; print('passed')")
    assert "passed" in done.stdout, done.stderr
    assert sys.version_info >= (3, 10)
