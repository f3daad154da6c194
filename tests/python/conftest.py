"""What the tests of the Python package share: systems of SciPy, and scripts on several ranks.

The package is what Python imports as nodewise: installed, or by PYTHONPATH=<build folder>/python. NODEWISE_MPIEXEC is
the launcher with what it needs, mpiexec of the environment or of the system without it. NODEWISE_MOST_RANKS leaves out
tests on more ranks: MPICH's, where they wait, keep their cores.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

HERE = Path(__file__).parent
RANKS = [ranks for ranks in (1, 2, 3, 4) if ranks <= int(os.environ.get("NODEWISE_MOST_RANKS", "4"))]
SECONDS = 120  # no rank of a test takes so long; one that waits for another that failed would


def launcher(ranks: int) -> list[str]:
    given = os.environ.get("NODEWISE_MPIEXEC")
    if given:
        return [*shlex.split(given), "-n", str(ranks)]
    own = Path(sys.prefix) / "bin" / "mpiexec"
    found = str(own) if own.exists() else shutil.which("mpiexec") or "mpiexec"
    return [found, "-n", str(ranks)]


def run_ranks(ranks: int, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python on several ranks; fails where it takes too long."""
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
           "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", **environment}
    return subprocess.run([*launcher(ranks), sys.executable, *words], capture_output=True, text=True, timeout=SECONDS,
                          env=env)


def poisson(n: int, kind=sp.csr_array):
    """The 5-point Laplacian on n x n points."""
    one = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    eye = sp.eye_array(n)
    return kind(sp.kron(one, eye) + sp.kron(eye, one))


@pytest.fixture
def system():
    A = poisson(24)
    rng = np.random.default_rng(7)
    return A, rng.standard_normal(A.shape[0])
