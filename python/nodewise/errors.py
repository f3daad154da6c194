"""What Nodewise raises: one class for each kind of error, each also of the class that Python has for it."""

from __future__ import annotations


class Error(Exception):
    """Any error of Nodewise; `code` is the kind, in one word. Every rank raises the same."""

    code = "internal"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.code, str(self))


class OptionError(Error, ValueError):
    """An option that does not exist, or a value outside of its range."""


class MatrixError(Error, ValueError):
    """A matrix that the method cannot treat, or shapes that do not fit each other."""


class FileError(Error, OSError):
    """A file that is missing, cannot be read or written, or breaks its format."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, or would have, or there are too many rows for their index."""


class UnsupportedError(Error, NotImplementedError):
    """The MPI library or the machine lacks what was asked for."""


class InternalError(Error, RuntimeError):
    """A call of MPI failed, or Nodewise has a defect."""


def _again(kind: type[Error], code: str, text: str) -> Error:
    """The same error, on a rank that it travelled to."""
    error = kind(text)
    error.code = code
    return error


class ConvergenceWarning(UserWarning):
    """A solve ended without reaching its tolerance, and nobody asked how it went."""


_classes: dict[str, type[Error]] = {
    "invalid_argument": OptionError,
    "unknown_option": OptionError,
    "usage": OptionError,
    "dimension_mismatch": MatrixError,
    "unsuitable_matrix": MatrixError,
    "file_not_found": FileError,
    "file_io": FileError,
    "file_format": FileError,
    "input_file": FileError,
    "output_file": FileError,
    "out_of_memory": OutOfMemoryError,
    "index_overflow": OutOfMemoryError,
    "memory": OutOfMemoryError,
    "unsupported": UnsupportedError,
}


def make(code: str, text: str) -> Error:
    """The error of a kind; `_core` calls it for those of the library."""
    error = _classes.get(code, InternalError)(text)
    error.code = code
    return error
