"""Options as keywords: from Python values to the text that the library parses, and what options say of themselves."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping

from nodewise._load import core
from nodewise.errors import OptionError

NamedValues = list[tuple[str, str]]

# SciPy's and PyAMG's names of what has another one here.
aliases = {
    "tol": "tolerance",
    "rtol": "tolerance",
    "atol": "absolute_tolerance",
    "maxiter": "max_iterations",
    "accel": "solver",
    "max_coarse": "max_coarse_rows",
}


def text_of(name: str, value: object) -> str:
    """The text of a value: a word, a number, a flag, or several of these, joined by commas."""
    if isinstance(value, str):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return ",".join(text_of(name, one) for one in value)
    raise OptionError(f"option `{name}` is a {type(value).__name__}, where a word, a number or True is needed")


def as_text(options: Mapping[str, object]) -> NamedValues:
    """Names and texts of the options that are not None, by the library's names."""
    named: dict[str, str] = {}
    for name, value in options.items():
        if value is None:
            continue
        known = aliases.get(name, name)
        if known in named:
            raise OptionError(f"option `{known}` is given twice, once as `{name}`")
        named[known] = text_of(name, value)
    return list(named.items())


class Option:
    """What an option says of itself: name, meaning, range, default, and the methods that it belongs to."""

    def __init__(self, entry: Mapping[str, object]) -> None:
        self.name = str(entry["name"])
        self.meaning = str(entry["meaning"])
        self.range = str(entry["range"])
        self.default = str(entry["default"])
        self.belongs_to = str(entry.get("owners", ""))
        self.needs = str(entry.get("needs", ""))

    def __repr__(self) -> str:
        of = f" ({self.belongs_to})" if self.belongs_to else ""
        return f"{self.name}: {self.meaning}{of}. {self.range or 'any text'}; default {self.default or 'none'}"


def options(command: str = "solver") -> dict[str, Option]:
    """The options of `solver()`, or of a function for one of the commands, such as "predict", by their names."""
    table = core.option_table() if command == "solver" else core.command_options(command)
    found = [Option(entry) for entry in table]
    return {option.name.replace("-", "_"): option for option in found}


def documented(text: str, command: str = "solver") -> str:
    """A docstring with a line for each option."""
    lines = [f"    {option.name.replace('-', '_')}: {option.meaning} [{option.range}; default {option.default}]"
             for option in options(command).values()]
    return text + "\n\nOptions:\n\n" + "\n".join(lines) + "\n"
