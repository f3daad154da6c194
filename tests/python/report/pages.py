"""What a page says, read by the HTML parser of the standard library."""

import pathlib
from html.parser import HTMLParser

HERE = pathlib.Path(__file__).parent
SOURCE = HERE.parents[2]
KINDS = sorted(path.stem for path in (HERE / "data").glob("*.json"))

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Tables by title, text by element, and every element with its attributes."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.elements = []
        self.tables = {}  # the heading or summary before it, to its rows
        self.texts = {}
        self.title = ""
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h2", "summary"):
            self.title = ""
        if tag == "table":
            self.tables.setdefault(self.title, [])
        if tag == "tr":
            self.tables[self.title].append([])
        if tag in ("td", "th"):
            self.tables[self.title][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> after {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        self.texts[inside] = self.texts.get(inside, "") + data
        if inside in ("h2", "summary"):
            self.title += data
        if inside in ("td", "th"):
            self.tables[self.title][-1][-1] += data

    def rows(self, title):
        """Those of a table, without its head."""
        return self.tables[title][1:]

    def images(self):
        return [attributes["src"] for tag, attributes in self.elements if tag == "img"]

    def has(self, tag, **attributes):
        return any(tag == t and all(a.get(k) == v for k, v in attributes.items()) for t, a in self.elements)


def whole(text):
    """A count as it is written."""
    return int(text.replace(",", ""))


UNITS = {
    "s": 1,
    "ms": 1e-3,
    "µs": 1e-6,
    "ns": 1e-9,
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "B/s": 1,
    "kB/s": 1e3,
    "MB/s": 1e6,
    "GB/s": 1e9,
}
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number(text):
    """A number as it is written, its unit taken into account."""
    text, _, unit = text.strip().replace(",", "").partition(" ")
    if unit.startswith("×"):  # 4.91 × 10⁻⁹
        return float(text) * 10.0 ** int(unit.removeprefix("× 10").translate(RAISED))
    if text.startswith("10") and text[2:3] in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹" and text[2:]:
        return 10.0 ** int(text[2:].translate(RAISED))
    return float(text) * (UNITS[unit] if unit else 1)
