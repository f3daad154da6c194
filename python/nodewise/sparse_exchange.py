"""Sparse dynamic data exchange: every rank knows whom it sends to, none knows who sends to it.

Each function is collective. `algorithm` is one of `nodewise.algorithms()["sparse_exchange"]`, the same on every rank;
without it the communicator's setting holds, which is automatic unless `Communicator(sparse_exchange=...)` says
otherwise. Messages: those of the algorithm (docs/sparse-exchange.md), and one reduction of a few numbers before, in
which the ranks compare the types of their numbers and learn of exceptions. Every rank raises the same: OptionError
(a ValueError) for a destination outside of the communicator or named twice, for lengths that do not fit each other,
for ranks that differ in type or algorithm; TypeError for what holds no numbers; OutOfMemoryError.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nodewise._load import core
from nodewise.agreement import Same, agree, algorithm_code, algorithm_name, bytes_of, code_of, numbers, numbers_type
from nodewise.agreement import type_of
from nodewise.communicator import AnyComm, communicator_of
from nodewise.errors import make
from nodewise.messages import Messages

_length = Same("the length of their messages")


def _whole_numbers(values: ArrayLike, what: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise make("invalid_argument", f"{what} has {array.ndim} dimensions, where 1 is needed")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{what} holds {array.dtype}, where whole numbers are needed")
    return array.astype(np.int64)


def _ranks(values: ArrayLike, size: int) -> NDArray[np.int32]:
    ranks = _whole_numbers(values, "destinations")
    outside = ranks[(ranks < 0) | (ranks >= size)]
    if outside.size:
        raise make("invalid_argument", f"destination {outside[0]} of a communicator of {size} ranks")
    return ranks.astype(np.int32)


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of blocks of these lengths begins, and the end."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def checked_counts(values: ArrayLike, blocks: int, items: int, what: str = "counts") -> NDArray[np.int64]:
    """The lengths of so many blocks that `items` items are split into; any number of items where that is below 0."""
    counts = _whole_numbers(values, what)
    if len(counts) != blocks:
        raise make("invalid_argument", f"{what} has {len(counts)} numbers, where {blocks} are needed")
    if (counts < 0).any():
        raise make("invalid_argument", f"{what} has {np.min(counts)}, where 0 or more is needed")
    if items >= 0 and counts.sum() != items:
        raise make("invalid_argument", f"{what} has {counts.sum()} items in all, where there are {items}")
    return counts


def one_dimensional(values: ArrayLike, what: str) -> NDArray[Any]:
    array = numbers(values, what)
    if array.ndim != 1:
        raise make("invalid_argument", f"{what} has {array.ndim} dimensions, where 1 is needed")
    return array


def alltoallv_crs(destinations: ArrayLike, counts: ArrayLike, data: ArrayLike, comm: AnyComm = None, *,
                  algorithm: str | None = None) -> Messages:
    """Collective. Sends counts[i] items to rank destinations[i], and returns the Messages that arrived here.

    destinations: shape (n,), ranks of `comm`, each at most once, in any order, this rank allowed; n may be 0.
    counts: shape (n,); an empty message arrives, too.
    data: shape (sum(counts),), of any type of numbers, read in place where it is contiguous: the items for
        destinations[0], then those for destinations[1], and so on. A rank without items has no say on the type.
    """
    communicator = communicator_of(comm)

    def prepare() -> tuple[Any, list[int | None]]:
        items = one_dimensional(data, "data")
        ranks = _ranks(destinations, communicator.size)
        offsets = starts_of(checked_counts(counts, len(ranks), len(items)))
        return (ranks, offsets, items), [code_of(items), algorithm_code("sparse_exchange", algorithm)]

    (ranks, offsets, items), said = agree(communicator, [numbers_type, algorithm_name], prepare)
    kind = type_of(said[0], items.dtype)
    sources, starts, received = core.exchange_messages(communicator._core, ranks, offsets, bytes_of(items),
                                                       kind.itemsize, -1, algorithm or "")
    return Messages(sources, starts, received.view(kind))


def alltoall_crs(destinations: ArrayLike, data: ArrayLike, comm: AnyComm = None, *,
                 algorithm: str | None = None) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Collective. Sends row i of `data` to rank destinations[i]; returns the ranks of the m rows that arrived, and them.

    destinations: shape (n,), as in alltoallv_crs().
    data: shape (n, length), the same length on every rank that sends anything, of any type of numbers.
    Returns arrays of shapes (m,), ascending, and (m, length). With algorithm "rma" a rank holds a message for each
    rank of the communicator during the call.
    """
    communicator = communicator_of(comm)

    def prepare() -> tuple[Any, list[int | None]]:
        rows = numbers(data, "data")
        ranks = _ranks(destinations, communicator.size)
        if rows.ndim != 2 and rows.size:
            raise make("invalid_argument", f"data has {rows.ndim} dimensions, where 2 are needed: a row a destination")
        n_rows = rows.shape[0] if rows.ndim else 0
        if n_rows != len(ranks):
            raise make("invalid_argument", f"data has {n_rows} rows for {len(ranks)} destinations")
        length = rows.shape[1] if rows.ndim == 2 and n_rows else None
        return (ranks, rows), [length, code_of(rows), algorithm_code("sparse_exchange", algorithm)]

    (ranks, rows), said = agree(communicator, [_length, numbers_type, algorithm_name], prepare)
    length, kind = said[0] or 0, type_of(said[1], rows.dtype)
    offsets = np.arange(len(ranks) + 1, dtype=np.int64) * length
    sources, _, received = core.exchange_messages(communicator._core, ranks, offsets, bytes_of(rows), kind.itemsize,
                                                  length, algorithm or "")
    return sources, received.view(kind).reshape(len(sources), length)


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    kinds = {array.dtype for array in arrays if array.size}
    if len(kinds) > 1:
        raise make("invalid_argument", f"messages hold {' and '.join(sorted(map(str, kinds)))}, where one type is needed")
    return np.concatenate([array for array in arrays if array.size] or [*arrays[:1], np.zeros(0)][:1])


def exchange(messages: Mapping[int, ArrayLike], comm: AnyComm = None, *,
             algorithm: str | None = None) -> dict[int, NDArray[Any]]:
    """Collective. Sends each rank that is a key of `messages` its array; returns what arrived, by the rank it is from.

    messages: {rank: array of shape (k,)}, with k as it comes, of one type of numbers; {} where nothing is sent.
    Returns the same, ordered by rank, where empty messages are, too. Arrays for several ranks are copied into one
    first, which alltoallv_crs() does without; what arrives is views of one array.
    """
    communicator = communicator_of(comm)

    def prepare() -> tuple[Any, list[int | None]]:
        if not isinstance(messages, Mapping):
            raise TypeError(f"messages is a {type(messages).__name__}, where a dict is needed, of arrays by their ranks")
        ranks = _ranks([operator.index(rank) for rank in messages], communicator.size)
        arrays = [one_dimensional(array, f"the message to rank {rank}") for rank, array in messages.items()]
        items = _joined(arrays)
        offsets = starts_of(np.array([array.size for array in arrays], dtype=np.int64))
        return (ranks, offsets, items), [code_of(items), algorithm_code("sparse_exchange", algorithm)]

    (ranks, offsets, items), said = agree(communicator, [numbers_type, algorithm_name], prepare)
    kind = type_of(said[0], items.dtype)
    sources, starts, received = core.exchange_messages(communicator._core, ranks, offsets, bytes_of(items),
                                                       kind.itemsize, -1, algorithm or "")
    return dict(Messages(sources, starts, received.view(kind)))
