"""Golden pods on a real cluster: each pod after admission, and the node that the scheduler chooses."""

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial

from sandbox.tests.api import Object, Refused
from sandbox.tests.policies_in_force import await_policies
from sandbox.tests.stack import eventually
from tests.admission.additions import plain
from tests.admission.bed import NAMESPACES, Bed
from tests.admission.corpus import STATES, Golden, Outcome
from tests.admission.posting import (
    JUDGED,
    SETTLED,
    anew,
    bare,
    by_maker,
    controller_user,
    decision,
    furniture,
    landing,
    named,
    owners,
    places,
    pod_owner,
    pool_names,
    unmatched,
)

_LONG = 0.25
"""Seconds between two reads of all pods."""
_RETRY = 3
"""Seconds; the scheduler waits one second before it tries a pod again."""
_MADE = (("batch/v1", "Job"), ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("v1", "Pod"))
_KIND = "kind"
"""The annotation with the workload kind."""


def observe(bed: Bed, goldens: Iterable[Golden]) -> dict[str, Outcome]:
    """Return the outcome of every golden pod, by its name. Leave the cluster without GPU nodes and these pods."""
    if policies := _kind_policies(bed):
        for body in policies:
            bed.api.create(body)
        await_policies(bed.api)
    outcomes = _Observer(bed, {golden.name: golden for golden in goldens}).run()
    for body in policies:
        bed.api.delete(body)
    return outcomes


def _kind_policies(bed: Bed) -> list[Object]:
    """Return the stack's policy as it writes the workload kind of a pod into an annotation, in one namespace."""
    mutating = [body for body in bed.objects if body["kind"] == "MutatingAdmissionPolicy"]
    policies = [body for body in mutating if body["metadata"]["name"].endswith("-defaults")]
    if not policies:
        return []
    base = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "golden-kinds"}}
    expression = (
        "(has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}])"
        f" + [JSONPatch{{op: 'add', path: '/metadata/annotations/{_KIND}', value: variables.kind}}]"
    )
    spec = copy.deepcopy(policies[0]["spec"])
    spec["matchConstraints"]["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": JUDGED}}
    spec["mutations"] = [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]
    binding = {"policyName": "golden-kinds"}
    return [
        {**base, "kind": "MutatingAdmissionPolicy", "spec": spec},
        {**base, "kind": "MutatingAdmissionPolicyBinding", "spec": binding},
    ]


def _bound(claim: Object) -> bool:
    return bool(claim.get("status", {}).get("phase") == "Bound")


def _second_chance(landed: Callable[[], bool]) -> None:
    """Wait a moment for pods that should land: the scheduler tries again a second later.

    It may not know yet that the pods before them are deleted, or that a controller has bound a claim.
    """
    with suppress(AssertionError):
        eventually(landed, "another try", _RETRY)


