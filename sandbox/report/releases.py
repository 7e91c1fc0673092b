"""What a stack gets when it moves from one release to another, in words.

Reads config/releases of a checkout as data, the schema's titles among it: both checkouts may be strangers' branches.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox.base.errors import SandboxError

_FOLDERS = (Path("config", "releases"), Path("spec", "releases"))
"""Today's, and that of checkouts before the folder was renamed: a comparison reads older revisions."""
_NAME = re.compile(r"next|r\d{4}-\d{2}")
_IMAGE = re.compile(r"(?P<name>[^@\s]+):(?P<tag>[^:@/\s]+)@(?P<digest>sha256:[0-9a-f]{64})")
_LARGEST = 1_000_000
"""Bytes of a file that is read."""
_LONGEST = 300
"""Characters of a value that is shown."""

# learn.microsoft.com/azure/aks/upgrade-aks-cluster; pulumi-gcp, `minMasterVersion`: no lower than the cluster's is asked for.
_DOWNGRADE = (
    "AKS refuses to take a cluster's Kubernetes back. GKE keeps the control plane as it is, and what needs the newer Kubernetes"
    " is taken away all the same."
)

Content = dict[str, Any]


def _folder(project: Path) -> Path:
    """Where a checkout has its releases."""
    return next((project / place for place in _FOLDERS if (project / place).is_dir()), project / _FOLDERS[0])


def names(project: Path) -> list[str]:
    """The releases a checkout has, oldest first, the candidate last."""
    found = (path.stem for path in _folder(project).glob("*.toml"))
    return sorted(filter(_NAME.fullmatch, found), key=_rank)


def explained(project: Path, before: str, after: str) -> list[str]:
    """As `difference` within one checkout. Raises SandboxError for a release that it does not have."""
    for name in (before, after):
        if name not in names(project):
            known = ", ".join(names(project)) or "none"
            raise SandboxError(f"there is no release {name!r} in {_folder(project)}; releases there: {known}")
    return difference(project, before, project, after)


def difference(before_project: Path, before: str, after_project: Path, after: str) -> list[str]:
    """What moving from one checkout's release to another's changes, a sentence each; empty when nothing does.

    What cannot be read is said in a sentence as well.
    """
    try:
        old, new = _read(before_project, before), _read(after_project, after)
    except _Unreadable as unreadable:
        return [f"{before} -> {after} cannot be explained: {unreadable}"]
    pins = _pins("", _schema(after_project), old, new)
    if _rank(after) >= _rank(before):
        return [*pins, *_notes(before_project, before, after_project, after)]
    head = f"This goes back: {after} is older than {before}."
    return [head, *pins, *_given_up(before_project, before, after), *_told(after_project, after)]


class _Unreadable(Exception):
    pass


def _rank(name: str) -> tuple[bool, str]:
    return (name == "next", name)


def _read(project: Path, name: str) -> Content:
    # The name is a stranger's: it never becomes another path.
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
    """Without it pins have their keys' names."""
    path = _folder(project) / "schema.json"
    try:
        found = json.loads(path.read_text()) if path.stat().st_size <= _LARGEST else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _pins(title: str, schema: Content, old: Content, new: Content) -> Iterator[str]:
    for key in [*new, *(key for key in old if key not in new)]:
        if not title and key in ("notes", "released"):
            continue
        was, now = old.get(key), new.get(key)
        if type(was) is type(now) and was == now:
            continue
        part = _resolved(schema, key)
        named = part.get("title") if isinstance(part.get("title"), str) else key
        whole = f"{title}, {named}" if title else str(named)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from _pins(whole, part, was, now)
            continue
        yield _sentence(whole, was, now)
        if not title and key == "kubernetesVersion" and _lower(now, was):
            yield _DOWNGRADE


def _lower(version: Any, other: Any) -> bool:
    one, two = (re.match(r"(\d{1,3})\.(\d{1,3})(?!\d)", str(text)) for text in (version, other))
    return bool(one and two and (int(one[1]), int(one[2])) < (int(two[1]), int(two[2])))


def _resolved(schema: Content, key: str) -> Content:
    """The schema of a property, with the definitions that it may name."""
    properties, definitions = schema.get("properties"), schema.get("$defs")
    part = properties.get(key) if isinstance(properties, dict) else None
    if not isinstance(part, dict):
        return {}
    named = str(part.get("$ref", "")).rpartition("/")[2]
    target = definitions.get(named) if isinstance(definitions, dict) else None
    return {**(target if isinstance(target, dict) else {}), **part}


def _sentence(title: str, was: Any, now: Any) -> str:
    if was is None:
        return f"{title}: pinned from now on, {_shown(now)}."
    if now is None:
        return f"{title}: no longer pinned; was {_shown(was)}."
    one, other = (_IMAGE.fullmatch(value) if isinstance(value, str) else None for value in (was, now))
    if one and other and one["name"] == other["name"]:
        if one["tag"] == other["tag"]:
            digests = f"{_short(one['digest'])} -> {_short(other['digest'])}"
            return f"{title}: another image under the same tag {_shown(one['tag'])}: {digests}."
        return f"{title}: {_shown(one['tag'])} -> {_shown(other['tag'])} ({_shown(other['name'])})."
    return f"{title}: {_shown(was)} -> {_shown(now)}."


def _short(digest: str) -> str:
    return digest[: len("sha256:") + 12]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _notes(before_project: Path, before: str, after_project: Path, after: str) -> Iterator[str]:
    """Of every release after the one up to the other; of a release that itself changed, what is new."""
    if before == after:
        known = {*_told(before_project, before)}
        yield from (note for note in _told(after_project, after) if note not in known)
    for name in names(after_project):
        if _rank(before) < _rank(name) <= _rank(after):
            yield from _told(after_project, name)


def _given_up(project: Path, before: str, after: str) -> Iterator[str]:
    for name in reversed(names(project)):
        if _rank(after) < _rank(name) <= _rank(before):
            yield from (f"given up with {note}" for note in _told(project, name))


def _told(project: Path, name: str) -> list[str]:
    """The notes of a release."""
    try:
        notes = _read(project, name).get("notes")
    except _Unreadable:
        return []
    return [f"{name}: {_shown(note)}" for note in notes] if isinstance(notes, list) else []
