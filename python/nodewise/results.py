"""What commands return: a report as data, and as a page to look at."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from typing import Any

from nodewise.communicator import Communicator


class Result:
    """A report of one of the commands, the same on every rank; docs/report.md says what it holds.

    `result["solve"]` and `to_dict()` give the data, `html()` writes a page.
    """

    def __init__(self, command: str, text: str, communicator: Communicator) -> None:
        self.command = command
        self.text = text
        self._communicator = communicator
        self._data: dict[str, Any] = json.loads(text)

    def to_dict(self) -> dict[str, Any]:
        """The report as `--json` writes it."""
        return self._data

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __contains__(self, name: object) -> bool:
        return name in self._data

    def keys(self) -> list[str]:
        return list(self._data)

    def save(self, path: str) -> None:
        """Writes the JSON, on the first rank."""
        if self._communicator.rank == 0:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.text)

    def html(self, path: str) -> None:
        """Writes a page that needs no network, on the first rank; needs the extra `nodewise[report]`."""
        if self._communicator.rank == 0:
            _write_page(self.text, path)

    def _repr_html_(self) -> str:
        """The page, in a frame, for notebooks; the data where the extra [report] is missing."""
        from html import escape

        try:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "page.html")
                _write_page(self.text, path)
                with open(path, encoding="utf-8") as file:
                    page = file.read()
        except ImportError:
            return f"<pre>{escape(self.text)}</pre>"
        return f'<iframe srcdoc="{escape(page)}" style="width:100%;height:720px;border:0"></iframe>'

    def plot(self) -> Any:
        """The page as an object that notebooks show."""
        try:
            display = importlib.import_module("IPython.display")
        except ImportError:
            raise ImportError("plot() shows a page in a notebook; elsewhere html('page.html') writes it") from None
        return display.HTML(self._repr_html_())

    def __repr__(self) -> str:
        return f"<report of nodewise {self.command}: {', '.join(self._data)}>"


def _write_page(text: str, path: str) -> None:
    pages = importlib.import_module("nodewise.report")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "report.json")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        pages.write_page([source], path)
