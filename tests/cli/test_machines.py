"""Machine files and their schema."""

import json

import jsonschema
import pytest
from conftest import SOURCE

MACHINES = sorted((SOURCE / "machines").glob("*.json"))
SCHEMA = json.loads((SOURCE / "docs" / "machine.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.stem)
def test_shipped_machines_fit_the_schema(path):
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    machine = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(SCHEMA).validate(machine)
    assert machine["name"] == path.stem


def test_the_schema_refuses_what_the_library_refuses():
    sound = json.loads((SOURCE / "machines" / "blue-waters.json").read_text(encoding="utf-8"))

    def spoilt(change):
        copy = json.loads(json.dumps(sound))
        change(copy)
        return copy

    far = ("protocols", "other_node", "short")
    for change in (
        lambda m: m[far[0]][far[1]][far[2]].update(rate_bytes_per_s=-2.1e9),
        lambda m: m[far[0]][far[1]][far[2]].pop("latency_s"),
        lambda m: m["protocols"].update(other_node={}),
        lambda m: m["network"].update(shape="donut"),
        lambda m: m["network"].update(levels=2),
        lambda m: m.update(quue_search_s=0),
        lambda m: m.update(queue_search_s=-1),
        lambda m: m["node"].update(cores=0),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft7Validator(SCHEMA).validate(spoilt(change))


def test_the_reference_page_names_every_key():
    page = (SOURCE / "docs" / "machines.md").read_text(encoding="utf-8")

    def names(schema):
        for key, value in schema.get("properties", {}).items():
            yield key
            yield from names(value)
        inner = [*schema.get("definitions", {}).values(), *schema.get("oneOf", [])]
        if "items" in schema:
            inner.append(schema["items"])
        for value in inner:
            yield from names(value)

    for name in set(names(SCHEMA)) - {"$schema"}:
        assert name in page, name
