"""The build of the library, and its threads."""

from __future__ import annotations

from nodewise._load import core


def build_info() -> dict[str, str]:
    """Version, commit, compiler and options of the library."""
    return dict(core.build_info())


def set_threads(threads: int) -> None:
    """Local. From now on loops of this rank run on so many threads; one, unless this says more."""
    if threads < 1:
        raise ValueError(f"{threads} threads, where one at least is needed")
    core.set_threads(threads)
