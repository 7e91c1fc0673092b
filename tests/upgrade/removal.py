"""Removal of a key from a stack file, without an engine: the program under mocks, and the emulated cloud's own diff.

A stack with the key is up in an emulated cloud (`Standing`). The key is removed, the program declares again and reads the live
cluster as usual, and the cloud's provider compares the result with its state. A row of `removals_aks.yaml` or `removals_gke.yaml`
names the steps that the engine would show, or the error that the program raises:

    cloud.access.authorizedRanges: update Cluster lab [masterAuthorizedNetworksConfig.cidrBlocks]
    cluster.tags: [update AgentPool lab-{t4,general} [tags.team], ...]      one step for each word in braces
    cloud.zones: {refused: ["cloud.zones: ", gcloud container clusters update]}     parts of the error
    pools.l4.labels: ...                      a pool by its name; the key is `pools.labels` in the count
    cloud.fallback.className: {inside: true}            nothing in the cloud, something inside the cluster
    cluster.reason: {nothing: "says why, nothing else"}       no step at all, and the reason
    cloud.tier of entra: ...                  on another stack than `full` (some keys exclude each other)

`also` is laid over the stack file without the key, where it would be invalid otherwise (as in `tests.upgrade.case.changed`).
`optional` lists the keys of a model, and a test compares them with the cases: a key without a case fails.
"""

import copy
import dataclasses
import json
import re
import shutil
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pydantic import BaseModel

from sandbox.cloud.provider import Diff, Resource, differences
from tests.components.emulation import Emulated, plain
from tests.components.program import declare
from tests.upgrade.case import FOLDER, Config, changed, lines, listed, spread

PREFIX = "kubeflow-spot:"
_NOT_SHOWN = ("kubeflow-spot:", "pulumi:")

State = dict[tuple[str, str], Resource]
"""Resources by type and name; those inside the cluster have inputs only."""


@dataclass(frozen=True)
class Removal:
    """The effect of removing one key; exactly one of the four outcomes is set."""

    key: str
    stack: str = "full"
    also: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    shows: tuple[str, ...] = ()
    """All steps of the cloud, as `tests.upgrade.case.lines` writes them."""
    refused: tuple[str, ...] = ()
    """Parts of the program's error."""
    inside: bool = False
    """Only objects inside the cluster change."""
    nothing: str = ""
    """The reason why no step is right."""

    @property
    def field(self) -> str:
        """The key without the names of pools and the numbers of items."""
        parts = [part for part in self.key.split(".") if not part.isdigit()]
        return ".".join([parts[0], *parts[2:]] if parts[0] == "pools" else parts)


def rows(cloud: str) -> tuple[list[Removal], dict[str, Config]]:
    """Return the cases of a cloud, and its stack files by name."""
    table = yaml.safe_load((FOLDER / f"removals_{cloud}.yaml").read_text())
    return [_removal(key, row) for key, row in table["removals"].items()], table["stacks"]


def _removal(key: str, row: Any) -> Removal:
    key, _, stack = key.partition(" of ")
    outcome = dict(row) if isinstance(row, dict) else {"shows": row}
    shows, refused = spread(outcome.pop("shows", ())), listed(outcome.pop("refused", ()))
    return Removal(key, stack or "full", shows=shows, refused=refused, **outcome)


def without(config: Config, removal: Removal) -> Config:
    """Return the settings without the key of the case. Raise KeyError when they do not have it."""
    # Not `deepcopy`: settings that two pools share are removed from one of them only.
    settings: Config = json.loads(json.dumps(config))
    parent: Any = settings
    *path, last = removal.key.split(".")
    for step in path:
        parent = _step(parent, step)
    if isinstance(parent, list):
        parent.remove(_step(parent, last))
    else:
        del parent[last]
    result: Config = changed(settings, removal.also)
    return result


def _step(parent: Any, name: str) -> Any:
    """Take one step of a key: of a list by the item's name, or by its number."""
    if isinstance(parent, list):
        return parent[int(name)] if name.isdigit() else next(item for item in parent if item["name"] == name)
    return parent[name]


