"""Manifests of public projects on a real API server and scheduler, with everything made of them.

The custom objects are stored under definitions without a schema, so that the program's policies see
them; stand-ins make of them what their controllers would, and Kubernetes' own controllers the rest.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sandbox.tests.api import Object, Refused
from sandbox.tests.stack import eventually
from tests.admission.bed import Bed
from tests.admission.operators import NAMESPACE, clear
from tests.admission.posting import SETTLED, bare, by_maker, decision, landing, named
from tests.admission.projects import GPU, Manifest, stem
from tests.admission.served import definition
from tests.admission.stand_ins import STAND_INS, makes

STATES = {"both": {"t4": 1, "t4od": 1}, "only on-demand": {"t4": 0, "t4od": 1}}
"""Numbers of nodes of the GPU pools, each with room for every pod, in the order of LANDS."""
_ROOM = {GPU: "500", "pods": "1000", "cpu": "1000"}
_COUNTED = {"Pod": "", "Job": "parallelism", "Deployment": "replicas", "StatefulSet": "replicas"}
"""The field with the number of pods, by the kinds that Kubernetes' own controllers serve."""
_MAKERS = (("batch/v1", "CronJob"), ("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"))


@dataclass
class Outcome:
    """What became of one role of a manifest."""

    pods: list[Object] = field(default_factory=list)
    """The pods as they were admitted."""
    refused: str = ""
    """The message of a refusal."""
    landed: dict[str, str] = field(default_factory=dict)
    """The pool by state, or `pending`."""

    @property
    def forms(self) -> set[str]:
        """What of the pods decides about their nodes, as the spec of a pod in JSON.

        Other schedulers follow the same tolerations and affinities; none of them runs here.
        """
        return {_form(pod["spec"]) for pod in self.pods}

    @property
    def gpu(self) -> bool:
        """Whether the role asks for GPUs."""
        return any(GPU in form for form in self.forms)


def _form(spec: Object) -> str:
    kept = {key: spec[key] for key in ("tolerations", "affinity", "nodeSelector") if key in spec}
    asks = GPU in json.dumps([spec["containers"], spec.get("initContainers")])
    resources = {"limits": {GPU: "1"}} if asks else {}
    container = {"name": "main", "image": "example.invalid/work:1", "resources": resources}
    return json.dumps(kept | {"containers": [container]})


Outcomes = dict[tuple[str, str], Outcome]
"""By the names of manifest and role."""


def definitions(manifests: Sequence[Manifest]) -> list[Object]:
    """Return a CustomResourceDefinition for each kind of the manifests, which takes any fields."""
    kinds = set(STAND_INS)
    kinds |= {(body["apiVersion"], body["kind"]) for each in manifests for body in each.objects}
    versions: dict[tuple[str, str], list[str]] = defaultdict(list)
    for version, kind in sorted(kinds):
        group, _, number = version.rpartition("/")
        if "." in group:
            versions[group, kind].append(number)
    return [definition(group, kind, numbers) for (group, kind), numbers in versions.items()]


def unscheduled(part: Any) -> Any:
    """Return a part of a manifest whose pods no scheduler takes, and whose jobs no queue holds."""
    if isinstance(part, list):
        return [unscheduled(item) for item in part]
    if not isinstance(part, dict):
        return part
    kept = {key: unscheduled(value) for key, value in part.items() if key != "suspend"}
    return kept | ({"schedulerName": "nobody"} if "containers" in part else {})


class _Grown:
    """One manifest, and everything that was made of it."""

    def __init__(self, bed: Bed, manifest: Manifest) -> None:
        self._bed, self._manifest = bed, manifest
        self.leaves: list[tuple[str, Object]] = []
        """Roles and objects whose pods Kubernetes' own controllers make, or that are pods."""
        self.refused: dict[str, str] = {}
        try:
            for body in manifest.objects:
                self._grow("", self._post(body, None))
        except Refused as refused:
            self.refused = dict.fromkeys(map(stem, manifest.expect), refused.message)

    def _grow(self, role: str, stored: Object) -> None:
        if stored["kind"] in _COUNTED and (stored["apiVersion"], stored["kind"]) not in STAND_INS:
            self.leaves.append((role or "pod", stored))
        made = makes(stored, self._manifest)
        wanted = next(made, None)
        while wanted:
            own_role, body, user = wanted
            child = self._post(body, user)
            self._grow(own_role or role, child)
            try:
                wanted = made.send(child)
            except StopIteration:
                return

    def _post(self, body: Object, user: str | None) -> Object:
        kind = {"apiVersion": body["apiVersion"], "kind": body["kind"]}
        wanted = unscheduled(body)
        created = eventually(lambda: _created(self._bed, wanted, user), f"{kind} is accepted")
        return dict(created) | kind


