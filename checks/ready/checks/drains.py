"""Drains: pods that an upgrade of their node cannot evict, or waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from checks.check import Check, Remark, note, ok, some, wrong
from checks.ready.cluster import PLATFORM, Cluster
from checks.ready.snapshot import Object

_SYSTEM = PLATFORM | {"kube-system", "gke-managed-system"}
"""Namespaces whose budgets somebody else wrote, often for more replicas than there are."""

_DRAIN_SECONDS = 30 * 60
"""AKS' default for a drain (page upgrade-options, drain timeout); GKE waits an hour (page
node-pool-upgrade-strategies)."""

_JOB = "batch.kubernetes.io/job-tracking"
"""The Job controller takes it away by itself
(kubernetes.io/docs/concepts/workloads/controllers/job)."""


def _budgets(cluster: Cluster) -> Iterator[Remark]:
    found = False
    for budget in sorted(cluster.objects("budgets"), key=_name):
        if not _holds(budget):
            continue
        found = True
        spec, namespace = budget["spec"], budget["metadata"]["namespace"]
        never = (
            str(spec.get("maxUnavailable")) in ("0", "0%")
            or str(spec.get("minAvailable")) == "100%"
        )
        fields = ", ".join(
            f"{key}: {spec[key]}" for key in ("minAvailable", "maxUnavailable") if key in spec
        )
        count = budget["status"]["expectedPods"]
        says = (
            f"PodDisruptionBudget {_name(budget)} ({fields}) allows no eviction of its {count} pods"
        )
        if namespace in _SYSTEM and not never:
            yield note(
                f"{says}: an upgrade of their node waits for it",
                "run a replica more of it before an upgrade, or delete those pods by hand",
            )
        else:
            yield wrong(
                f"{says}: no drain of their node ends, so it gets no security patch",
                f"kubectl patch pdb -n {namespace} {budget['metadata']['name']} --type merge -p "
                """'{"spec": {"minAvailable": null, "maxUnavailable": 1}}',"""
                " or run a replica more",
            )
    for names, pods in _covered_twice(cluster).items():
        found = True
        yield wrong(
            f"{some(pods)}: covered by more than one PodDisruptionBudget ({names}), and the API"
            " server evicts no such pod",
            "delete all of these budgets but one, or make their selectors differ",
        )
    if not found:
        yield ok(
            f"{len(cluster.objects('budgets'))} PodDisruptionBudgets, and none holds up a drain"
        )


def _holds(budget: Object) -> bool:
    """Return whether healthy pods cannot be evicted; unhealthy pods change soon."""
    status = budget.get("status") or {}
    healthy = status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0)
    return bool(
        status.get("expectedPods", 0) > 0 == status.get("disruptionsAllowed", 0) and healthy
    )


def _covered_twice(cluster: Cluster) -> dict[str, list[str]]:
    """Return the pods that several budgets select, by the budgets' names: their eviction ends with
    500 (kubernetes v1.36.2, pkg/registry/core/pod/storage/eviction.go)."""
    found: dict[str, list[str]] = {}
    ordered = sorted(cluster.objects("budgets"), key=_name)
    by_namespace = {
        key: list(group)
        for key, group in groupby(ordered, lambda item: item["metadata"]["namespace"])
    }
    for pod in cluster.objects("pods"):
        if (pod.get("status") or {}).get("phase") == "Pending":
            continue  # evicted without a look at budgets
        labels = pod["metadata"].get("labels") or {}
        budgets = by_namespace.get(pod["metadata"]["namespace"], ())
        names = [
            _name(budget) for budget in budgets if _selects(budget["spec"].get("selector"), labels)
        ]
        if len(names) > 1:
            found.setdefault(", ".join(names), []).append(_name(pod))
    return found


def _selects(selector: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector matches; none matches nothing, and an empty one everything
    (policy/v1)."""
    if selector is None:
        return False
    same = all(
        labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()
    )
    return same and all(_matches(term, labels) for term in selector.get("matchExpressions") or ())


def _matches(term: Object, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(term["key"]), term.get("values") or ()
    if term["operator"] in ("Exists", "DoesNotExist"):
        return bool((value is not None) == (term["operator"] == "Exists"))
    return bool((value in values) == (term["operator"] == "In"))


def _waited_for(cluster: Cluster) -> Iterator[Remark]:
    slow, held = [], []
    for pod in cluster.objects("pods"):
        metadata, spec = pod["metadata"], pod.get("spec") or {}
        owners = {owner["kind"] for owner in metadata.get("ownerReferences") or ()}
        # A drain leaves the pods of DaemonSets and static pods alone.
        if not spec.get("nodeName") or owners & {"DaemonSet", "Node"}:
            continue
        if (spec.get("terminationGracePeriodSeconds") or 0) > _DRAIN_SECONDS:
            slow.append(_name(pod))
        if set(metadata.get("finalizers") or ()) - {_JOB}:
            held.append(_name(pod))
    if slow:
        yield note(
            f"{some(slow)} may take longer to end than AKS' drain of a node lasts (30 minutes;"
            " GKE's an hour)",
            "lower their terminationGracePeriodSeconds, and write checkpoints as they go",
        )
    if held:
        yield note(
            f"{some(held)} stay after their deletion until somebody takes their finalizers away,"
            " and a drain waits for them",
            "see that their controller runs: kubectl get pod -o jsonpath='{.metadata.finalizers}'",
        )
    if not slow and not held:
        yield ok("no pod takes longer to end than a drain lasts")


def _name(item: Object) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


CHECKS = (
    Check(
        "budgets",
        _budgets,
        "kubernetes.io/docs/tasks/run-application/configure-pdb; AKS page upgrade-options",
    ),
    Check(
        "slow-ends", _waited_for, "kubernetes.io/docs/tasks/administer-cluster/safely-drain-node"
    ),
)
