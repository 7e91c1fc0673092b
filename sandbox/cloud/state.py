"""An emulated cloud's memory: one JSON file that survives a kill at any point.

A change is a whole new file, flushed and renamed over the old one, made under a lock that other processes honour too.
A record is what the service would return, in the form in which the provider shows it.

Deliberately keeps no history and no copy in memory: two commands may work on the same file.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from sandbox.base.files import Unreadable
from sandbox.cloud.ids import key as key

Body = dict[str, Any]

_FORMAT = 1


@dataclass
class Record:
    """One resource: its token, its id as the service spells it, and its body."""

    token: str
    id: str
    body: Body


@dataclass
class Resources:
    """Every resource, in order of creation, by lower-cased id."""

    records: dict[str, Record] = field(default_factory=dict)

    def get(self, id: str) -> Record | None:
        return self.records.get(key(id))

    def put(self, record: Record) -> None:
        self.records[key(record.id)] = record

    def remove(self, id: str) -> None:
        """Remove a resource and all that is below it."""
        prefix = key(id)
        for known in [k for k in self.records if k == prefix or k.startswith(prefix + "/")]:
            del self.records[known]

    def of_type(self, token: str, below: str = "") -> list[Record]:
        """Return the resources of a type, optionally only those whose id is below another's."""
        prefix = key(below) + "/" if below else ""
        return [r for k, r in self.records.items() if r.token == token and k.startswith(prefix)]


class Store:
    """The file, its lock, and one reading or one change at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock_path = path.with_name(path.name + ".lock")

    def read(self) -> Resources:
        """Return the last completed change. Renaming is atomic, so reading needs no lock. Raises Unreadable."""
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Resources()
        try:
            stored = json.loads(text)
            if stored["format"] != _FORMAT:
                raise ValueError(f"its format is {stored['format']}, and this sandbox reads {_FORMAT}")
            return Resources({key(r["id"]): Record(r["type"], r["id"], r["body"]) for r in stored["resources"]})
        except (ValueError, KeyError, TypeError) as error:
            raise Unreadable(self._path, error) from error

    @contextmanager
    def change(self) -> Iterator[Resources]:
        """Read, let the caller change, write; nothing is written when the caller raises."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._lock_path, poll_interval=0.01):
            resources = self.read()
            yield resources
            self._write(resources)

    def _write(self, resources: Resources) -> None:
        # A resource a line can still be read, and takes a tenth of the time of indented JSON.
        lines = [json.dumps({"type": r.token, "id": r.id, "body": r.body}) for r in resources.records.values()]
        fresh = self._path.with_name(self._path.name + ".new")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(f'{{"format": {_FORMAT}, "resources": [\n' + ",\n".join(lines) + "\n]}\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        # The rename itself must reach the disk, or a crash brings back the old file.
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


@dataclass(frozen=True)
class States:
    """One cloud's words for the states of clusters and pools, in the property `field`."""

    field: str
    creating: str
    updating: str
    deleting: str
    succeeded: str
    failed: str
    retried: bool = False
    """Whether `reconcile` tries again what had failed."""

    def begin(self, record: Record, state: str) -> None:
        record.body[self.field] = state

    def end(self, record: Record, *, failed: bool = False) -> None:
        record.body[self.field] = self.failed if failed else self.succeeded

    def mark_of(self, record: Record) -> str | None:
        """Return the state of a cluster or pool; None where it has none."""
        return record.body.get(self.field)

    def running(self, record: Record) -> bool:
        return self.mark_of(record) in (self.creating, self.updating, self.deleting)

    def ending(self, record: Record) -> bool:
        """Return whether it is being deleted."""
        return self.mark_of(record) == self.deleting
