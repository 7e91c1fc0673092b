"""The cloud file: the quotas of the emulated clouds, and existing resources in them.

    quotas:
      westeurope: {cores: 100, lowPriorityCores: 16, standardNCASv3_T4Family: 8}
      gcp:
        europe-west4: {PREEMPTIBLE_NVIDIA_L4_GPUS: 4, CPUS: 24}
        global: {GPUS_ALL_REGIONS: 8}
    resources:
      - type: azure-native:resources:ResourceGroup
        inputs: {resourceGroupName: shared, location: westeurope}
      - type: gcp:compute/network:Network
        inputs: {project: example, name: shared, autoCreateSubnetworks: false}

Azure's quotas count vCPUs, Google's the things in their names. A resource is made once, in the order of the file, by a request like
the program's own; an existing one is left alone, and a resource that is deleted later is not made again. A later file replaces the
quotas, if it has any, and adds its resources.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from sandbox.base.errors import SandboxError
from sandbox.base.files import read_json, write_private
from sandbox.base.yaml_file import read_yaml
from sandbox.cloud.provider import InitFailed, Props, Refused, Resource, join
from sandbox.cloud.quotas import KEPT
from sandbox.cloud.state import key
from sandbox.cluster.plugins import quotas_of
from sandbox.engine.clouds import Clouds, by_package, plugin_of


@dataclass
class Entry:
    """One resource of a cloud file, and whether it exists already."""

    type: str
    inputs: Props
    place: str
    """`resources[0] of shared.yaml`, for errors."""
    made: bool = False

    @property
    def id(self) -> str:
        return plugin_of(self.type).id_of(self.type, self.inputs)

    @property
    def name(self) -> str:
        return self.id.rstrip("/").rsplit("/", 1)[-1]


@dataclass
class CloudFile:
    """The content of the cloud files of one home."""

    quotas: dict[str, Any] | None = None
    resources: list[Entry] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path, clouds: Clouds) -> CloudFile:
        """Return a user's file. Raises SandboxError with everything that is wrong with it; the cloud is not changed."""
        content = read_yaml(path)
        problems = [
            f"{key}: is an unknown key; known keys: quotas, resources"
            for key in content.keys() - {"quotas", "resources"}
        ]
        cloud_file = cls(content.get("quotas"))
        if "quotas" in content:
            problems += _quota_problems(content["quotas"])
        resources = content.get("resources", [])
        if not isinstance(resources, list):
            problems.append("resources: is not a list")
            resources = []
        for index, item in enumerate(resources):
            wrong = list(_entry_problems(item, f"resources[{index}]", clouds))
            problems += wrong
            if not wrong:
                cloud_file.resources.append(Entry(item["type"], item["inputs"], f"resources[{index}] of {path.name}"))
        places: dict[str, str] = {}
        for entry in cloud_file.resources:
            first = places.setdefault(key(entry.id), entry.place)
            if first != entry.place:
                problems.append(f"{entry.place}: is the same resource as {first}")
        if problems:
            count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
            raise SandboxError("\n  ".join([f"{count} in the cloud file {path}; nothing was changed:", *problems]))
        return cloud_file

    @classmethod
    def kept(cls, folder: Path) -> CloudFile:
        """Return the content that was kept in this folder; empty where no cloud file was given."""
        try:
            content = read_json(folder / KEPT)
        except FileNotFoundError:
            return cls()
        return cls(content["quotas"], [Entry(**entry) for entry in content["resources"]])

    def keep(self, folder: Path) -> None:
        """Write what `kept` reads; nothing where no cloud file was ever given."""
        if self == CloudFile():
            return
        folder.mkdir(parents=True, exist_ok=True)
        write_private(folder / KEPT, json.dumps(asdict(self), indent=1).encode())

    def given(self) -> dict[str, Any]:
        """Return the content as a user's file would have it, for another cloud."""
        quotas = {} if self.quotas is None else {"quotas": self.quotas}
        return quotas | {"resources": [{"type": entry.type, "inputs": entry.inputs} for entry in self.resources]}

    def add(self, later: CloudFile) -> None:
        """Add a later file: its quotas replace the old ones, and resources that were made stay as they are."""
        if later.quotas is not None:
            self.quotas = later.quotas
        existing = [entry for entry in self.resources if entry.made]
        known = {key(entry.id) for entry in existing}
        new = [entry for entry in later.resources if key(entry.id) not in known]
        again = {key(entry.id) for entry in new}
        waiting = [entry for entry in self.resources if not entry.made and key(entry.id) not in again]
        self.resources = [*existing, *waiting, *new]

    def remaining(self, clouds: Clouds) -> int:
        """Return the number of its resources that exist now."""
        return sum(clouds.holding(entry.id).get(entry.id) is not None for entry in self.resources)


@contextmanager
def changing(folder: Path) -> Iterator[CloudFile]:
    """Yield the content that is kept in this folder, to be changed by one command at a time; written back in any case."""
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{KEPT}.lock"):
        cloud_file = CloudFile.kept(folder)
        try:
            yield cloud_file
        finally:
            cloud_file.keep(folder)


def make(cloud_file: CloudFile, clouds: Clouds, report: Callable[[str], None]) -> None:
    """Make the resources that were not made yet. Raises SandboxError with everything the cloud refuses."""
    refusals = []
    for entry in cloud_file.resources:
        if entry.made:
            continue
        try:
            if clouds.holding(entry.id).get(entry.id) is None:
                provider = clouds.provider(plugin_of(entry.type).package)
                # Checked again: the default of its location may come from a group that did not exist before.
                checked, _ = provider.check(_request(entry.type, entry.inputs))
                provider.create(_request(entry.type, checked))
                report(f"cloud file: made {entry.type} {entry.name}")
            entry.made = True
        except (Refused, InitFailed) as refused:
            refusals.append(f"{entry.place}: {entry.type} {entry.name}: {refused}")
    if refusals:
        raise SandboxError("\n  ".join(["the emulated cloud refuses resources of the cloud file:", *refusals]))


def _request(type: str, inputs: Props) -> Resource:
    return Resource(type, "cloudfile", "", inputs=inputs)


def _quota_problems(quotas: Any) -> Iterator[str]:
    if not isinstance(quotas, dict):
        yield "quotas: is not an object"
        return
    for plugin in by_package().values():
        try:
            plugin.quotas.parse_quotas(quotas_of(plugin.name, quotas))
        except SandboxError as wrong:
            yield from str(wrong).splitlines()


def _entry_problems(item: Any, path: str, clouds: Clouds) -> Iterator[str]:
    if not isinstance(item, dict):
        yield f"{path}: is not an object with `type` and `inputs`"
        return
    for unknown_key in item.keys() - {"type", "inputs"}:
        yield f"{join(path, unknown_key)}: is an unknown key; known keys: type, inputs"
    type, inputs = item.get("type"), item.get("inputs", {})
    if not isinstance(inputs, dict):
        yield f"{path}.inputs: is not an object"
        return
    try:
        needed = plugin_of(str(type)).naming(str(type))
    except Refused as unknown:
        yield f"{path}.type: {unknown if type else 'is missing'}"
        return
    # A provider would choose a random name, another one each time; it has no project of its own.
    for name in (name for name in needed if name not in inputs):
        yield f"{path}.inputs.{name}: is missing; a resource of a cloud file needs a name"
    _, failures = clouds.provider(plugin_of(str(type)).package).check(_request(str(type), inputs))
    for failure in failures:
        where = f"{path}.inputs.{failure.property}" if failure.property else f"{path}.inputs"
        yield f"{where}: {failure.reason}"
