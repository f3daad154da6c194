"""Messages that arrived: of any lengths, in one array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Messages:
    """Messages of any lengths: number i came from `ranks[i]` and is `data[offsets[i]:offsets[i + 1]]`.

    `len()` is their number, `messages[i]` number i as a view; a loop gives (rank, message), ordered by rank.
    `ranks` has shape (n,), `offsets` (n + 1,), `data` all items one after the other.
    """

    def __init__(self, ranks: NDArray[np.int32], offsets: NDArray[np.int64], data: NDArray[Any]) -> None:
        self.ranks = ranks
        self.offsets = offsets
        self.data = data

    def __len__(self) -> int:
        return len(self.ranks)

    def __getitem__(self, i: int) -> NDArray[Any]:
        k = range(len(self))[i]
        return self.data[self.offsets[k]:self.offsets[k + 1]]

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]:
        for i, rank in enumerate(self.ranks.tolist()):
            yield rank, self[i]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The items of each message."""
        return np.diff(self.offsets)

    def __repr__(self) -> str:
        return f"<nodewise.Messages: {len(self)} messages, {len(self.data)} of {self.data.dtype} in all>"