def optional(model: type[BaseModel], path: str) -> Iterator[str]:
    """Yield the optional keys of a model, including those of its objects and lists.

    An object that always exists (`access`) is no key of its own; one that may be None (`maintenance`) is.
    """
    for name, field in model.model_fields.items():
        key = f"{path}.{field.alias or name}"
        inner = list(_models(field.annotation))
        always = bool(inner) and field.annotation is inner[0]
        if not field.is_required() and not always:
            yield key
        for part in inner:
            yield from optional(part, key)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif typing.get_origin(annotation) in (typing.Union, types.UnionType, tuple, list, typing.Annotated):
        for part in typing.get_args(annotation):
            yield from _models(part)


class Standing(Emulated):
    """A stack that is up in an emulated cloud, and the steps of a change of its file."""

    def __init__(self, cloud: Emulated, state: State | None = None) -> None:
        super().__init__(cloud.provider)
        self._cloud = cloud
        self._up = state is not None
        self.state: State = dict(state or {})
        self.outputs: dict[str, Any] = {}
        """The outputs of the stack's last `up`."""
        self._wanted: State = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        inputs = plain(args.inputs)
        key = (args.typ, args.name)
        of_the_cloud = args.typ.startswith(self._cloud.prefix)
        old = self.state.get(key)
        urn = f"urn:{args.typ}::{args.name}"
        if not of_the_cloud:
            self._wanted[key] = Resource(args.typ, args.name, urn, args.name, inputs=inputs)
            return args.name, inputs
        if old is None:
            # A new resource is created, because its outputs are needed; each case has a cloud of its own.
            id, outputs = self._cloud.make(args.typ, inputs, args.name)
        else:
            id, outputs = old.id, old.old_outputs
        self._wanted[key] = Resource(args.typ, args.name, urn, id, inputs=inputs, old_outputs=outputs)
        return id, outputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        if args.token == "pulumi:pulumi:readStackOutputs":
            return {"outputs": self.outputs}, []
        return self._cloud.call(args)

    def up(self, config: Config, monkeypatch: pytest.MonkeyPatch) -> State:
        """Create everything that the settings declare; return the state."""
        self.outputs = declare(_file(config), monkeypatch, cloud=self).outputs
        for key, wanted in self._wanted.items():
            inputs = wanted.inputs
            if wanted.type.startswith(self._cloud.prefix):
                inputs, failures = self.provider.check(wanted)
                assert not failures
            self.state[key] = dataclasses.replace(wanted, old_inputs=inputs)
        return self.state

    def steps(self, config: Config, monkeypatch: pytest.MonkeyPatch, *, apply: bool = False) -> list[dict[str, Any]]:
        """Return the steps of an `up` with these settings, in the form of `sandbox preview --json`; `apply` makes the updates.

        Raise the errors of the program.
        """
        self._wanted = {}
        self.refresh()
        declared = declare(_file(config), monkeypatch, cloud=self)
        options = {(resource.type, resource.name): resource.options for resource in declared.resources}
        steps: list[dict[str, Any]] = []
        for at, wanted in self._wanted.items():
            steps += self._step(at, wanted, options[at], apply)
        removed = [at for at in self.state if at not in self._wanted]
        steps += [_line("delete", self.state[at]) for at in removed]
        return [step for step in steps if not step["type"].startswith(_NOT_SHOWN)]

    def refresh(self) -> None:
        """Refresh the state, as `Pulumi.yaml` asks before each command."""
        for at, resource in list(self.state.items()):
            if resource.type.startswith(self._cloud.prefix):
                live = self.provider.read(resource)
                if live is None:
                    del self.state[at]
                else:
                    self.state[at] = dataclasses.replace(resource, old_inputs=live[0], old_outputs=live[1])

    def _step(
        self, at: tuple[str, str], wanted: Resource, options: Mapping[str, Any], apply: bool
    ) -> Iterator[dict[str, Any]]:
        old = self.state.get(at)
        if old is None:
            yield _line("create", wanted)
            return
        inputs = {
            **wanted.inputs,
            **{name: old.old_inputs[name] for name in options.get("ignoreChanges", ()) if name in old.old_inputs},
        }
        request = dataclasses.replace(old, inputs=inputs)
        if not wanted.type.startswith(self._cloud.prefix):
            if any(differences(old.old_inputs, inputs)):
                yield _line("update", wanted)
                self.state[at] = dataclasses.replace(old, old_inputs=inputs)
            return
        checked, failures = self.provider.check(request)
        assert not failures, failures
        request = dataclasses.replace(request, inputs=checked)
        diff = self.provider.diff(request)
        if not diff.changes:
            return
        replaced_by_option = set(options.get("replaceOnChanges", ()))
        diff.replaces |= {path for path in diff.changes if re.split(r"[.\[]", path)[0] in replaced_by_option}
        yield from _changed(request, diff, bool(options.get("deleteBeforeReplace")))
        if apply and not diff.replaces:
            outputs = self.provider.update(request)
            self.state[at] = dataclasses.replace(old, old_inputs=checked, old_outputs=outputs)


