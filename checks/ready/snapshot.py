"""Snapshot: what one kubeconfig shows of a cluster at one moment, as plain data that a file can
hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Object = Mapping[str, Any]
"""A Kubernetes object as the API server writes it in JSON."""

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public"

PATHS: Mapping[str, str] = {
    "version": "/version",
    "nodes": "/api/v1/nodes",
    "pods": "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed",
    "quotas": "/api/v1/resourcequotas",
    "daemonSets": "/apis/apps/v1/daemonsets",
    "budgets": "/apis/policy/v1/poddisruptionbudgets",
    "storageClasses": "/apis/storage.k8s.io/v1/storageclasses",
    "admission": ADMISSION,
    "validatingPolicies": f"{ADMISSION}/validatingadmissionpolicies",
    "validatingBindings": f"{ADMISSION}/validatingadmissionpolicybindings",
    "mutatingPolicies": f"{ADMISSION}/mutatingadmissionpolicies",
    "mutatingBindings": f"{ADMISSION}/mutatingadmissionpolicybindings",
    "contracts": "/api/v1/namespaces/kube-public/configmaps"
    "?labelSelector=app.kubernetes.io%2Fpart-of%3Dkubeflow-spot",
    "publicRoles": f"{_RBAC}/roles",
    "publicBindings": f"{_RBAC}/rolebindings",
    "expander": "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-priority-expander",
    "autoscaler": "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status",
    "cilium": "/api/v1/namespaces/kube-system/configmaps/cilium-config",
    "computeClasses": "/apis/cloud.google.com/v1/computeclasses",
    "nodePools": "/apis/karpenter.sh/v1/nodepools",
    "gpuOperators": "/apis/nvidia.com/v1/clusterpolicies",
}
"""Everything that is read, by the name of the part: GET requests, and no others."""


@dataclass(frozen=True)
class Snapshot:
    """The answers by the names of `PATHS`."""

    server: str
    """The API server's address."""
    parts: Mapping[str, Any]
    """An object; a list of objects; None where the server has no such object or kind."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """The reason why a part was not read, such as `403 Forbidden`."""
    taken: str = ""
    """The time of it by the server's clock, in ISO 8601; empty where that is not known, as in a
    recorded file."""

    def as_json(self) -> dict[str, Any]:
        """Return plain data, the inverse of `of_json`."""
        plain = {"server": self.server, "parts": dict(self.parts), "unseen": dict(self.unseen)}
        return plain | ({"taken": self.taken} if self.taken else {})

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Snapshot:
        """Return the snapshot in a recorded file."""
        return cls(plain["server"], plain["parts"], plain.get("unseen", {}), plain.get("taken", ""))
