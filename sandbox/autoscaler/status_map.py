"""The autoscaler's status, which the real one writes into the ConfigMap `cluster-autoscaler-status` (learn.microsoft.com/azure/aks/
cluster-autoscaler; the fields are those of kubernetes/autoscaler 1.36.1, clusterstate/api/types.go).

Of the fields only those that this autoscaler knows. The real one writes it with each scan; here it is written when it changes, so
that a stack at rest changes nothing.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any

import yaml

from sandbox.autoscaler.api import ApiServer, Unanswered
from sandbox.autoscaler.fit import reports_ready
from sandbox.autoscaler.shapes import Object
from sandbox.autoscaler.world import Failure
from sandbox.cloud.node_groups import NodeGroup

NAME = "cluster-autoscaler-status"
_LONGEST, _CUT = 500, "<truncated>"
"""Characters of a message, and the end of one that was longer (clusterstate.go, maxErrorMessageSize, messageTrancated)."""
_MAPS = "/api/v1/namespaces/kube-system/configmaps"


def document(groups: Sequence[NodeGroup], nodes: Sequence[Object], failures: Mapping[str, Failure]) -> dict[str, Any]:
    """Return the status without its times. Groups that are not autoscaled are not in it."""
    ready = {node["metadata"]["name"] for node in nodes if reports_ready(node)}
    joined = {node["metadata"]["name"] for node in nodes}
    return {
        "autoscalerStatus": "Running",
        "clusterWide": {"health": {"status": "Healthy", "nodeCounts": _counts(joined, ready)}},
        "nodeGroups": [
            {
                "name": group.name,
                "health": {
                    "status": "Healthy",
                    "nodeCounts": _counts(joined & {*group.nodes}, ready & {*group.nodes}),
                    "cloudProviderTarget": len(group.nodes),
                    "minSize": group.least,
                    "maxSize": group.most,
                },
                "scaleUp": _scale_up(group, joined, failures.get(group.name)),
            }
            for group in sorted(groups, key=lambda group: group.name)
            if group.most is not None
        ],
    }


def _counts(joined: Set[str], ready: Set[str]) -> dict[str, Any]:
    return {"registered": {"total": len(joined), "ready": len(ready), "notStarted": len(joined - ready)}}


def _scale_up(group: NodeGroup, joined: Set[str], failure: Failure | None) -> dict[str, Any]:
    """Return the state of a group's growth, with the cause of its back-off (clusterstate.go, buildScaleUpStatusNodeGroup)."""
    if failure:
        message = failure.message
        if len(message) > _LONGEST:
            message = message[: _LONGEST - len(_CUT)] + _CUT
        return {"status": "Backoff", "backoffInfo": {"errorCode": failure.code, "errorMessage": message}}
    return {"status": "InProgress" if {*group.nodes} - joined else "NoActivity"}


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are, as the real one's library does (sigs.k8s.io/yaml, goyaml.v2/encode.go)."""


def _represent(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent)


def dump(status: Mapping[str, Any]) -> str:
    """Return a status as the ConfigMap has it."""
    return yaml.dump(status, Dumper=_Dumper, sort_keys=False)


class Status:
    """The ConfigMap of one cluster."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self._written: dict[str, Any] | None = None

    def write(self, now: dict[str, Any]) -> bool:
        """Write a status that differs from the last one; whether the cluster has it now."""
        if now == self._written:
            return True
        text = dump({"time": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f +0000 UTC}", **now})
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"status": text}}
        try:
            if self._written is None:
                self._api.create(_MAPS, body)  # one that a former process made stays
            self._api.patch(f"{_MAPS}/{NAME}", {"data": body["data"]})
        except Unanswered:
            return False
        self._written = now
        return True
