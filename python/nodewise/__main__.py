"""The command line: `nodewise ...` or `python -m nodewise ...`, under mpiexec on many ranks."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from typing import Any


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["report"]:
        return int(importlib.import_module("nodewise.report").main(words[1:]) or 0)
    try:
        from nodewise._load import core
    except ImportError as error:
        print(f"nodewise: {error}", file=sys.stderr)
        return 70
    from mpi4py import MPI

    world = core.make_communicator(MPI.COMM_WORLD.py2f(), [])
    page, words = _page_of(words)
    if page is None:
        return int(core.run_main(world, words))
    return _run_with_page(core, world, words, page)


def _page_of(words: list[str]) -> tuple[str | None, list[str]]:
    """The file that --report names, and the words without it."""
    for k, word in enumerate(words):
        if word == "--report" and k + 1 < len(words):
            return words[k + 1], words[:k] + words[k + 2:]
        if word.startswith("--report="):
            return word[len("--report="):], words[:k] + words[k + 1:]
    return None, words


def _run_with_page(core: Any, world: Any, words: list[str], page: str) -> int:
    """Runs a command that writes a report, then makes the page of it."""
    with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
        given = [word[len("--json="):] for word in words if word.startswith("--json=")]
        given += [words[k + 1] for k, word in enumerate(words[:-1]) if word == "--json"]
        path = given[0] if given else os.path.join(folder, "report.json")
        more = [] if given else [f"--json={path}"]
        code = int(core.run_main(world, [*words, *more]))
        if world.rank != 0 or not os.path.exists(path):
            return code
        try:
            importlib.import_module("nodewise.report").write_page([path], page)
        except ImportError as error:
            print(f'nodewise: --report needs `pip install "nodewise[report]"` ({error})', file=sys.stderr)
            return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
