"""With DOLFINx, where Python has it: dolfinx_cases.py on 1, 2 and 4 ranks. parallel_cases.py has a stand-in for its matrix."""

import pytest
from conftest import HERE, run_ranks

pytest.importorskip("dolfinx")

CASES = ["poisson", "elasticity"]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_cases(ranks):
    done = run_ranks(ranks, str(HERE / "dolfinx_cases.py"), *CASES)
    passed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("passed ")]
    assert done.returncode == 0 and passed == CASES, done.stdout[-2000:] + done.stderr[-4000:]
