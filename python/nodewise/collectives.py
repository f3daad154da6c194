"""Collectives that know the nodes: MPI's own, or with the ranks of a node sharing out the messages to other nodes.

Each function is collective. `algorithm` is one of `nodewise.algorithms()[...]`, the same on every rank; without it
the communicator's setting holds, which is automatic unless `Communicator(allreduce=..., allgather=..., alltoallv=...)`
says otherwise. Messages: those of the algorithm (docs/collectives.md), and one reduction of a few numbers before, in
which the ranks compare types, shapes and algorithms and learn of exceptions. Every rank raises the same: OptionError
(a ValueError) for what does not fit, TypeError for what holds no numbers, UnsupportedError, OutOfMemoryError.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from nodewise._load import core
from nodewise.agreement import Same, agree, algorithm_code, algorithm_name, bytes_of, code_of, numbers, numbers_type
from nodewise.agreement import type_of
from nodewise.communicator import AnyComm, Communicator, communicator_of
from nodewise.errors import make
from nodewise.messages import Messages
from nodewise.sparse_exchange import checked_counts, one_dimensional, starts_of

_count = Same("the number of their items")
_shape = Same("the shape of their arrays", None)
_operation = Same("`op`", None)
_learns = Same("whether `receive_counts` is given", None)

# What MPI computes of which kinds of numbers; an operation of one's own is taken for what it says it is.
_kinds = [(MPI.SUM, "iufc"), (MPI.PROD, "iufc"), (MPI.MAX, "iuf"), (MPI.MIN, "iuf"), (MPI.LAND, "biu"),
          (MPI.LOR, "biu"), (MPI.LXOR, "biu"), (MPI.BAND, "iu"), (MPI.BOR, "iu"), (MPI.BXOR, "iu")]


def algorithms() -> dict[str, dict[str, str]]:
    """Local. The settings of a communicator by name, and for each the algorithms that there are, with what they do."""
    return {setting: dict(words) for setting, words in core.algorithms().items()}


def _operation_code(op: MPI.Op, kind: np.dtype[Any]) -> int:
    if not isinstance(op, MPI.Op):
        raise TypeError(f"op is a {type(op).__name__}, where an operation of mpi4py is needed, such as MPI.SUM")
    if op == MPI.OP_NULL:
        raise make("invalid_argument", "op is MPI.OP_NULL, which computes nothing")
    if not core.has_number_type(kind.kind, kind.itemsize):
        raise TypeError(f"MPI computes nothing of {kind}: convert the values to another type")
    if op.is_predefined and not any(op == known and kind.kind in kinds for known, kinds in _kinds):
        raise TypeError(f"this operation of MPI is not for values of {kind}")
    return int(op.py2f()) if op.is_predefined else -1


def allreduce(values: ArrayLike, op: MPI.Op = MPI.SUM, comm: AnyComm = None, *,
              algorithm: str | None = None) -> NDArray[Any]:
    """Collective. The values of all ranks combined by `op`, element by element, on every rank.

    values: an array of any shape, or a number; the same shape and type on every rank. Returns a new one like it.
    op: MPI.SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR, BXOR, or one made by MPI.Op.Create(). One that does not
        commute is computed by MPI's own algorithm; with algorithm "node_aware" it is an UnsupportedError.
    By "node_aware" the result has the same bits on all ranks, and a vector longer than 8,192 bytes goes in pieces.
    """
    communicator = communicator_of(comm)

    def prepare() -> tuple[Any, list[int | None]]:
        array = numbers(values, "values")
        said = [code_of(array), zlib.crc32(repr(array.shape).encode()), _operation_code(op, array.dtype),
                algorithm_code("allreduce", algorithm)]
        return (array, np.empty_like(array)), said

    (array, result), _ = agree(communicator, [numbers_type, _shape, _operation, algorithm_name], prepare)
    core.allreduce(communicator._core, bytes_of(array), bytes_of(result), array.dtype.kind, array.dtype.itemsize,
                   op.py2f(), algorithm or "")
    return result[()]  # type: ignore[no-any-return]


def allgather(values: ArrayLike, comm: AnyComm = None, *, algorithm: str | None = None) -> NDArray[Any]:
    """Collective. The values of all P ranks, on every rank: shape (P, *values.shape), by rank.

    values: an array of any shape, or a number; the same shape and type on every rank.
    By "node_aware" every array enters each node once.
    """
    communicator = communicator_of(comm)
    size = communicator.size

    def prepare() -> tuple[Any, list[int | None]]:
        array = numbers(values, "values")
        said = [code_of(array), zlib.crc32(repr(array.shape).encode()), algorithm_code("allgather", algorithm)]
        return (array, np.empty((size, *array.shape), array.dtype)), said

    (array, result), _ = agree(communicator, [numbers_type, _shape, algorithm_name], prepare)
    counts = np.full(size, array.size, dtype=np.int64)
    core.allgatherv(communicator._core, bytes_of(array), bytes_of(result), counts, starts_of(counts)[:-1],
                    array.dtype.itemsize, algorithm or "")
    return result  # type: ignore[no-any-return]


def allgatherv(values: ArrayLike, comm: AnyComm = None, *, algorithm: str | None = None) -> Messages:
    """Collective. The values of all ranks, of any lengths, on every rank: one message a rank.

    values: shape (k,), with k as it comes on each rank; one type of numbers, on which a rank without any has no say.
    Lengths are gathered before, and the room agreed on: two collective calls more than allgather().
    """
    communicator = communicator_of(comm)

    def prepare() -> tuple[Any, list[int | None]]:
        array = one_dimensional(values, "values")
        return array, [code_of(array), algorithm_code("allgather", algorithm)]

    array, said = agree(communicator, [numbers_type, algorithm_name], prepare)
    kind = type_of(said[0], array.dtype)
    counts = np.array(communicator._core.gather_all(array.size), dtype=np.int64)
    starts = starts_of(counts)
    result = communicator.collectively(lambda: np.empty(starts[-1], kind))
    core.allgatherv(communicator._core, bytes_of(array), bytes_of(result), counts, starts[:-1], kind.itemsize,
                    algorithm or "")
    return Messages(np.arange(communicator.size, dtype=np.int32), starts, result)


def alltoall(values: ArrayLike, comm: AnyComm = None, *, algorithm: str | None = None) -> NDArray[Any]:
    """Collective. Sends values[r] to rank r of P; returns an array of the same shape with what rank r sent at [r].

    values: shape (P, ...), the same on every rank, as is the type. `algorithm` is one of the setting "alltoallv".
    By "node_aware" there is one message between nodes for each pair of them and each direction.
    """
    communicator = communicator_of(comm)
    size = communicator.size

    def prepare() -> tuple[Any, list[int | None]]:
        array = numbers(values, "values")
        if array.ndim == 0 or array.shape[0] != size:
            raise make("invalid_argument", f"values has shape {array.shape}, where a block for each of {size} ranks is "
                                           f"needed: ({size}, ...)")
        said = [code_of(array), zlib.crc32(repr(array.shape).encode()), algorithm_code("alltoallv", algorithm)]
        return (array, np.empty_like(array)), said

    (array, result), _ = agree(communicator, [numbers_type, _shape, algorithm_name], prepare)
    counts = np.full(size, array.size // size, dtype=np.int64)
    _alltoallv(communicator, array, counts, result, counts, algorithm)
    return result  # type: ignore[no-any-return]


def alltoallv(data: ArrayLike, counts: ArrayLike, comm: AnyComm = None, *, receive_counts: ArrayLike | None = None,
              algorithm: str | None = None) -> Messages:
    """Collective. Sends counts[r] items to rank r of P; returns what each rank has sent: one message a rank.

    data: shape (sum(counts),), of one type of numbers, on which a rank without items has no say: the items for rank
        0, then those for rank 1, and so on.
    counts: shape (P,). receive_counts: likewise how many come from each rank, given by every rank or by none. Otherwise
        they are sent before: an alltoall of one number more. The room for what arrives is one reduction more.
    Where most of the blocks are empty, alltoallv_crs() sends fewer messages.
    """
    communicator = communicator_of(comm)
    size = communicator.size

    def prepare() -> tuple[Any, list[int | None]]:
        array = one_dimensional(data, "data")
        sent = checked_counts(counts, size, len(array))
        known = None if receive_counts is None else checked_counts(receive_counts, size, -1, "receive_counts")
        return (array, sent, known), [code_of(array), algorithm_code("alltoallv", algorithm), int(known is None)]

    (array, sent, known), said = agree(communicator, [numbers_type, algorithm_name, _learns], prepare)
    kind = type_of(said[0], array.dtype)
    if known is None:
        one, known = np.ones(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        _alltoallv(communicator, sent, one, known, one, algorithm)
    starts = starts_of(known)
    result = communicator.collectively(lambda: np.empty(starts[-1], kind))
    _alltoallv(communicator, array.astype(kind, copy=False), sent, result, known, algorithm)
    return Messages(np.arange(size, dtype=np.int32), starts, result)


def _alltoallv(communicator: Communicator, data: NDArray[Any], counts: NDArray[np.int64], result: NDArray[Any],
               receive_counts: NDArray[np.int64], algorithm: str | None) -> None:
    core.alltoallv(communicator._core, bytes_of(data), counts, starts_of(counts)[:-1], bytes_of(result), receive_counts,
                   starts_of(receive_counts)[:-1], result.dtype.itemsize, algorithm or "")
