"""Files that are complete or absent."""

import os
import tempfile

from .documents import ReportError


def write_whole(path, text):
    """Writes beside the final name and renames, as nodewise does with its reports."""
    folder = os.path.dirname(os.path.abspath(path))
    unfinished = None
    try:
        handle, unfinished = tempfile.mkstemp(prefix=".nodewise-", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(unfinished, 0o666 & ~mask)
        os.replace(unfinished, path)
    except OSError as error:
        if unfinished and os.path.exists(unfinished):
            os.unlink(unfinished)
        raise ReportError(f"{path} cannot be written: {error.strerror}", "output") from None
