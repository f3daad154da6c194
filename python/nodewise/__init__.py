"""Nodewise: large sparse linear systems in parallel, by algebraic multigrid that knows where data lives.

    import nodewise as nw
    ml = nw.solver(A)            # a sparse matrix of SciPy, or a nodewise.Matrix of many ranks
    x = ml.solve(b, tol=1e-8)

Nothing is loaded, and MPI does not start, before something of it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

# Where each name is, so that `import nodewise` loads none of it.
_places = {
    "Assembler": "matrix",
    "Communicator": "communicator",
    "ConvergenceWarning": "errors",
    "Error": "errors",
    "FileError": "errors",
    "Matrix": "matrix",
    "MatrixError": "errors",
    "Messages": "messages",
    "OptionError": "errors",
    "OutOfMemoryError": "errors",
    "Result": "results",
    "SolveInfo": "solve_info",
    "Solver": "solvers",
    "UnsupportedError": "errors",
    "algorithms": "collectives",
    "allgather": "collectives",
    "allgatherv": "collectives",
    "allreduce": "collectives",
    "alltoall": "collectives",
    "alltoall_crs": "sparse_exchange",
    "alltoallv": "collectives",
    "alltoallv_crs": "sparse_exchange",
    "bench": "commands",
    "build_info": "build",
    "calibrate": "commands",
    "eigen": "commands",
    "exchange": "sparse_exchange",
    "inspect": "commands",
    "options": "keywords",
    "predict": "commands",
    "read": "matrix",
    "read_vectors": "matrix",
    "set_threads": "build",
    "solve": "solvers",
    "solver": "solvers",
    "tune": "commands",
    "write_vectors": "matrix",
}
_modules = ("gallery", "pyamg")

__all__ = [*_places, *_modules]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from nodewise import gallery as gallery
    from nodewise import pyamg as pyamg
    from nodewise.build import build_info as build_info
    from nodewise.build import set_threads as set_threads
    from nodewise.collectives import algorithms as algorithms
    from nodewise.collectives import allgather as allgather
    from nodewise.collectives import allgatherv as allgatherv
    from nodewise.collectives import allreduce as allreduce
    from nodewise.collectives import alltoall as alltoall
    from nodewise.collectives import alltoallv as alltoallv
    from nodewise.commands import bench as bench
    from nodewise.commands import calibrate as calibrate
    from nodewise.commands import eigen as eigen
    from nodewise.commands import inspect as inspect
    from nodewise.commands import predict as predict
    from nodewise.commands import tune as tune
    from nodewise.communicator import Communicator as Communicator
    from nodewise.errors import ConvergenceWarning as ConvergenceWarning
    from nodewise.errors import Error as Error
    from nodewise.errors import FileError as FileError
    from nodewise.errors import MatrixError as MatrixError
    from nodewise.errors import OptionError as OptionError
    from nodewise.errors import OutOfMemoryError as OutOfMemoryError
    from nodewise.errors import UnsupportedError as UnsupportedError
    from nodewise.keywords import options as options
    from nodewise.matrix import Assembler as Assembler
    from nodewise.matrix import Matrix as Matrix
    from nodewise.matrix import read as read
    from nodewise.matrix import read_vectors as read_vectors
    from nodewise.matrix import write_vectors as write_vectors
    from nodewise.messages import Messages as Messages
    from nodewise.results import Result as Result
    from nodewise.solve_info import SolveInfo as SolveInfo
    from nodewise.solvers import Solver as Solver
    from nodewise.solvers import solve as solve
    from nodewise.solvers import solver as solver
    from nodewise.sparse_exchange import alltoall_crs as alltoall_crs
    from nodewise.sparse_exchange import alltoallv_crs as alltoallv_crs
    from nodewise.sparse_exchange import exchange as exchange


def __getattr__(name: str) -> object:
    if name in _modules:
        return importlib.import_module(f"nodewise.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("nodewise")
    if name not in _places:
        raise AttributeError(f"module 'nodewise' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"nodewise.{_places[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
