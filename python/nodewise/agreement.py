"""What ranks agree on before data travels: that none of them failed, and numbers that must be the same on all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from nodewise._load import core
from nodewise.communicator import Communicator
from nodewise.errors import make

T = TypeVar("T")

_unsaid = 2**63 - 1  # of a rank that has no say

Said = Sequence[Optional[int]]


class Same(NamedTuple):
    """A number that must be the same on every rank that has a say: what it is, and how it is written."""

    what: str
    text: Callable[[int], str] | None = str


def agree(communicator: Communicator, same: Sequence[Same], prepare: Callable[[], tuple[T, Said]]) -> tuple[T, Said]:
    """Collective. The result of local work, and what the ranks say in common of each of `same`, None where none says.

    One reduction of 1 + 2 len(same) numbers; none on one rank. Raises on every rank the exception of the lowest rank
    whose work raised one, else OptionError where two ranks differ.
    """
    if communicator.size == 1:
        return prepare()
    failure: BaseException | None = None
    result: Any = None
    said: Said = [None] * len(same)
    try:
        result, said = prepare()
    except Exception as error:
        failure = error
    numbers = [communicator.size if failure is None else communicator.rank]
    for number in said:
        numbers += [_unsaid, _unsaid] if number is None else [number, -number]
    least = core.least(communicator._core, numbers)
    if least[0] < communicator.size:
        communicator.raise_that_of(least[0], failure)
    common = []
    for one, low, minus_high in zip(same, least[1::2], least[2::2]):
        if low != _unsaid and low != -minus_high:
            values = "" if one.text is None else f": {one.text(low)} and {one.text(-minus_high)}"
            raise make("invalid_argument", f"the ranks differ in {one.what}{values}")
        common.append(None if low == _unsaid else low)
    return result, common


def numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of numbers in one piece, in the machine's order of bytes: itself where it is one."""
    array = np.asarray(values)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{what} holds {array.dtype}, where numbers are needed")
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def code_of(array: NDArray[Any]) -> int | None:
    """The type of an array's numbers; an empty one has no say."""
    return ord(array.dtype.kind) * 256 + array.dtype.itemsize if array.size else None


def type_of(code: int | None, own: DTypeLike) -> np.dtype[Any]:
    """The type that the ranks agree on; where all arrays are empty, this rank's own."""
    return np.dtype(own) if code is None else np.dtype(f"{chr(code // 256)}{code % 256}")


def algorithm_code(setting: str, algorithm: str | None) -> int:
    if algorithm is None:
        return 0
    if not isinstance(algorithm, str):
        raise TypeError(f"algorithm is a {type(algorithm).__name__}, where the name of one is needed")
    return 1 + int(core.find_algorithm(setting, algorithm))


def bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


numbers_type = Same("the type of their numbers", lambda code: str(type_of(code, np.float64)))
algorithm_name = Same("`algorithm`", None)
