"""Communicators: the library's own duplicate of one of mpi4py, and how ranks agree on exceptions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, Union

from mpi4py import MPI

from nodewise._load import core
from nodewise.keywords import NamedValues, as_text

T = TypeVar("T")

# The library's communicator is kept with that of mpi4py, as an attribute: it ends where that is freed.
_key = MPI.Comm.Create_keyval()


class Communicator:
    """The ranks of a communicator of mpi4py, with settings of how they communicate.

    Collective. `settings` are options such as ranks_per_node=2 (nodes to pretend), node_map="0,0,1,1",
    allreduce="node_aware", sparse_exchange="nonblocking", of nodewise.algorithms(). What is made on it has them.
    """

    def __init__(self, comm: MPI.Comm | None = None, **settings: object) -> None:
        chosen = MPI.COMM_WORLD if comm is None else comm
        if chosen == MPI.COMM_NULL:
            raise ValueError("the communicator is MPI.COMM_NULL; only the ranks that have one take part")
        self._core = core.make_communicator(chosen.py2f(), as_text(settings))
        self.mpi = chosen
        # Between nodes that are pretended there is no network by which routes could be chosen.
        self.nodes_are_given = "node_map" in settings or "ranks_per_node" in settings

    @classmethod
    def _of_core(cls, inner: Any, mpi: Any = None) -> Communicator:
        made = cls.__new__(cls)
        made._core = inner
        made.mpi = mpi
        made.nodes_are_given = False
        return made

    @property
    def rank(self) -> int:
        return int(self._core.rank)

    @property
    def size(self) -> int:
        return int(self._core.size)

    @property
    def nodes(self) -> int:
        """How many nodes the ranks are on."""
        return int(self._core.nodes)

    def __repr__(self) -> str:
        return f"<nodewise.Communicator: rank {self.rank} of {self.size}, on {self.nodes} nodes>"

    def agree(self, failure: BaseException | None) -> None:
        """Collective. Raises on every rank what the lowest rank with a failure brings; nothing where none does."""
        if self.size == 1:
            if failure is not None:
                raise failure
            return
        root = self._core.lowest_rank(failure is not None)
        if root < 0:
            return
        self.raise_that_of(root, failure)

    def raise_that_of(self, root: int, failure: BaseException | None) -> NoReturn:
        """Collective. Raises on every rank what rank `root` brings; one broadcast."""
        text = self._core.broadcast(_pickled(failure) if self.rank == root else b"", root)
        if failure is not None and self.rank == root:
            raise failure
        raise pickle.loads(text) from failure

    def collectively(self, work: Callable[[], T]) -> T:
        """Collective. The result of local work, or on every rank the exception of the lowest that raised one."""
        failure: BaseException | None = None
        result: Any = None
        try:
            result = work()
        except Exception as error:
            failure = error
        self.agree(failure)
        return result  # type: ignore[no-any-return]


def _pickled(failure: BaseException | None) -> bytes:
    try:
        data = pickle.dumps(failure)
        pickle.loads(data)
        return data
    except Exception:  # an exception that cannot travel is told in words
        return pickle.dumps(RuntimeError(f"{type(failure).__name__}: {failure}"))


AnyComm = Union[MPI.Comm, Communicator, None]


def communicator_of(comm: AnyComm) -> Communicator:
    """Collective on `comm`. The library's communicator of one of mpi4py, the same at every call."""
    if isinstance(comm, Communicator):
        return comm
    chosen = MPI.COMM_WORLD if comm is None else comm
    if not isinstance(chosen, MPI.Comm):
        raise TypeError(f"comm is a {type(chosen).__name__}, where a communicator of mpi4py or nodewise is needed")
    known = None if chosen == MPI.COMM_NULL else chosen.Get_attr(_key)
    if isinstance(known, Communicator):
        return known
    made = Communicator(chosen)
    chosen.Set_attr(_key, made)
    return made
