"""What a page consists of."""

from dataclasses import dataclass, field


@dataclass
class Fact:
    """A number that answers something, in large type."""

    value: str
    label: str
    note: str = ""


@dataclass
class Chart:
    """A picture of numbers, drawn for two widths. `legend`: names of colours, by the style sheet's names."""

    draw: object
    alt: str
    title: str = ""
    legend: dict = field(default_factory=dict)
    half: bool = False  # two of them side by side where there is room
    note: str = ""
    kind: str = "chart"


@dataclass
class Table:
    """`numeric`: which columns are numbers. Folded away unless `open`."""

    columns: list
    rows: list
    title: str = "Numbers"
    numeric: tuple = ()
    open: bool = False
    note: str = ""
    prose: bool = False  # sentences, which are stacked where there is no room beside each other
    kind: str = "table"


@dataclass
class Picture:
    """A PNG a pixel of which is a number."""

    uri: str
    pixels: int
    title: str
    lines: list
    alt: str


@dataclass
class Pictures:
    pictures: list
    note: str = ""
    kind: str = "pictures"


@dataclass
class HeatMap:
    """Who sends to whom; `cells` have the text of each where there are few."""

    uri: str
    bins: int
    nodes: int
    title: str
    scale: str
    alt: str
    cells: list = field(default_factory=list)
    half: bool = True
    kind: str = "heat_map"


@dataclass
class Text:
    text: str
    kind: str = "text"


@dataclass
class Notices:
    """Findings and advice: (headline, text, advice)."""

    notices: list
    kind: str = "notices"


@dataclass
class Code:
    """As it can be copied; folded away where it has a title."""

    text: str
    title: str = ""
    kind: str = "code"


@dataclass
class Section:
    title: str
    parts: list
    lead: str = ""


@dataclass
class Chapter:
    """One report, or a comparison of several. `state`: good, bad or plain, of the badge."""

    title: str
    command: str
    sentence: str
    badge: str = ""
    state: str = "plain"
    facts: list = field(default_factory=list)
    sections: list = field(default_factory=list)
    sources: list = field(default_factory=list)
