"""Additions of an admission policy to a pod: pure comparison of two specs."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

Spec = dict[str, Any]

ON_SPOT = {"key": "kubeflow-spot.dev/capacity", "operator": "In", "values": ["spot"]}
PREFERENCE = {"weight": 100, "preference": {"matchExpressions": [ON_SPOT]}}

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_DEFAULT_GRACE = 30
_TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}\b")


class Overwritten(AssertionError):
    """A change or removal, where only additions are allowed."""


@dataclass(frozen=True)
class Added:
    """Additions of one pass through admission."""

    tolerations: list[dict[str, str]] = field(default_factory=list)
    affinity: str = "none"
    grace: int | None = None


def added(before: Spec, after: Spec) -> Added:
    """Return the additions of `after` to `before`, both as returned by `plain`. Raises Overwritten."""
    differing = {key for key in before | after if before.get(key) != after.get(key)}
    if beyond := differing - {"tolerations", "affinity", "terminationGracePeriodSeconds"}:
        raise Overwritten(f"changed: {', '.join(sorted(beyond))}")
    grace = None
    if "terminationGracePeriodSeconds" in differing:
        if before["terminationGracePeriodSeconds"] != _DEFAULT_GRACE:
            raise Overwritten("a grace period of the pod's own was changed")
        grace = after["terminationGracePeriodSeconds"]
    tolerations = _appended(before.get("tolerations", []), after.get("tolerations", []))
    return Added(tolerations, _affinity(before.get("affinity", {}), after.get("affinity", {})), grace)


def _appended(before: list[Any], after: list[Any]) -> list[Any]:
    if after[: len(before)] != before:
        raise Overwritten(f"{before} is not the beginning of {after}")
    return after[len(before) :]


def _affinity(before: Spec, after: Spec) -> str:
    nodes = before.get("nodeAffinity", {}), after.get("nodeAffinity", {})
    if {**before, "nodeAffinity": 0} != {**after, "nodeAffinity": 0}:
        raise Overwritten("an affinity to pods was changed")
    preferred = _appended(*(n.get(PREFERRED, []) for n in nodes))
    if preferred not in ([], [PREFERENCE]):
        raise Overwritten(f"an unknown preference: {preferred}")
    old, new = (n.get(REQUIRED, {}).get("nodeSelectorTerms", []) for n in nodes)
    if old == new:
        return "preferred" if preferred else "none"
    narrowed = [{**term, "matchExpressions": [*term.get("matchExpressions", []), ON_SPOT]} for term in old or [{}]]
    if new != narrowed or preferred:
        raise Overwritten(f"{new} is not {old} with the condition added to each term")
    return "required"


def requiring(*expressions: Spec) -> Spec:
    """Return the affinity of a pod to nodes that fulfil all these expressions."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"affinity": {"nodeAffinity": {REQUIRED: terms}}}


def plain(spec: Spec) -> Spec:
    """Return a spec without the parts that differ in every pod: the node, and the name of the volume with the token."""
    text = _TOKEN_VOLUME.sub("kube-api-access", json.dumps(spec))
    copy: Spec = json.loads(text)
    copy.pop("nodeName", None)
    return copy
