"""Model problems: `nodewise.gallery.laplace27(40)`, `nodewise.gallery.rotated_fe(1000, comm=comm)` and others.

`nodewise.gallery.problems()` says what there is. All take `n`, the points in each direction (`laplace7` and `laplace27`
also three numbers), and the options that are the problem's own, as `nodewise solve --problem` does. `right_hand_side`
is that which belongs to one, for those which have it.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from nodewise._load import core
from nodewise.communicator import AnyComm, communicator_of
from nodewise.matrix import Matrix
from nodewise.keywords import Option, as_text


class Problem(Protocol):
    """A model problem: makes its matrix, each rank its own rows; collective."""

    def __call__(self, n: int | tuple[int, int, int] = ..., comm: AnyComm = ..., **options: object) -> Matrix: ...


def problems() -> dict[str, str]:
    """The names of the model problems, and what they are."""
    return {str(entry["name"]): str(entry["summary"]) for entry in core.problems()}


def generate(
    problem: str, n: int | tuple[int, int, int] = 32, comm: AnyComm = None, **options: object
) -> Matrix:
    """Collective. A model problem by its name; the matrix of one with rigid body modes knows its coordinates."""
    communicator = communicator_of(comm)
    values = communicator.collectively(lambda: as_text({"problem": problem, "n": n, **options}))
    made = Matrix(core.generate(communicator._core, values), communicator)
    points = core.coordinates(made._core, values)
    if len(points):
        unknowns = _unknowns[problem]
        made.coordinates = points.reshape(-1, unknowns)
        made.block_size = unknowns
    return made


def right_hand_side(A: Matrix, problem: str, n: int | tuple[int, int, int] = 32, **options: object) -> NDArray[Any]:
    """Collective. This rank's part of the right-hand side that belongs to a model problem, for the matrix that
    `generate` made by the same arguments; an error where the problem has none."""
    values = A.communicator.collectively(lambda: as_text({"problem": problem, "n": n, **options}))
    made: NDArray[Any] = core.own_right_hand_side(A._core, values)
    return made


def _maker(problem: str, entry: dict[str, Any]) -> Problem:
    def make(n: int | tuple[int, int, int] = 32, comm: AnyComm = None, **options: object) -> Matrix:
        return generate(problem, n, comm, **options)

    lines = [f"    {Option(one)!r}" for one in entry["options"] if one["name"] != "problem"]
    make.__name__ = make.__qualname__ = problem
    make.__doc__ = f"Collective. {entry['summary']}\n\nOptions:\n\n" + "\n".join(lines)
    return make


_unknowns = {str(entry["name"]): int(entry["unknowns"]) for entry in core.problems()}
_makers = {str(entry["name"]): _maker(str(entry["name"]), entry) for entry in core.problems()}


def __getattr__(name: str) -> Problem:
    if name in _makers:
        return _makers[name]
    import difflib

    near = difflib.get_close_matches(name, list(_makers), 1, 0.5)
    raise AttributeError(f"there is no model problem `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))


def __dir__() -> list[str]:
    return ["generate", "problems", "right_hand_side", *_makers]
