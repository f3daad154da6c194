"""Reports to make pages of: those kept beside the tests, and, where NODEWISE_CLI names the program, fresh ones."""

import copy
import json
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "python")]  # the package as it lies here, without its extension

jinja2 = pytest.importorskip("jinja2", reason="NOT TESTED: pages need jinja2")
vl_convert = pytest.importorskip("vl_convert", reason="NOT TESTED: pages need vl-convert-python")


def kept(kind):
    """A fresh copy of a report that is kept."""
    return json.loads((HERE / "data" / f"{kind}.json").read_text(encoding="utf-8"))


@pytest.fixture
def report():
    return kept


@pytest.fixture
def make_page(tmp_path):
    """Makes a page of documents; returns its path and its text."""
    from nodewise.report import write_page

    def make(*documents, names=None):
        paths = []
        for k, document in enumerate(documents):
            path = tmp_path / (names[k] if names else f"report{k}.json")
            path.write_text(json.dumps(copy.deepcopy(document)), encoding="utf-8")
            paths.append(path)
        output = tmp_path / "page.html"
        write_page(paths, output)
        return output, output.read_text(encoding="utf-8")

    return make


@pytest.fixture(scope="session")
def kept_page(tmp_path_factory):
    """The page of a report that is kept, made once."""
    from nodewise.report import write_page

    folder, made = tmp_path_factory.mktemp("pages"), {}

    def page(kind):
        if kind not in made:
            made[kind] = folder / f"{kind}.html"
            write_page([HERE / "data" / f"{kind}.json"], made[kind])
        return made[kind]

    return page


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium; without it, or without Playwright, what needs it is skipped loudly."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="NOT TESTED: no Playwright to look at pages with")
    chromium = os.environ.get("NODEWISE_CHROMIUM", "/usr/bin/chromium")
    if not os.path.exists(chromium):
        pytest.skip(f"NOT TESTED: no {chromium} to look at pages with")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
