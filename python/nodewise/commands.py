"""The commands of the command line as functions: options are keywords, what they return is a `Result`.

Each takes a path, a `Matrix`, or a matrix of SciPy; errors are raised, the same on every rank.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from typing import Any

from nodewise._load import core
from nodewise.communicator import AnyComm, Communicator, communicator_of
from nodewise.errors import Error, OptionError, make
from nodewise.matrix import Matrix, matrix_of
from nodewise.keywords import aliases, documented, text_of
from nodewise.results import Result


def inspect(A: Any, *, comm: AnyComm = None, **options: object) -> Result:
    """Counts what each level sends and receives, on these ranks or on virtual ones (`virtual_ranks`)."""
    return _run("inspect", A, comm, options)


def predict(A: Any, *, ranks: int, machine: str, ranks_per_node: int | None = None, comm: AnyComm = None,
            **options: object) -> Result:
    """Predicts what the levels cost on a machine that is not at hand: `ranks` of it, by a machine file or its name."""
    return _run("predict", A, comm, {"virtual_ranks": ranks, "machine": machine, "ranks_per_node": ranks_per_node,
                                     **options})


def tune(A: Any, *, comm: AnyComm = None, **options: object) -> Result:
    """Tries combinations of options and ranks them by time."""
    return _run("tune", A, comm, options)


def eigen(A: Any, *, comm: AnyComm = None, **options: object) -> Result:
    """Finds eigenpairs of a symmetric matrix."""
    return _run("eigen", A, comm, options)


def calibrate(*, comm: AnyComm = None, **options: object) -> Result:
    """Measures the machine, for predictions."""
    return _run("calibrate", None, comm, options)


def bench(what: str, *, comm: AnyComm = None, **options: object) -> Result:
    """Measures kernels beside the memory's bandwidth, or the overlap of messages."""
    return _run("bench", None, comm, options, [what])


def _run(command: str, A: Any, comm: AnyComm, options: dict[str, object], arguments: list[str] | None = None) -> Result:
    """Collective. Runs a command, and gives every rank the report that rank 0 writes."""
    source = A if A is None or isinstance(A, (str, os.PathLike)) else matrix_of(A)
    communicator = source.communicator if isinstance(source, Matrix) else communicator_of(comm)
    with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
        path = os.path.join(folder, "report.json")

        def prepare() -> list[str]:
            words = [command, *(arguments or []), *_words(command, options), f"--json={path}", "--quiet"]
            if isinstance(source, Matrix):
                words.append(f"{source.shape[0]} x {source.shape[1]} from Python")
            elif source is not None:
                words.append(os.fspath(source))
            return words

        words = communicator.collectively(prepare)
        try:
            if isinstance(source, Matrix):
                core.call_command_on(source._core, words)
            else:
                core.call_command(communicator._core, words)
        except Error as error:
            raise make(error.code, _in_words_of_python(str(error))) from None
        return Result(command, _text_of_root(communicator, path), communicator)


def _text_of_root(communicator: Communicator, path: str) -> str:
    def read() -> bytes:
        if communicator.rank != 0:
            return b""
        with open(path, "rb") as file:
            return file.read()

    data = communicator.collectively(read)
    return bytes(communicator._core.broadcast(data, 0)).decode("utf-8")


def _words(command: str, options: dict[str, object]) -> list[str]:
    """Options as words of the command line."""
    known = {str(entry["name"]): entry for entry in core.command_options(command)}
    words = []
    for given, value in options.items():
        name = aliases.get(given, given).replace("_", "-")
        if value is None:
            continue
        if name not in known:
            raise OptionError(_no_such(command, given, list(known)))
        if known[name]["type"] == "flag":
            words += [f"--{name}"] if value else []
        else:
            words.append(f"--{name}={text_of(given, value)}")
    return words


def _no_such(command: str, name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, [one.replace("-", "_") for one in known], 1, 0.5)
    return f"nodewise.{command}() has no option `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")


def _in_words_of_python(text: str) -> str:
    """`--max-levels` as `max_levels`."""
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda found: "`" + found.group(1).replace("-", "_") + "`", text)


def _document(functions: list[Callable[..., Result]]) -> None:
    for function in functions:
        function.__doc__ = documented(function.__doc__ or "", function.__name__)


_document([inspect, predict, tune, eigen, calibrate, bench])
