"""Differences between two releases, in sentences.

Reads config/releases of a checkout as data, with the schema's titles: both checkouts may be
untrusted branches.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox.base.errors import SandboxError

_FOLDERS = (Path("config", "releases"), Path("spec", "releases"))
"""The folder today, and in checkouts before it was renamed: a comparison reads older revisions."""
_NAME = re.compile(r"next|r\d{4}-\d{2}")
_IMAGE = re.compile(r"(?P<name>[^@\s]+):(?P<tag>[^:@/\s]+)@(?P<digest>sha256:[0-9a-f]{64})")
_LARGEST = 1_000_000
"""Bytes of a file that is read."""
_LONGEST = 300
"""Characters of a value that is shown."""

# learn.microsoft.com/azure/aks/upgrade-aks-cluster; pulumi-gcp, `minMasterVersion`: no lower than
# the cluster's is asked for.
_DOWNGRADE = (
    "AKS refuses to downgrade a cluster's Kubernetes. GKE keeps the control plane as it is, and"
    " resources that need the newer"
    " Kubernetes are removed all the same."
)

Content = dict[str, Any]


def _folder(project: Path) -> Path:
    """Return the folder of a checkout's releases."""
    return next(
        (project / place for place in _FOLDERS if (project / place).is_dir()), project / _FOLDERS[0]
    )


def names(project: Path) -> list[str]:
    """Return the releases a checkout has, oldest first, the candidate last."""
    stems = (path.stem for path in _folder(project).glob("*.toml"))
    return sorted(filter(_NAME.fullmatch, stems), key=_rank)


def explain(project: Path, before: str, after: str) -> list[str]:
    """Return the differences within one checkout. Raises SandboxError for an unknown release."""
    for name in (before, after):
        if name not in names(project):
            known = ", ".join(names(project)) or "none"
            raise SandboxError(
                f"there is no release {name!r} in {_folder(project)}; releases there: {known}"
            )
    return difference(project, before, project, after)


def difference(before_project: Path, before: str, after_project: Path, after: str) -> list[str]:
    """Return the differences between one checkout's release and another's, a sentence each; empty
    for equal releases.

    A release that cannot be read gets a sentence as well.
    """
    try:
        old, new = _read(before_project, before), _read(after_project, after)
    except _Unreadable as unreadable:
        return [f"{before} -> {after} cannot be explained: {unreadable}"]
    pins = _pins("", _schema(after_project), old, new)
    if _rank(after) >= _rank(before):
        return [*pins, *_notes(before_project, before, after_project, after)]
    head = f"This goes back: {after} is older than {before}."
    return [
        head,
        *pins,
        *_given_up(before_project, before, after),
        *_release_notes(after_project, after),
    ]


class _Unreadable(Exception):
    """A release cannot be read."""


def _rank(name: str) -> tuple[bool, str]:
    return (name == "next", name)


def _read(project: Path, name: str) -> Content:
    # The name is not trusted: it never becomes another path.
    if not _NAME.fullmatch(name):
        raise _Unreadable(f"{name[:_LONGEST]!r} is no release's name")
    path = _folder(project) / f"{name}.toml"
    try:
        if path.stat().st_size > _LARGEST:
            raise _Unreadable(f"{path.name} is larger than {_LARGEST} bytes")
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise _Unreadable(f"there is no {path.relative_to(project)}") from None
    except (OSError, ValueError) as wrong:
        raise _Unreadable(f"{path.name} cannot be read: {str(wrong)[:_LONGEST]}") from None


def _schema(project: Path) -> Content:
    """Return the schema of releases, whose titles name the pins; {} where it cannot be read."""
    path = _folder(project) / "schema.json"
    try:
        schema = json.loads(path.read_text()) if path.stat().st_size <= _LARGEST else {}
    except (OSError, ValueError):
        return {}
    return schema if isinstance(schema, dict) else {}


def _pins(title: str, schema: Content, old: Content, new: Content) -> Iterator[str]:
    for key in [*new, *(key for key in old if key not in new)]:
        if not title and key in ("notes", "released"):
            continue
        before, after = old.get(key), new.get(key)
        if type(before) is type(after) and before == after:
            continue
        part = _resolved(schema, key)
        named = part.get("title") if isinstance(part.get("title"), str) else key
        whole = f"{title}, {named}" if title else str(named)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _pins(whole, part, before, after)
            continue
        yield _sentence(whole, before, after)
        if not title and key == "kubernetesVersion" and _lower(after, before):
            yield _DOWNGRADE


def _lower(version: Any, other: Any) -> bool:
    first, second = (
        re.match(r"(\d{1,3})\.(\d{1,3})(?!\d)", str(text)) for text in (version, other)
    )
    return bool(
        first and second and (int(first[1]), int(first[2])) < (int(second[1]), int(second[2]))
    )


def _resolved(schema: Content, key: str) -> Content:
    """Return the schema of a property, with the definition that it names."""
    properties, definitions = schema.get("properties"), schema.get("$defs")
    part = properties.get(key) if isinstance(properties, dict) else None
    if not isinstance(part, dict):
        return {}
    named = str(part.get("$ref", "")).rpartition("/")[2]
    target = definitions.get(named) if isinstance(definitions, dict) else None
    return {**(target if isinstance(target, dict) else {}), **part}


def _sentence(title: str, before: Any, after: Any) -> str:
    if before is None:
        return f"{title}: pinned from now on, {_shown(after)}."
    if after is None:
        return f"{title}: no longer pinned; was {_shown(before)}."
    old, new = (
        _IMAGE.fullmatch(value) if isinstance(value, str) else None for value in (before, after)
    )
    if old and new and old["name"] == new["name"]:
        if old["tag"] == new["tag"]:
            digests = f"{_short(old['digest'])} -> {_short(new['digest'])}"
            return f"{title}: another image under the same tag {_shown(old['tag'])}: {digests}."
        return f"{title}: {_shown(old['tag'])} -> {_shown(new['tag'])} ({_shown(new['name'])})."
    return f"{title}: {_shown(before)} -> {_shown(after)}."


def _short(digest: str) -> str:
    return digest[: len("sha256:") + 12]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _notes(before_project: Path, before: str, after_project: Path, after: str) -> Iterator[str]:
    """Yield the notes of every release after the first up to the second; the new notes of a release
    that itself changed."""
    if before == after:
        known = {*_release_notes(before_project, before)}
        yield from (note for note in _release_notes(after_project, after) if note not in known)
    for name in names(after_project):
        if _rank(before) < _rank(name) <= _rank(after):
            yield from _release_notes(after_project, name)


def _given_up(project: Path, before: str, after: str) -> Iterator[str]:
    for name in reversed(names(project)):
        if _rank(after) < _rank(name) <= _rank(before):
            yield from (f"given up with {note}" for note in _release_notes(project, name))


def _release_notes(project: Path, name: str) -> list[str]:
    """Return the notes of a release."""
    try:
        notes = _read(project, name).get("notes")
    except _Unreadable:
        return []
    return [f"{name}: {_shown(note)}" for note in notes] if isinstance(notes, list) else []
