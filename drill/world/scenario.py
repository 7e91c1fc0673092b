"""Scenarios: the work and the faults of a drill, as data.

The project's own scenarios are in `scenarios/`. A file of the same form is a scenario too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from drill.world import scenario_texts as texts
from drill.world.record import Role
from sandbox.base.errors import SandboxError
from sandbox.base.yaml_file import read_yaml
from sandbox.cloud.spot_nodes import SpotFacts

Shortage = Literal["at-once", "20s", "provision-time"]
"""How the autoscaler learns that the cloud has no spot machine.

The request is refused; or its machines are known to have failed 20 s later; or the machines do not
come and the request times out.

On Azure the autoscaler's request returns before its outcome. A failure is logged and drops caches,
and no error reaches the loop (cluster-autoscaler 1.36.1, azure_scale_set.go 686-714; fast deletion
of failed machines is off by default, azure_config.go 110). So users wait for the provision time
(Azure/AKS #4405, 20 minutes; kubernetes/autoscaler #8323, open). AKS' own fork seems to have fast
deletion on: its tests call "off" the self-hosted case, and #5589 says that pools back off, except
with `Deallocate`. A design draft of the fork (Azure/autoscaler, March 2026) says that a failed
allocation is known after 1 to 10 minutes, since states of machines are cached for about 5, and at
worst after the provision time. UNCONFIRMED on a cluster: the drill plays the stricter case.
On Google errors of instances reach the loop (cloudprovider/gce; GKE's event
scale.up.error.out.of.resources).
"""
FAILED_AFTER = 20.0
"""Seconds until a machine that cannot be made is known to have failed, by the signal `20s`
(autoscaler PR 5548)."""


def assumed_shortage(facts: SpotFacts) -> Shortage:
    """Return the signal that is assumed of a cloud."""
    return "at-once" if facts.surfaced else "provision-time"


Nodes = Annotated[int | Literal["all"], BeforeValidator(texts.nodes)]
Duration = Annotated[float, BeforeValidator(texts.seconds)]
Span = Annotated[tuple[float, float], BeforeValidator(texts.spread)]
Amount = Annotated[int | str, BeforeValidator(texts.amount)]


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


SAVE = 2.0
"""Seconds of `saveTakes` by default. Assumed: a step and a small model. examples/training saves in
less (docs/workloads.md)."""

ENDING = ("Job", "Workflow")
"""Kinds of work that end."""


class Workload(_Strict):
    """Work of one kind: `count` objects arrive one after the other, each of `pods` pods."""

    name: Annotated[str, Field(pattern=r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$")]
    role: Role
    kind: Literal["Job", "StatefulSet", "Deployment", "Workflow"] = "Job"
    count: Amount = 1
    pods: Amount = 1
    parallelism: Amount | None = None
    """Pods of a Job at the same time; all by default."""
    at: Duration = 0.0
    every: Duration = 0.0
    """Seconds between two objects."""
    drawn: bool = False
    """Whether the times between two objects are drawn exponentially, with `every` as their mean."""
    run_for: Span | None = None
    """How long a Job's pod works. From a range it is drawn, evenly on a logarithmic scale."""
    checkpoint_every: Duration | None = None
    save_takes: Duration = SAVE
    """Seconds from SIGTERM until a pod that keeps checkpoints has ended its step and saved.

    Nothing is lost if the notice is as long.
    """
    gpus: Annotated[int, Field(ge=0, le=16)] = 1
    cpu: str = "500m"
    memory: str = "1Gi"
    namespace: Literal["kubeflow", "team-a"] = "team-a"
    greedy: bool = False
    """Whether it tolerates every taint and requires spot, which the guard must refuse."""

    @model_validator(mode="after")
    def _whole(self) -> Workload:
        if (self.kind in ENDING) != (self.run_for is not None):
            raise ValueError("a Job or a Workflow has `runFor`, and nothing else has")
        for name, kinds in (("parallelism", ("Job",)), ("checkpoint_every", ENDING)):
            if self.kind not in kinds and getattr(self, name) is not None:
                raise ValueError(
                    f"`{to_camel(name)}` does nothing for a {self.kind}:"
                    " leave it out, or make it a Job"
                )
        if self.kind == "Workflow" and self.pods != 1:
            raise ValueError(
                "`pods` does nothing for a Workflow, whose step is one pod: write `count`"
            )
        saves = self.kind == "Job" and self.checkpoint_every is not None
        if "save_takes" in self.model_fields_set and not saves:
            raise ValueError(
                "`saveTakes` is of a Job with `checkpointEvery`: others do not save after SIGTERM"
            )
        if self.drawn and not self.every:
            raise ValueError("`drawn` draws around `every`: write `every`, such as 5m")
        return self


class Eviction(_Strict):
    """The cloud takes spot machines back."""

    pool: str = "*"
    zone: str = "*"
    nodes: Nodes = "all"
    notice: bool = True
    """Whether the cloud gives its notice. Without it the machine is gone at once."""
    within: Duration = 0.0
    """The time in which they go, one after the other."""


class CapacityChange(_Strict):
    """A change of the spot machines that a zone can give. Machines beyond them are evicted."""

    machine: str = "*"
    zone: str = "*"
    """A zone, `first` for the first of each pool's, or all."""
    nodes: int | None = None
    """None for no bound."""
    share: Annotated[int, Field(ge=0, le=100)] | None = None
    """In place of `nodes`: a share of each pool's maximum, in percent."""
    within: Duration = 0.0

    @model_validator(mode="after")
    def _plain(self) -> CapacityChange:
        if (self.nodes or 0) < 0:
            raise ValueError("`nodes` is not negative: write 0 for none")
        if self.share is not None and self.nodes is not None:
            raise ValueError("write `nodes` or `share`")
        return self


class Place(_Strict):
    """Pools to which a fault applies."""

    pool: str = "*"
    capacity: Literal["spot", "on-demand", "*"] = "spot"
    nodes: Nodes = "all"
    seconds: Duration = 0.0

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        """Let a fault of a named pool hold for spot and on demand."""
        if isinstance(given, dict) and given.get("pool", "*") != "*":
            return {"capacity": "*", **given}
        return given


class KubernetesObject(_Strict):
    """An object by its name."""

    api_version: str
    kind: str
    name: str
    namespace: str | None = None


class Fault(_Strict):
    """One event at a time: exactly one of the other keys is set."""

    at: Duration
    until: Duration | None = None
    capacity: CapacityChange | None = None
    evict: Eviction | None = None
    refuse: Place | None = None
    """The cloud refuses requests at once."""
    silent: Place | None = None
    """The cloud accepts requests, and the machines never register."""
    slow: Place | None = None
    """Machines register so many `seconds` later than usual."""
    late_plugin: Place | None = None
    """The device plugin reports GPUs so many `seconds` later than usual."""
    unready: Place | None = None
    """Nodes that exist are not Ready."""
    upgrade: Place | None = None
    """Nodes are replaced, one after the other."""
    scan_before_cordon: Place | None = None
    """The autoscaler scans between the taint of an eviction's notice and the cordon."""
    restart_autoscaler: bool = False
    apply: dict[str, Any] | None = None
    """Somebody applies an object of Kubernetes."""
    delete: KubernetesObject | None = None
    """Somebody deletes an object of Kubernetes."""

    @model_validator(mode="after")
    def _one(self) -> Fault:
        given = [name for name in FAULTS if getattr(self, name)]
        if len(given) != 1:
            raise ValueError(f"write exactly one of {', '.join(to_camel(name) for name in FAULTS)}")
        if self.until is not None and self.until <= self.at:
            raise ValueError("`until` is not after `at`")
        if self.until is not None and given[0] not in _LASTING:
            remedy = "; write a later fault `capacity: {nodes: null}`" if self.capacity else ""
            raise ValueError(
                f"`until` does nothing for `{to_camel(given[0])}`, which has no end:"
                f" leave it out{remedy}"
            )
        if isinstance(place := getattr(self, given[0]), Place):
            _require_keys(given[0], place)
        return self


def _require_keys(fault: str, place: Place) -> None:
    """Raise ValueError for a key that this fault does not read, or that it lacks."""
    name = to_camel(fault)
    if place.nodes != "all" and fault not in _COUNTED:
        raise ValueError(
            f"`{name}.nodes` does nothing: the fault is about whole pools; name them with `pool`"
        )
    if fault in _DELAYED and not place.seconds:
        raise ValueError(f"`{name}.seconds` is missing: write by how much later, such as 2m")
    if place.seconds and fault not in _DELAYED:
        raise ValueError(
            f"`{name}.seconds` does nothing: leave it out; the fault lasts from `at` to `until`"
        )


_LASTING = ("refuse", "silent", "slow", "late_plugin", "unready", "scan_before_cordon")
FAULTS = ("capacity", "evict", *_LASTING, "upgrade", "restart_autoscaler", "apply", "delete")
_DELAYED = ("slow", "late_plugin")
"""Faults that need `seconds`."""
_COUNTED = ("unready", "upgrade")
"""Faults that may concern only some nodes of their pools."""


class Scenario(_Strict):
    """A scenario: `load_scenario("week")`."""

    description: str
    length: Annotated[float, BeforeValidator(texts.length)]
    work: list[Workload]
    faults: list[Fault] = []
    drawn_capacity: bool = False
    """Whether the capacity over time is drawn from measurements."""
    boot: Duration = 100.0
    """Seconds from the request to the registration of a machine. Assumed: machines with GPUs were
    seen to take 4 to 11 minutes."""
    notice: Duration | None = None
    """Seconds from the notice of an eviction to the machine's end; None for the cloud's own."""
    shortage: Shortage | None = None
    """None for `assumed_shortage`."""
    slowdown: Annotated[float, Field(ge=1)] = 2.0
    """Work should be done within so many times its need after its submission."""
    retries: bool = True
    """Whether Workflows have the defaults of kubeflow/components/retry."""

    @model_validator(mode="after")
    def _within(self) -> Scenario:
        late = [f"faults[{n}].at" for n, fault in enumerate(self.faults) if fault.at > self.length]
        late += [f"work[{n}].at" for n, work in enumerate(self.work) if work.at > self.length]
        if late:
            raise ValueError(f"{', '.join(late)}: after the end of the scenario, `length`")
        names = [work.name for work in self.work]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"work: the name {', '.join(twice)} is there twice")
        return self


DEFAULT = "spot-gone-and-back"


_FOLDER = Path(__file__).parent / "scenarios"


def scenario_names() -> list[str]:
    """List the project's own scenarios."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def load_scenario(name: str) -> Scenario:
    """Read a scenario by its name, or from a file.

    Raises SandboxError with every problem and its path.
    """
    path = _FOLDER / f"{name}.yaml" if name in scenario_names() else Path(name)
    if not path.is_file():
        raise SandboxError(
            f"there is no scenario {name!r}, nor a file of that name;"
            f" there are: {', '.join(scenario_names())}"
        )
    try:
        return Scenario.model_validate(read_yaml(path))
    except ValidationError as wrong:
        problems = [
            f"  {_path(each['loc'])}: {each['msg'].removeprefix('Value error, ')}"
            for each in wrong.errors()
        ]
        raise SandboxError("\n".join([f"{path.name} is no scenario:", *problems])) from None


def _path(place: tuple[int | str, ...]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".") or "the file"
