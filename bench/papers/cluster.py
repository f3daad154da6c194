"""Runs a program on an emulated cluster: several nodes on this machine, joined by links of known latency, rate and gap.

The cluster tool is in ../shared/tools/cluster, or where NODEWISE_CLUSTER_TOOL says, and needs root.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from study import ROOT

TOOL = pathlib.Path(os.environ.get("NODEWISE_CLUSTER_TOOL", ROOT.parent / "shared" / "tools" / "cluster"))
LINKS = ["--latency", "5ms", "--rate", "1gbit", "--gap", "500us"]
ASSUMPTION = ("Nodes are emulated on one machine of two cores, joined by links of 5 ms latency, 1 Gbit/s and a gap of 0.5 ms for every "
              "message of a node: about a thousand times slower than a cluster, so that the links decide, not the cores. "
              "Open MPI over TCP. Ratios are what is to be read.")


class Cluster:
    """So many nodes; a context manager."""

    def __init__(self, nodes):
        if not (TOOL / "cluster").exists():
            sys.exit(f"NOT RUN: there is no cluster tool in {TOOL}; NODEWISE_CLUSTER_TOOL names its folder")
        self.nodes = nodes
        self.folder = tempfile.TemporaryDirectory()
        self.tool = pathlib.Path(self.folder.name) / "cluster"
        self.name = "papers"

    def __enter__(self):
        shutil.copytree(TOOL, self.tool)
        subprocess.run(["make", "-s", "-C", self.tool], check=True, stdout=sys.stderr)
        self.call("up", "--nodes", str(self.nodes), *LINKS)
        return self

    def __exit__(self, *_):
        self.call("down")
        self.folder.cleanup()

    def call(self, *words, **options):
        return subprocess.run([self.tool / "cluster", "--name", self.name, *words], check=True,
                              **{"stdout": sys.stderr, **options})

    def lines(self, study, ranks_per_node, name, *words):
        """Runs a program that writes a JSON object a line."""
        print(f"{self.nodes} emulated nodes, {ranks_per_node} ranks each:", name, *words, file=sys.stderr, flush=True)
        done = self.call("run", "--ppn", str(ranks_per_node), "--timeout", "3000", "--", study.program(name), *map(str, words),
                         stdout=subprocess.PIPE, text=True)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