def _changed(resource: Resource, diff: Diff, delete_first: bool) -> Iterator[dict[str, Any]]:
    if not diff.replaces:
        yield _line("update", resource, sorted(diff.changes))
        return
    parts = ["create-replacement", "replace", "delete-replaced"]
    first = delete_first or diff.delete_before_replace
    for op in reversed(parts) if first else parts:
        yield _line(op, resource, sorted(diff.replaces))


def _line(op: str, resource: Resource, diff: Iterable[str] = ()) -> dict[str, Any]:
    return {"op": op, "type": resource.type, "name": resource.name, "urn": resource.urn, "diff": list(diff)}


def _file(config: Config) -> dict[str, Any]:
    return {f"{PREFIX}{key}": value for key, value in config.items()}


class Ups:
    """Stacks of one cloud, each brought up once; every case gets a copy of the cloud's state."""

    def __init__(self, folder: Path, cloud: Callable[[Path], Emulated], stacks: Mapping[str, Config]) -> None:
        self._folder, self._cloud, self._stacks = folder, cloud, stacks
        self._states: dict[str, tuple[State, dict[str, Any]]] = {}

    def at(self, stack: str, copy_to: Path, monkeypatch: pytest.MonkeyPatch) -> Standing:
        """Return the stack after its `up`, in a cloud of its own."""
        kept = self._folder / f"{stack}.json"
        if stack not in self._states:
            cloud = self._cloud(kept)
            cloud.seed(_file(self._stacks[stack]))  # type: ignore[attr-defined]
            standing = Standing(cloud)
            self._states[stack] = standing.up(self._stacks[stack], monkeypatch), standing.outputs
        shutil.copy(kept, copy_to)
        state, outputs = self._states[stack]
        standing = Standing(self._cloud(copy_to), copy.deepcopy(state))
        standing.outputs = outputs
        return standing


def check_removal(removal: Removal, standing: Standing, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check one case: the steps or the error; after updates no step is left."""
    removed = without(config, removal)
    if removal.refused:
        with pytest.raises(pulumi.RunError) as error:
            standing.steps(removed, monkeypatch)
        assert [part for part in removal.refused if part not in str(error.value)] == []
        return
    steps = standing.steps(removed, monkeypatch, apply=True)
    in_cloud = [step for step in steps if step["type"].startswith(standing._cloud.prefix)]
    assert lines(in_cloud, removal.shows) == sorted(removal.shows)
    assert bool(steps) is not bool(removal.nothing)
    assert removal.shows or removal.inside or removal.nothing
    if {step["op"] for step in in_cloud} <= {"update"}:
        assert [step for step in standing.steps(removed, monkeypatch) if step["op"] == "update"] == []
