"""Running the command line under MPI.

The environment says what to test: NODEWISE_CLI is the program, NODEWISE_MPIEXEC the launcher with
its fixed arguments (the number of ranks is added behind as `-n P`), NODEWISE_SOURCE_DIR the
repository.
"""

import os
import pathlib
import shlex
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("NODEWISE_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
PROGRAM = os.environ.get("NODEWISE_CLI", str(SOURCE / "build" / "cli" / "nodewise"))
OPEN_MPI = "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
LAUNCHER = shlex.split(os.environ.get("NODEWISE_MPIEXEC", OPEN_MPI))
TIMEOUT_S = 180  # far more than any of these runs takes, on a busy machine too: a run that needs it hangs


class Result:
    """What a run ended with."""

    def __init__(self, completed):
        self.code = completed.returncode
        self.out = completed.stdout.decode()  # carriage returns and all
        # Launchers add remarks of their own; those of the program begin with its name.
        self.err = completed.stderr.decode(errors="replace")
        self.messages = [
            line for line in self.err.splitlines() if line.startswith("nodewise: ")
        ]


@pytest.fixture
def nodewise(tmp_path):
    """Runs the program in the test's own folder; a hang fails the test.

    One rank runs without the launcher, as users do; Open MPI's takes two seconds to pass on an
    exit code that is not zero.
    """

    def run(*arguments, ranks=1, prefix=()):
        words = [str(argument) for argument in arguments]
        launch = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []
        command = [*launch, *prefix, PROGRAM, *words]
        completed = subprocess.run(
            command, cwd=tmp_path, capture_output=True, timeout=TIMEOUT_S, check=False
        )
        return Result(completed)

    return run


@pytest.fixture
def source():
    return SOURCE


def write_market(path, rows, cols, entries, symmetry="general"):
    """A coordinate file from (i, j, value), counted from 1."""
    lines = [f"%%MatrixMarket matrix coordinate real {symmetry}", f"{rows} {cols} {len(entries)}"]
    lines += [f"{i} {j} {value!r}" for i, j, value in entries]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_vector(path, values):
    """An array file of one column."""
    lines = ["%%MatrixMarket matrix array real general", f"{len(values)} 1"]
    path.write_text("\n".join(lines + [repr(float(v)) for v in values]) + "\n")
    return path


def read_vector(path):
    """The values of an array file of one column."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    values = [float(word) for line in lines[1:] for word in line.split()]
    assert lines[0].split() == [str(len(values)), "1"]
    return values


def expect_same_products(inspected, solved, route):
    """The products on virtual ranks send what those of real ranks do, level by level."""
    counted, real = inspected["virtual_ranks"]["levels"], solved["hierarchy"]["levels"]
    assert len(real) == len(counted) > 2
    for there, here in zip(real, counted):
        assert there["active_ranks"] == here["active_ranks"]
        for place in ["on_node", "off_node"]:
            volume = here["product"][route][place]
            assert there["product_traffic"][f"messages_{place}"] == volume["messages"]
            assert there["product_traffic"][f"bytes_{place}"] == volume["bytes"]


def laplacian(n):
    """Entries of the 1-D Laplacian."""
    entries = []
    for i in range(1, n + 1):
        if i > 1:
            entries.append((i, i - 1, -1.0))
        entries.append((i, i, 2.0))
        if i < n:
            entries.append((i, i + 1, -1.0))
    return entries
