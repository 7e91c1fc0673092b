"""The cluster itself: version, admission policies, nodes."""

from __future__ import annotations

from collections.abc import Iterator

from checks.check import Check, Remark, note, ok, some, wrong
from checks.ready.cluster import Cluster, minor
from config.model.release import FIRST_MUTATING_VERSION

_LEAST = (1, 34)
"""Kubeflow 26.03's documents name 1.34 and newer (kubeflow/pipelines issue 13457)."""

_SKEW = 3
"""Minor versions that a kubelet may be behind its API server."""


def _version(cluster: Cluster) -> Iterator[Remark]:
    version = cluster.version
    shown = ".".join(map(str, version))
    if version < _LEAST:
        yield wrong(
            f"Kubernetes is {shown}; Kubeflow 26.03 names {'.'.join(map(str, _LEAST))} and newer",
            "upgrade the control plane, then the pools: set a newer `release` in the stack file",
        )
    kubelets: dict[tuple[int, int], list[str]] = {}
    for node in cluster.nodes:
        kubelets.setdefault(minor(node.kubelet), []).append(node.name)
    skewed = False
    for kubelet, names in sorted(kubelets.items()):
        if kubelet > version or kubelet < (version[0], version[1] - _SKEW):
            skewed = True
            yield wrong(
                f"{some(names)} run kubelet {'.'.join(map(str, kubelet))} under an API server of"
                f" {shown}",
                f"bring the pools to {shown}; a kubelet may be {_SKEW} minor versions older and"
                " never newer",
            )
    if version >= _LEAST and not skewed:
        yield ok(f"Kubernetes {shown}")


def _policies_served(cluster: Cluster) -> Iterator[Remark]:
    served = {
        resource["name"] for resource in (cluster.part("admission") or {}).get("resources", ())
    }
    if "validatingadmissionpolicies" not in served:
        yield wrong(
            "the API server does not serve ValidatingAdmissionPolicy v1: no guard keeps notebooks"
            " off spot",
            "use Kubernetes 1.30 or newer, with admissionregistration.k8s.io/v1 switched on",
        )
    elif "mutatingadmissionpolicies" in served:
        yield ok("ValidatingAdmissionPolicy and MutatingAdmissionPolicy v1 are served")
    elif cluster.version < (first := minor(FIRST_MUTATING_VERSION)):
        yield note(
            f"MutatingAdmissionPolicy v1 comes with {'.'.join(map(str, first))}: below it no pod"
            " prefers spot by default",
            "list the profiles' namespaces under `scheduling.profiles`, or upgrade",
        )
    else:
        yield wrong(
            "the API server does not serve MutatingAdmissionPolicy v1: no pod prefers spot by"
            " default",
            "switch admissionregistration.k8s.io/v1 on for it; it is on by default from"
            " Kubernetes 1.36",
        )


def _nodes(cluster: Cluster) -> Iterator[Remark]:
    away = [node for node in cluster.nodes if not node.ready]
    passing = [node.name for node in away if cluster.reclaimable(node) or cluster.young(node)]
    broken = [node.name for node in away if node.name not in passing]
    if broken:
        yield wrong(
            f"{some(broken)} not Ready",
            "see `kubectl describe node`; delete the machine if it does not come back",
        )
    if passing:
        yield note(
            f"{some(passing)} not Ready: a spot machine that was taken back or stopped, or one"
            " that just joined",
            "nothing, unless it stays so for long: the autoscaler removes or replaces it",
        )
    if cordoned := [node.name for node in cluster.nodes if node.cordoned and node.ready]:
        yield note(
            f"{some(cordoned)} cordoned", "`kubectl uncordon` them when the work on them is done"
        )
    if not cluster.nodes:
        yield wrong("the cluster has no node", "raise `systemPool.minNodes`")
    elif not broken:
        yield ok(
            f"{len(cluster.nodes) - len(passing)} nodes Ready"
            if passing
            else f"{len(cluster.nodes)} nodes, all Ready"
        )


CHECKS = (
    Check(
        "version",
        _version,
        "kubernetes.io/releases/version-skew-policy; kubeflow/pipelines issue 13457",
    ),
    Check(
        "policies-served",
        _policies_served,
        "kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy",
    ),
    Check("nodes", _nodes, "kubernetes.io/docs/reference/node/node-status"),
)
