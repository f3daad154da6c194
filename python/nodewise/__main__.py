"""The command line: `nodewise ...` or `python -m nodewise ...`, under mpiexec on many ranks."""

from __future__ import annotations

import importlib
import sys


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
    with_page = importlib.import_module("nodewise.report").with_page
    return int(with_page(words, lambda given: int(core.run_main(world, given)), world.rank == 0))


if __name__ == "__main__":
    sys.exit(main())
