"""What the commands of this folder share: each asks what one figure or table of a paper asks, and says what it found
beside what the paper says.

A command defines a function of a `Study`, which runs programs, adds tables, and judges the paper's statements by
numbers that it computed, and calls `run(function, ...)`. It writes Markdown to standard output; options:

  --small            a problem of seconds, for exact counts
  --programs DIR     the build folder with the programs (default build)
  --json FILE        everything, as data
  --plot FILE        an SVG (needs matplotlib)
  --update           all of it, at full size, into docs/papers/, from which bench/papers/page makes docs/papers.md
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs" / "papers"
MATRICES = ROOT.parent / "shared" / "data" / "matrices"

# How an answer was come by. A prediction is never called a measurement.
COUNTED = "counted"      # exact: messages, bytes, iterations, nonzeros
PREDICTED = "predicted"  # times by formulas, from exact counts
SIMULATED = "simulated"  # times by an event simulation, from exact counts
MEASURED = "measured"    # times, of this machine, side by side in one run

HOLDS, PART, FAILS = "holds", "holds in part", "does not hold"

PAPERS = {
    "thesis": "Bienz, *Reducing communication in sparse solvers*, 2018",
    "slides": "Bienz, slides on locality-aware data movement",
    "dragonfly": "Gahvari, Gropp, Jordan, Schulz, Yang, *Algebraic multigrid on a dragonfly network*, 2014",
    "exchange": "Geyko, Collom, Schafer, Bridges, Bienz, *A more scalable sparse dynamic data exchange*, 2024",
    "hybrid": "Schubert, Hager, Fehske, Wellein, *Hybrid-parallel sparse matrix-vector multiplication*, 2011",
}


class Study:
    """One question: what was found, and what the paper says."""

    def __init__(self, arguments, **facts):
        self.small = arguments.small
        self.programs = pathlib.Path(arguments.programs)
        self.draw = None  # a function of matplotlib's pyplot
        self.data = {**facts, "size": "small" if self.small else "full", "assumptions": [], "statements": [],
                     "tables": [], "plot": None}

    def assume(self, *texts):
        """What a reader has to know of how it was done."""
        self.data["assumptions"] += texts

    def table(self, caption, columns, rows):
        """Cells are numbers or text; `format_cell` writes them."""
        self.data["tables"].append({"caption": caption, "columns": list(columns), "rows": [list(row) for row in rows]})

    def judge(self, statement, holds, numbers, part=False):
        """The paper's statement; whether it holds here, or holds in part; and the numbers that say so."""
        verdict = HOLDS if holds else PART if part else FAILS
        self.data["statements"].append({"paper": statement, "here": verdict, "numbers": numbers})

    def plot(self, draw):
        """`draw(pyplot)` returns a figure."""
        self.draw = draw

    def program(self, name):
        """The path of a program below the build folder."""
        path = self.programs / name
        if not path.exists():
            sys.exit(f"{pathlib.Path(sys.argv[0]).name}: there is no {path}; configure with -DNODEWISE_BUILD_BENCH=ON, "
                     "build, and name the build folder by --programs")
        return str(path)

    def lines(self, name, *words):
        """Runs a program that writes a JSON object a line."""
        return [json.loads(line) for line in self.text(name, *words).splitlines() if line.startswith("{")]

    def lines_on_ranks(self, n_ranks, name, *words):
        """Likewise on ranks of MPI, which share this machine."""
        return [json.loads(line) for line in self.text(name, *words, before=[*launcher(), "-n", str(n_ranks)]).splitlines()
                if line.startswith("{")]

    def text(self, name, *words, before=()):
        command = [*before, self.program(name), *map(str, words)]
        print(" ".join([*before, name, *map(str, words)]), file=sys.stderr, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{pathlib.Path(sys.argv[0]).name}: failed: {' '.join(command)}")
        return done.stdout


def kept(words, make):
    """What `make(path)` writes as JSON. A folder that NODEWISE_KEPT_RUNS names keeps it by the words of the command, and gives what
    it has: for runs of half an hour whose numbers do not depend on when they are made. It is to be emptied when programs change."""
    folder = os.environ.get("NODEWISE_KEPT_RUNS")
    with tempfile.TemporaryDirectory() as passing:
        path = pathlib.Path(folder or passing) / f"{hashlib.sha256(' '.join(map(str, words)).encode()).hexdigest()[:16]}.json"
        if not path.exists():
            unfinished = path.with_suffix(".part")
            make(unfinished)
            unfinished.rename(path)
        return json.loads(path.read_text(encoding="utf-8"))


def launcher():
    """NODEWISE_MPIEXEC, or what is here."""
    given = os.environ.get("NODEWISE_MPIEXEC")
    if given:
        return given.split()
    open_mpi = shutil.which("mpiexec.openmpi")
    return [open_mpi, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if open_mpi else ["mpiexec"]


def select(rows, **facts):
    """The rows with these values."""
    return [row for row in rows if all(row[key] == value for key, value in facts.items())]


def in_order(rows, key):
    """The values that a key has, each once."""
    return list(dict.fromkeys(row[key] for row in rows))


def format_cell(cell):
    if isinstance(cell, bool) or not isinstance(cell, float):
        return f"{cell:,}" if isinstance(cell, int) else str(cell)
    if cell == 0 or 1e-3 <= abs(cell) < 1e6:
        return f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:,.0f}"
    return f"{cell:.2e}"


def table_text(table):
    def line(cells):
        return "| " + " | ".join(cells) + " |"

    numeric = [all(isinstance(row[k], (int, float)) for row in table["rows"]) for k in range(len(table["columns"]))]
    lines = [line(table["columns"]), line(["---:" if n else "---" for n in numeric])]
    lines += [line(map(format_cell, row)) for row in table["rows"]]
    return "\n".join([table["caption"] + ":", "", *lines])


def section(data, level=3):
    """Markdown: the question, the answer, the paper's statements, then the tables."""
    parts = [f"{'#' * level} {data['title']} ({data['figure']})",
             f"{data['question']} `bench/papers/{data['command']}`: {', '.join(data['kinds'])}."]
    if data["statements"]:
        rows = [[s["paper"], f"**{s['here']}**", s["numbers"]] for s in data["statements"]]
        parts.append(table_text({"caption": "What the paper says", "columns": ["the paper", "here", "numbers"],
                                 "rows": rows}))
    if data["plot"]:
        parts.append(f"![{data['title']}]({data['plot']})")
    parts += [table_text(table) for table in data["tables"]]
    if data["assumptions"]:
        parts.append("\n".join(f"- {text}" for text in data["assumptions"]))
    return "\n\n".join(parts) + "\n"


def plain_log(axis, which="y"):
    """A logarithmic axis with numbers as people write them: 1, 2, 5, 10 ..."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    getattr(axis, f"set_{which}scale")("log")
    place = getattr(axis, f"{which}axis")
    place.set_major_locator(LogLocator(subs=(1, 2, 5)))
    place.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    place.set_minor_formatter(NullFormatter())


def save_plot(draw, path):
    try:
        import matplotlib
    except ImportError:
        print("NOTE: no plot is drawn, for want of matplotlib.", file=sys.stderr)
        return False
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "nodewise", "axes.grid": True, "grid.alpha": 0.3, "font.size": 9,
                                "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
    import matplotlib.pyplot as pyplot
    draw(pyplot).savefig(path, bbox_inches="tight", metadata={"Date": None})
    return True


def run(function, *, paper, figure, title, question, kinds, order):
    """Runs a command. `paper` is a key of PAPERS, `order` its place on the page of that paper."""
    command = pathlib.Path(sys.argv[0]).name
    parser = argparse.ArgumentParser(prog=command, description=f"{title} ({PAPERS[paper]}, {figure}). {question}")
    parser.add_argument("--small", action="store_true", help="a problem of seconds, for exact counts")
    parser.add_argument("--programs", default=str(ROOT / "build"), metavar="DIR", help="the build folder")
    parser.add_argument("--json", metavar="FILE", help="write everything as data")
    parser.add_argument("--plot", metavar="FILE", help="write an SVG (needs matplotlib)")
    parser.add_argument("--update", action="store_true", help="write it all at full size into docs/papers")
    arguments = parser.parse_args()
    if arguments.update:
        if arguments.small:
            parser.error("--update takes the full size: leave --small out")
        FOLDER.mkdir(exist_ok=True)
        arguments.json, arguments.plot = FOLDER / f"{command}.json", FOLDER / f"{command}.svg"
    study = Study(arguments, command=command, paper=paper, figure=figure, title=title, question=question, kinds=kinds,
                  order=order)
    function(study)
    if arguments.plot and study.draw and save_plot(study.draw, arguments.plot):
        study.data["plot"] = f"papers/{command}.svg" if arguments.update else str(arguments.plot)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(study.data, indent=1) + "\n", encoding="utf-8")
    print(section(study.data))
