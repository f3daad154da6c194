"""Charts as SVG that follows the page's colours, and that holds nothing but shapes and text."""

import re
import xml.etree.ElementTree as tree

from .documents import ReportError

SVG = "http://www.w3.org/2000/svg"
ELEMENTS = {"svg", "g", "path", "text", "tspan", "rect", "line", "circle", "defs", "clipPath", "title"}
ATTRIBUTES = {
    "width",
    "height",
    "viewBox",
    "transform",
    "d",
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "r",
    "cx",
    "cy",
    "dx",
    "dy",
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "opacity",
    "text-anchor",
    "font-size",
    "font-weight",
    "font-style",
    "clip-path",
    "id",
    "aria-label",
    "aria-hidden",
    "role",
    "pointer-events",
    "display",
    "class",
}
URL = re.compile(r"url\(#([\w-]+)\)")

# Stand-ins that Vega takes for colours, and what the style sheet calls them.
COLOURS = {
    "ink": "#010101",
    "muted": "#020202",
    "grid": "#030303",
    "paper": "#040404",
    "one": "#110001",
    "two": "#110002",
    "three": "#110003",
    "four": "#110004",
    "rest": "#110005",
}
NAMES = {value: f"var(--{name})" for name, value in COLOURS.items()}


def load_renderer():
    """The module that runs Vega-Lite without a browser."""
    try:
        import vl_convert
    except ImportError:
        raise ReportError.no_extra("vl-convert-python") from None
    return vl_convert


class Numbering:
    """Names for what is referred to within one page; those of several charts would be the same."""

    def __init__(self):
        self.charts = 0

    def next(self):
        self.charts += 1
        return f"c{self.charts}-"


def render(spec, numbering):
    """The chart as text to put into a page."""
    text = load_renderer().vegalite_to_svg(spec)
    root = tree.fromstring(text)
    return written(cleaned(root, numbering.next()))


def local_name(element):
    return element.tag.rpartition("}")[2]


def is_empty(element):
    """Shapes that show nothing; Vega draws some."""
    if element.get("display") == "none":
        return True
    name = local_name(element)
    if name == "path":
        return (
            element.get("d", "") in ("", "M0,0h0v0h0Z")
            or element.get("class") == "background"
            and ("fill" not in element.attrib and "stroke" not in element.attrib)
        )
    return name == "g" and len(element) == 0


def cleaned(element, prefix):
    """A copy without what is not in the lists above, references and names being those of this chart."""
    copy = tree.Element(local_name(element))
    copy.text = element.text
    for key, value in element.attrib.items():
        if key not in ATTRIBUTES:
            continue
        if key == "class" and not value.startswith("mark-text"):
            continue
        if key == "id":
            value = prefix + value
        value = URL.sub(lambda found: f"url(#{prefix}{found[1]})", value)
        if key == "transform":
            value = re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", value)
        copy.set(key, NAMES.get(value, value))
    for child in element:
        if local_name(child) not in ELEMENTS:
            continue
        part = cleaned(child, prefix)
        if not is_empty(child) and not is_empty(part):
            copy.append(part)
    return copy


def alone(chart, style):
    """A chart as a file: with the colours that the style sheet defines, for a light page and a dark one."""
    light, dark = re.findall(r":root {(.*?)}", style, re.S)[:2]
    colours = (
        f"<style>svg{{{' '.join(light.split())}}}@media (prefers-color-scheme: dark){{svg{{{' '.join(dark.split())}}}}}"
        "</style>"
    )
    head, _, body = chart.partition(">")
    return f"{head}>{colours}{body}\n"


def written(root):
    root.set("xmlns", SVG)
    return tree.tostring(root, encoding="unicode")
