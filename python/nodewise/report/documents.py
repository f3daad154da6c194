"""The reports that pages are made of."""

import json
import os
from dataclasses import dataclass

SCHEMA_VERSION = 1  # the one that these pages read; all commands have it

# What only reports of one command have, all of it. In order: `bench overlap` has more than `bench`.
SIGNS = {
    "solve": ("solve", "right_hand_side", "operations"),
    "predict": ("work_of_a_cycle_s", "scaling", "levels"),
    "tune": ("candidates", "best"),
    "calibrate": ("ping_pong", "machine_file"),
    "inspect": ("virtual_ranks", "no_hierarchy"),
    "eigen": ("eigensolver", "pairs"),
    "overlap": ("cases", "memory"),
    "bench": ("memory", "levels", "cache_bytes"),
}


class ReportError(Exception):
    """What keeps a page from being made, as a sentence. `about`: input, output or missing."""

    def __init__(self, text, about="input"):
        super().__init__(text)
        self.about = about

    @classmethod
    def no_extra(cls, module):
        return cls(f'pages need the Python module {module}: pip install "nodewise[report]"', "missing")


@dataclass
class Document:
    """One report."""

    path: str
    kind: str
    data: dict

    @property
    def name(self):
        return os.path.basename(self.path)


def kind_of(data):
    """The command that wrote it, or None."""
    for kind, signs in SIGNS.items():
        if all(sign in data for sign in signs):
            return kind
    return None


def read_document(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path} is no JSON: {error}") from None
    kind = kind_of(data) if isinstance(data, dict) else None
    if kind is None:
        raise ReportError(
            f"{path} is no report of nodewise: {' , '.join(SIGNS)} write them with --json".replace(" ,", ",")
        )
    version = data.get("schema_version")
    if version != SCHEMA_VERSION:
        raise ReportError(f"{path} has schema_version {version}, and these pages read {SCHEMA_VERSION}")
    return Document(path, kind, data)


def read_documents(paths):
    return [read_document(str(path)) for path in paths]