def _created(bed: Bed, wanted: Object, user: str | None) -> Object:
    """Create an object; nothing while a mutating policy waits for the schema of a new definition."""
    try:
        return bed.api.create(wanted, user=user)
    except Refused as refused:
        if refused.status != 503:
            raise
        return {}


def observe(bed: Bed, manifests: Mapping[str, Manifest]) -> Outcomes:
    """Return what became of every role. Leaves the cluster without GPU nodes and these pods."""
    account = named("v1", "ServiceAccount", "default", NAMESPACE)
    eventually(partial(bed.api.exists, account), "the profile has its service account")
    outcomes: Outcomes = defaultdict(Outcome)
    try:
        grown = {name: _Grown(bed, manifest) for name, manifest in manifests.items()}
        leaves = [((name, role), leaf) for name, each in grown.items() for role, leaf in each.leaves]
        condition = "every manifest has its pods"
        pods = eventually(lambda: _complete(bed, [leaf for _, leaf in leaves]), condition, pause=0.1)
        for key, leaf in leaves:
            outcomes[key].pods += pods[leaf["metadata"]["uid"]]
        for name, each in grown.items():
            for role, message in each.refused.items():
                outcomes[name, role].refused = message
    finally:
        # The custom objects go with their definitions. Whatever makes pods goes before them.
        for version, kind in _MAKERS:
            bed.api.clear(version, kind, NAMESPACE)
        clear(bed)
    try:
        for state, nodes in STATES.items():
            _roomy(bed, nodes)
            _land(bed, state, outcomes)
    finally:
        bed.scale(t4=0, t4od=0)
    return dict(outcomes)


def _complete(bed: Bed, leaves: Sequence[Object]) -> dict[str, list[Object]]:
    """Return the pods by the uid of what made them, or of their own; nothing until all exist."""
    found = by_maker(bed.api.list("v1", "Pod", NAMESPACE), bed.api.list("apps/v1", "ReplicaSet", NAMESPACE))
    enough = all(len(found[leaf["metadata"]["uid"]]) >= count(leaf) for leaf in leaves)
    return found if enough else {}


def count(leaf: Object) -> int:
    """Return the number of pods that there will be of a pod, or of what makes pods."""
    spec = leaf["spec"]
    wanted = int(spec.get(_COUNTED[leaf["kind"]], 1))
    return min(wanted, spec.get("completions", wanted))


def _roomy(bed: Bed, nodes: Mapping[str, int]) -> None:
    bed.scale(**nodes)
    for node, pool in bed.pools().items():
        if pool in nodes:
            target = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
            room = {"capacity": _ROOM, "allocatable": _ROOM}
            bed.api.patch(target, {"status": room}, "/status")


def _land(bed: Bed, state: str, outcomes: Outcomes) -> None:
    """Let the scheduler place one pod of each form that the admitted pods have."""
    forms = {form for outcome in outcomes.values() for form in outcome.forms}
    pods = {form: f"form-{number}" for number, form in enumerate(sorted(forms))}
    for form, name in pods.items():
        bed.api.create(bare(name, {"spec": json.loads(form)}))
    decided: dict[str, str] = {}

    def all_decided() -> bool:
        items = bed.api.list("v1", "Pod", SETTLED)
        decided.update({pod["metadata"]["name"]: decision(pod) for pod in items})
        return all(decided.get(name) for name in pods.values())

    eventually(all_decided, "the scheduler has decided", pause=0.1)
    pools = bed.pools()
    for outcome in outcomes.values():
        found = {landing(decided[pods[form]], pools) for form in outcome.forms}
        outcome.landed[state] = ", ".join(sorted(found))
    bed.api.clear("v1", "Pod", SETTLED)
    eventually(lambda: not bed.api.list("v1", "Pod", SETTLED), "the pods are gone")
