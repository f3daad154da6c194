"""One page: chapters, each made of a report by its kind, in a template that escapes all it is given."""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
import re
from collections.abc import Iterable
from importlib import resources

from .charts import NARROW
from .documents import ReportError, read_documents
from .kinds import compare
from .model import Chapter
from .svg import Numbering, alone, load_renderer, render
from .writing import write_whole

WIDE, HALF = 880, 420  # pixels of a chart on a page


def write_page(paths: Iterable[str | os.PathLike[str]], output: str | os.PathLike[str]) -> None:
    """Makes one self-contained HTML file of reports. Several of solve are compared first.

    Raises ReportError where a report cannot be read, is none, or the page cannot be written.
    """
    documents = read_documents(paths)
    load_renderer()
    write_whole(output, page_of([*chapters(documents)]))


def chapters(documents):
    solves = [document for document in documents if document.kind == "solve"]
    if len(solves) > 1:
        yield compare.chapter(solves)
    for document in documents:
        yield chapter(document)


def chapter(document) -> Chapter:
    kind = importlib.import_module(f".kinds.{document.kind}", __package__)
    try:
        return kind.chapter(document)
    except (KeyError, TypeError, IndexError) as error:
        raise ReportError(
            f"{document.path} is no whole report of nodewise {document.kind}: {type(error).__name__} {error}"
        ) from error


class Charts:
    """Draws charts for the template, each for a page and for a phone."""

    def __init__(self, markup):
        self.markup = markup
        self.numbering = Numbering()

    def wide(self, chart):
        return self.markup(render(chart.draw(HALF if chart.half else WIDE), self.numbering))

    def narrow(self, chart):
        return self.markup(render(chart.draw(NARROW), self.numbering))


def asset(name):
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def policy(script):
    """What a browser lets the page do: nothing but show itself and run its own script."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def write_charts(paths: Iterable[str | os.PathLike[str]], folder: str | os.PathLike[str]) -> list[str]:
    """Writes the charts of the page, each as an SVG file of its own that is called after its section.

    Returns their names. Raises ReportError as write_page() does, and where the folder is none.
    """
    documents = read_documents(paths)
    numbering, names = Numbering(), []
    for made in chapters(documents):
        for section in made.sections:
            for part in section.parts:
                if part.kind == "chart":
                    name = file_name(section.title, names)
                    write_whole(
                        os.path.join(folder, name),
                        alone(render(part.draw(HALF if part.half else WIDE), numbering), asset("page.css")),
                    )
                    names.append(name)
    return names


def file_name(title, taken):
    """the-setup.svg; the-setup-2.svg where there is one already"""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "chart"
    name, number = f"{base}.svg", 2
    while name in taken:
        name, number = f"{base}-{number}.svg", number + 1
    return name


def page_of(all_chapters):
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise ReportError.no_extra("jinja2") from None
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    script = asset("page.js").strip()
    return environment.from_string(asset("page.html.j2")).render(
        chapters=all_chapters,
        charts=Charts(Markup),
        style=Markup(asset("page.css")),
        script=Markup(script),
        policy=policy(script),
    )
