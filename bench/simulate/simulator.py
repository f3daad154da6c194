"""Builds programs for SimGrid's SMPI and runs them on simulated machines; docs/simulation.md."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_TESTED = 77
# No time passes in a look for messages itself: cmake/smpi/polling.cpp lets it pass.
POLLING = ["--cfg=smpi/iprobe:0", "--cfg=smpi/test:0"]
# SMPI's own is linear in the ranks.
COLLECTIVES = ["--cfg=smpi/reduce_scatter:ompi_basic_recursivehalving"]


def find_tools(given=None):
    """The folder of simrun, or None, having said what is missing."""
    if shutil.which("smpirun") is None:
        print("NOT TESTED: SimGrid is not installed (Debian: libsimgrid-dev); nothing is simulated")
        return None
    given = given or os.environ.get("NODEWISE_SIMULATE")
    tools = pathlib.Path(given) if given else ROOT.parent / "shared/tools/simulate"
    if not (tools / "simrun").is_file():
        print(f"NOT TESTED: {tools} has no simrun (NODEWISE_SIMULATE names the folder); nothing is simulated")
        return None
    return tools.resolve()


def build(folder, targets, checks=False):
    """Few and small runs of a check end before optimized code would have been compiled: Clang without optimization takes
    half of the time of GCC with -O1."""
    # All is compiled here: more sources as one share more of the headers.
    flags = "-O0" if checks else "-O3"
    configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_UNITY_BUILD_BATCH_SIZE=32",
                 f"-DCMAKE_CXX_FLAGS_RELEASE={flags} -DNDEBUG", "-DNODEWISE_MPI=smpi"]
    if checks and shutil.which("clang++"):
        configure += ["-DCMAKE_CXX_COMPILER=clang++"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    if shutil.which("ccache"):
        launcher = f"env;CCACHE_BASEDIR={ROOT};CCACHE_NOHASHDIR=1;ccache"
        configure += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
    subprocess.run(configure, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", *targets],
                   check=True, stdout=sys.stderr)


class Simulator:
    """Runs programs; a run that takes more than `limit` seconds on this machine is ended."""

    def __init__(self, tools, folder, limit):
        self.simrun = tools / "simrun"
        self.cache = folder / "platform"  # the platform, compiled once
        self.cache.mkdir(exist_ok=True)
        self.limit = limit

    def execute(self, nodes, cores, parameters, *program, eager=False):
        """The finished process of a program on nodes x cores simulated ranks."""
        command = [self.simrun, *([] if eager else ["-f"]), "-n", nodes, "-c", cores,
                   "-t", self.limit, "-p", parameters, *POLLING, *COLLECTIVES, *program]
        return subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              env={**os.environ, "SIMRUN_CACHE": str(self.cache)})
