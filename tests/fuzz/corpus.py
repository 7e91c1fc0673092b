"""What stack files are made from: the good ones of this project, and the schema of all keys."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).parents[2]
PREFIX = "kubeflow-spot:"

Place = tuple[str | int, ...]
"""Keys and indexes from a top key on."""


@dataclass(frozen=True)
class Stack:
    """A good stack file; `settings` by top key without its prefix."""

    name: str
    text: str
    settings: dict[str, Any]

    @property
    def provider(self) -> str:
        return str(self.settings["cloud"]["provider"])


@cache
def stacks() -> tuple[Stack, ...]:
    """Return all good stack files: of the tests, the examples and the checked-in ones."""
    patterns = ("tests/configs/*.happy.yaml", "examples/stacks/*.yaml", "Pulumi.*.yaml")
    found = []
    for path in sorted({path for pattern in patterns for path in PROJECT.glob(pattern)}):
        text = path.read_text()
        content = yaml.load(text, Loader=yaml.CSafeLoader)
        # Others, such as cloud files and projects of examples, have no settings of this program.
        if isinstance(content, dict) and f"{PREFIX}release" in (content.get("config") or {}):
            settings = {key.removeprefix(PREFIX): value for key, value in content["config"].items()}
            found.append(Stack(str(path.relative_to(PROJECT)), text, settings))
    return tuple(found)


def places(value: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every value inside, with its place."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*at, key), item
        yield from places(item, (*at, key))


def general(place: Place) -> Place:
    """Return a place with 0 for each index."""
    return tuple(0 if isinstance(part, int) else part for part in place)


@cache
def values() -> Mapping[Place, list[tuple[str, Any]]]:
    """Return the values at each place of all good files, with the provider of the file."""
    found: dict[Place, list[tuple[str, Any]]] = defaultdict(list)
    for stack in stacks():
        for place, value in places(stack.settings):
            found[general(place)].append((stack.provider, value))
    return found


_OF_A_CLOUD = ("cloud", "pools", "systemPool")
"""Top keys whose values are one cloud's; others suit every cloud."""


def suiting(place: Place, provider: str) -> list[Any]:
    """Return the values at a place of all good files that suit a file of this cloud."""
    found = values().get(general(place), [])
    return [value for owner, value in found if owner == provider or place[0] not in _OF_A_CLOUD]


@cache
def keys() -> tuple[str, ...]:
    """Return every key of every object, of all clouds."""
    found = {key for node in _schema()["definitions"].values() for key in node.get("properties", {})}
    return tuple(sorted(found | _top("azure")["properties"].keys()))


@cache
def machines(provider: str) -> tuple[str, ...]:
    """Return the machines of a cloud's catalogue; none for a cloud without one."""
    path = PROJECT / "config" / "clouds" / provider / "machines.csv"
    return tuple(row[0] for row in csv.reader(path.read_text().splitlines()[1:])) if path.exists() else ()


def node(place: Place, provider: str) -> dict[str, Any] | None:
    """Return the schema of a place in a file of this cloud; None where it knows no such place."""
    found: dict[str, Any] | None = _top(provider)
    for part in place:
        found = _inside(resolved(found), part) if found else None
    return resolved(found) if found is not None else None


def resolved(found: dict[str, Any]) -> dict[str, Any]:
    """Return the node itself in place of a reference, or of the one form beside null."""
    while True:
        if "$ref" in found:
            found = _schema()["definitions"][found["$ref"].rpartition("/")[2]]
        elif "allOf" in found and "properties" not in found:
            found = found["allOf"][0]
        elif "anyOf" in found:
            found = next(form for form in found["anyOf"] if form.get("type") != "null") | {
                "examples": found.get("examples", [])
            }
        else:
            return found


def _inside(found: dict[str, Any], part: str | int) -> dict[str, Any] | None:
    inner = found.get("items") if isinstance(part, int) else found.get("properties", {}).get(part)
    if inner is None and isinstance(part, str):
        inner = next(iter(found.get("patternProperties", {}).values()), None)
        if inner is None and isinstance(found.get("additionalProperties"), dict):
            inner = found["additionalProperties"]
    return inner


@cache
def _top(provider: str) -> dict[str, Any]:
    properties = {
        key.removeprefix(PREFIX): found for key, found in _schema()["properties"]["config"]["properties"].items()
    }
    return {"type": "object", "properties": {**properties, "cloud": {"$ref": f"#/definitions/{provider.title()}"}}}


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((PROJECT / "docs" / "stack-file.schema.json").read_text())
    return schema