class _Observer:
    def __init__(self, bed: Bed, goldens: Mapping[str, Golden]) -> None:
        self._bed, self._api, self._goldens = bed, bed.api, goldens
        self._agents = {n: g for n, g in goldens.items() if g.object["kind"] == "DaemonSet"}
        self._outcomes = {name: Outcome() for name in goldens}

    def run(self) -> dict[str, Outcome]:
        first, *others = STATES
        self._bed.scale(**STATES[first])
        self._furnish()
        self._refusals()
        self._arrive(first)
        self._second_passes()
        self._clear()
        self._agents_land(first)
        for state in others:
            self._bed.scale(**STATES[state])
            self._land(state)
            self._agents_land(state)
        self._bed.scale(**STATES[first])
        return self._outcomes

    def _furnish(self) -> None:
        """Create the service accounts and volumes that pods name, in every namespace of the pods."""
        for golden in self._goldens.values():
            for namespace in places(golden):
                for body in furniture(golden, namespace):
                    self._api.create_once(body)
        # The scheduler calls a pod unschedulable while a controller has still to bind its claim.
        eventually(lambda: all(map(_bound, self._api.list("v1", "PersistentVolumeClaim"))), "every claim is bound")
        for namespace in NAMESPACES:
            account = named("v1", "ServiceAccount", "default", namespace)
            eventually(partial(self._api.exists, account), f"{namespace} has its service account")

    def _refusals(self) -> None:
        for golden in self._goldens.values():
            if golden.expect.refused:
                try:
                    self._api.create(golden.object, user=golden.user, dry_run=True)
                except Refused as refused:
                    self._outcomes[golden.name].refused = refused.message

    def _arrive(self, state: str) -> None:
        """Create all objects in their namespaces, and once more where no policy selects them."""
        created: dict[tuple[str, bool], Object] = {}
        # The executors of a pod are created after it.
        for golden in sorted(self._goldens.values(), key=lambda g: bool(pod_owner(g.object))):
            if golden.expect.refused or golden.name in self._agents:
                continue
            for untouched in (False, True):
                wanted = copy.deepcopy(golden.object)
                if untouched:
                    wanted["metadata"]["namespace"] = unmatched(golden)
                if owner := pod_owner(wanted):
                    owning = named("v1", "Pod", owner["name"], golden.namespace)
                    owner["uid"] = self._api.get(owning)["metadata"]["uid"]
                if untouched and golden.user:
                    self._outcomes[golden.name].untouched = self._api.create(wanted, user=golden.user, dry_run=True)
                else:
                    created[golden.name, untouched] = self._api.create(wanted, user=golden.user)
        condition = "every golden pod is scheduled or unschedulable"
        pods = eventually(lambda: self._settled(created), condition, pause=_LONG)
        expected = [(g.name, False) for g in self._goldens.values() if g.expect.lands[0] != "pending"]
        landing_later = [key for key in expected if key in created]

        def landed() -> bool:
            pods.update(self._settled(created))
            return all(decision(pods[key]) != "pending" for key in landing_later)

        _second_chance(landed)
        pools = self._bed.pools()
        for (name, untouched), pod in pods.items():
            if untouched:
                self._outcomes[name].untouched = pod
            else:
                self._outcomes[name].pod = pod
                self._outcomes[name].landed[state] = landing(decision(pod), pools)

    def _settled(self, created: Mapping[tuple[str, bool], Object]) -> dict[tuple[str, bool], Object]:
        """Return the pods of these objects, as soon as each has one and the scheduler has decided."""
        found = by_maker(self._api.list("v1", "Pod"), self._api.list("apps/v1", "ReplicaSet"))
        pods = {key: found[uid][0] for key, body in created.items() if found[uid := body["metadata"]["uid"]]}
        return pods if len(pods) == len(created) and all(map(decision, pods.values())) else {}

    def _second_passes(self) -> None:
        for name, outcome in self._outcomes.items():
            if outcome.pod:
                self._second_pass(self._goldens[name], outcome)

    def _second_pass(self, golden: Golden, outcome: Outcome) -> None:
        user = golden.user or controller_user(outcome.pod)
        again = anew(outcome.pod, golden.namespace)
        outcome.again = self._api.create(again, user=user, dry_run=True)["spec"]
        if golden.in_profile:
            elsewhere = anew(outcome.untouched, JUDGED)
            elsewhere["metadata"].get("labels", {}).pop("kubeflow-spot.dev/placement", None)
            judged = self._api.create(elsewhere, user=user, dry_run=True)
            outcome.asked_by_namespace = judged["spec"]
            outcome.kind = judged["metadata"].get("annotations", {}).get(_KIND) or None

    def _clear(self) -> None:
        used = {n for golden in self._goldens.values() for n in (golden.namespace, unmatched(golden))}
        for namespace in used - {"kube-system"}:
            for version, kind in _MADE:
                self._api.clear(version, kind, namespace)
        self._gone(self._golden_pods)

    def _gone(self, pods: Callable[[], Iterator[Object]]) -> None:
        """Wait until all these pods are deleted."""
        try:
            eventually(lambda: not list(pods()), "golden pods are gone", pause=_LONG)
        except AssertionError as late:
            names = ", ".join(pod["metadata"]["name"] for pod in pods())
            # Observed: of two tolerations with one key the server keeps one at the next update, and then refuses that update.
            raise AssertionError(f"these pods cannot be deleted, see kube-controller-manager.log: {names}") from late

    def _golden_pods(self) -> Iterator[Object]:
        return (pod for pod in self._api.list("v1", "Pod") if pod["metadata"]["namespace"] in NAMESPACES)

    def _land(self, state: str) -> None:
        """Schedule every pod as admission left it; pods with a GPU one after another, because each kind has one GPU."""
        index = list(STATES).index(state)
        waiting: list[str] = []
        takers: list[str] = []
        for name, outcome in self._outcomes.items():
            if outcome.pod and name not in self._agents:
                lands = self._goldens[name].expect.lands[index]
                # Pods expected to stay pending come first, while the GPUs are still free.
                (takers if self._goldens[name].gpu and lands != "pending" else waiting).append(name)
        pools = self._bed.pools()
        for names in (waiting, *([name] for name in takers)):
            for name in names:
                pod = self._api.create(bare(name, self._outcomes[name].pod))
                assert plain(pod["spec"]) == plain(self._outcomes[name].pod["spec"]), f"{name} is changed in {SETTLED}"
            landing_later = [name for name in names if self._goldens[name].expect.lands[index] != "pending"]
            for name, decided in self._decisions(landing_later).items():
                self._outcomes[name].landed[state] = landing(decided, pools)
            self._api.clear("v1", "Pod", SETTLED)

    def _decisions(self, expected: Collection[str]) -> dict[str, str]:
        """Return the node of each pod, or `pending`.

        Pods that are `expected` to land get a second chance.
        """
        decisions: dict[str, str] = {}

        def all_decided() -> bool:
            decisions.update({p["metadata"]["name"]: decision(p) for p in self._api.list("v1", "Pod", SETTLED)})
            return all(decisions.values())

        eventually(all_decided, "the scheduler has decided")
        _second_chance(lambda: all_decided() and all(decisions[name] != "pending" for name in expected))
        return decisions

    def _agents_land(self, state: str) -> None:
        """Create DaemonSets in each state; their nodes are known as soon as the controller has counted."""
        for name, golden in self._agents.items():
            created = [self._api.create(golden.object)]
            if state == "both":
                metadata = {**golden.object["metadata"], "namespace": unmatched(golden)}
                created.append(self._api.create({**golden.object, "metadata": metadata}))
            pods = [
                eventually(partial(self._complete, daemon_set), f"DaemonSet {name} is complete")
                for daemon_set in created
            ]
            outcome = self._outcomes[name]
            outcome.landed[state] = pool_names([p["spec"]["nodeName"] for p in pods[0] if p], self._bed.pools())
            if state == "both":
                by_node = [{p["spec"]["nodeName"]: p for p in each} for each in pods]
                node = min(by_node[0])
                outcome.pod, outcome.untouched = (each[node] for each in by_node)
                self._second_pass(golden, outcome)
            for daemon_set in created:
                self._api.delete({**golden.object, "metadata": daemon_set["metadata"]})
        self._gone(self._agent_pods)

    def _complete(self, daemon_set: Object) -> list[Object]:
        """Return all pods of a DaemonSet on their nodes; a list with an empty pod when it wants none."""
        target = {"apiVersion": "apps/v1", "kind": "DaemonSet", **daemon_set}
        status = self._api.get(target)["status"]
        if status.get("observedGeneration") != daemon_set["metadata"]["generation"]:
            return []
        pods = self._api.list("v1", "Pod", daemon_set["metadata"]["namespace"])
        owned = [p for p in pods if daemon_set["metadata"]["uid"] in owners(p)]
        on_nodes = [p for p in owned if p["spec"].get("nodeName")]
        return (on_nodes or [{}]) if len(on_nodes) == status["desiredNumberScheduled"] else []

    def _agent_pods(self) -> Iterator[Object]:
        labels = [g.object["spec"]["selector"]["matchLabels"].items() for g in self._agents.values()]
        for pod in self._api.list("v1", "Pod"):
            if any(each <= pod["metadata"].get("labels", {}).items() for each in labels):
                yield pod
