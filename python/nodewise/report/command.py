"""The command line: `nodewise report report.json -o report.html`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from .documents import ReportError, read_documents
from .folded import folded_stacks
from .page import write_charts, write_page
from .writing import write_whole

USAGE = 2  # as docs/exit-codes.md has them
CODES = {"input": 3, "output": 6, "missing": USAGE}

EXAMPLES = """examples:
  nodewise report report.json                     # writes report.html
  nodewise report before.json after.json -o change.html
  nodewise report report.json --folded stacks.txt   # for viewers of flame graphs
"""


def parser():
    made = argparse.ArgumentParser(
        prog="nodewise report",
        epilog=EXAMPLES,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Makes one page to look at of reports that nodewise's commands wrote with --json.",
    )
    made.add_argument(
        "reports",
        nargs="+",
        metavar="REPORT.json",
        help="of solve, eigen, predict, tune, calibrate, inspect or bench; two and more of solve are compared",
    )
    made.add_argument(
        "-o",
        "--output",
        metavar="PAGE.html",
        help="the page; without it beside the first report, which it is called after",
    )
    made.add_argument(
        "--folded",
        metavar="FILE",
        help="write the times of one report of solve as folded stacks, in microseconds, instead of a page",
    )
    made.add_argument(
        "--charts",
        metavar="FOLDER",
        help="write each chart as an SVG file into a folder that exists, instead of a page",
    )
    return made


def default_output(report):
    base = report[:-5] if report.endswith(".json") else report
    return base + ".html"


def write_folded(paths, output):
    if len(paths) != 1:
        raise ReportError("--folded takes one report", "missing")
    document = read_documents(paths)[0]
    if document.kind != "solve":
        raise ReportError(f"{document.path}: only reports of solve have times by operation", "input")
    write_whole(output, folded_stacks(document.data))


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        given = parser().parse_args(arguments)
    except SystemExit as end:  # argparse has said why
        return end.code or 0
    try:
        if given.folded:
            write_folded(given.reports, given.folded)
            return 0
        if given.charts:
            print("\n".join(write_charts(given.reports, given.charts)))
            return 0
        output = given.output or default_output(given.reports[0])
        for path in given.reports:
            if os.path.abspath(path) == os.path.abspath(output):
                raise ReportError(f"{output} would replace the report itself", "missing")
        write_page(given.reports, output)
    except ReportError as error:
        return failed("nodewise report", error)
    return 0


def with_page(words: Sequence[str], run: Callable[[list[str]], int], is_root: bool = True) -> int:
    """Runs a command of the program, and makes the page that --report names of its report.

    run(words) is the program itself, on all ranks; it returns the exit code, and so does this. What keeps a page from
    being made is said before anything is run where that is known. Without --report it is run(words).
    """
    try:
        rest, page, report = take_report_option(words)
    except ReportError as error:
        return failed("nodewise", error, is_root)
    code = run(rest)
    if page is None or not is_root or code not in (0, 1):
        return code
    try:
        write_page([report], page)
    except ReportError as error:
        return failed("nodewise", error, is_root)
    if not {"-q", "--quiet"} & set(rest):
        print(f"  page             {page}", flush=True)
    return code


def failed(program, error, is_root=True):
    """Says why, and returns the exit code."""
    if is_root:
        print(f"{program}: {error}", file=sys.stderr)
    return CODES[error.about]


def take_report_option(words: Sequence[str]) -> tuple[list[str], str | None, str | None]:
    """Takes `--report PAGE.html` out of the words of `nodewise solve`.

    Returns the words that the program itself is to be called with, the page (None: none was asked
    for) and the report that is to be made a page of: that of --json where it is given, else one
    beside the page. Raises ReportError where no page could be made, before anything is solved.
    """
    rest, page, json = [], None, None
    words = list(words)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word.startswith("-j") and len(word) > 2:
            name, equals, value = "-j", "=", word[2:].removeprefix("=")
        if name not in ("--report", "--json", "-j"):
            rest.append(word)
            continue
        if not equals and not words:
            raise ReportError(f"{name} needs a file", "missing")
        given = value if equals else words.pop(0)
        if name == "--report":
            page = given
        else:
            json = given
            rest += [name, given]
    if page is None:
        return rest, None, None
    if not page.endswith((".html", ".htm")):
        raise ReportError(f"--report {page}: the name of a page ends in .html", "missing")
    require_renderer()
    if json is None:
        json = page.rpartition(".")[0] + ".json"
        rest += ["--json", json]
    elif json == "-":
        raise ReportError("--report needs --json to name a file", "missing")
    return rest, page, json


def require_renderer():
    """Raises ReportError where what draws pages is not installed."""
    from .svg import load_renderer

    load_renderer()
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise ReportError.no_extra("jinja2") from None
