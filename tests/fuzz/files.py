"""Mutated stack files by their number: the same number gives the same file."""

import copy
import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from config.model import bounds
from config.stack_file import top_keys
from sandbox.base.errors import SandboxError
from sandbox.engine import workspace
from tests.fuzz import corpus, mutations

SEED = 17
"""Another seed makes other files."""


@dataclass
class File:
    """A mutated stack file."""

    number: int
    base: str
    provider: str
    settings: dict[str, Any] | None = None
    """By top key; None where the bytes were mutated."""
    content: bytes = b""
    changes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        shown = self.content.decode(errors="backslashreplace") if self.settings is None else _json(self.settings)
        changed = ", ".join(self.changes) or "bytes"
        return f"file {self.number} of seed {SEED}, from {self.base} ({changed}):\n{shown}"


def mutated(number: int, seed: int = SEED) -> File:
    """Return the file of this number.

    Two of five have gentle changes only, two have wild ones as well, one has changed bytes.
    """
    random = Random(f"{seed}:{number}")
    stack = random.choice(corpus.stacks())
    file = File(number, stack.name, stack.provider)
    kind = random.choice(("gentle", "gentle", "wild", "wild", "bytes"))
    if kind == "bytes":
        file.content = mutations.mutated_text(stack.text, random)
        return file
    file.settings = settings = copy.deepcopy(stack.settings)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        wild = kind == "wild" and random.random() < 0.7
        change = random.choice(mutations.WILD if wild else mutations.GENTLE)
        if settings:
            change(settings, stack.provider, random)
            file.changes.append(change.__name__)
    return file


def delivered(file: File, folder: Path) -> dict[str, Any] | None:
    """Return the settings as the engine delivers them to the program; None where the file is refused before that.

    Files of which the bytes were mutated are read as the sandbox reads them.
    """
    settings = file.settings
    if settings is None:
        path = folder / "Pulumi.fuzz.yaml"
        path.write_bytes(file.content)
        try:
            config = json.loads(workspace.engine_copy(path))["config"]
        except SandboxError:
            return None
        # As the program chooses among all keys: those of other programs are none of its own.
        project = corpus.PREFIX.removesuffix(":")
        named = {key: top_keys.own_setting(key if ":" in key else corpus.PREFIX + key, project) for key in config}
        settings = {name: config[key] for key, name in named.items() if name}
    return passed(settings)


def passed(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings as the engine passes them to the program."""
    return {key: bounds.parse_value(_text(value)) for key, value in settings.items()}


def _text(value: Any) -> str:
    """Return a value of a top key as the engine passes it."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


def shrunk(settings: dict[str, Any], still: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the settings without all that can go while `still` holds."""
    smaller = True
    while smaller:
        smaller = False
        for place, _ in sorted(corpus.places(settings), key=lambda pair: len(pair[0])):
            less = copy.deepcopy(settings)
            try:
                mutations.remove(less, place)
                if still(less):
                    settings, smaller = less, True
                    break
            except (KeyError, IndexError):
                continue
    return settings


def fault_of(run: Callable[[], Any]) -> str:
    """Return the kind and the place of the exception that a function raises; empty for none."""
    try:
        run()
    except Exception as raised:
        where = traceback.extract_tb(raised.__traceback__)[-1]
        return f"{type(raised).__name__} in {Path(where.filename).name}, {where.name}: {str(raised)[:300]}"
    return ""


def _json(settings: dict[str, Any]) -> str:
    shown = json.dumps({f"{corpus.PREFIX}{key}": value for key, value in settings.items()}, indent=1)
    return shown if len(shown) < 20_000 else shown[:20_000] + " ..."
