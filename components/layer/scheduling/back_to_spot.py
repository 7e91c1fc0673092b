"""The descheduler that moves pods which ask for it back to spot (docs/adr/0049). It evicts; the scheduler finds the new node.

Upstream: kubernetes-sigs/descheduler v0.36.0, kubernetes/deployment and kubernetes/base.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from components.layer import names
from components.layer.manifest import Manifest
from components.layer.part import Inside, Part
from config.model.pool import Capacity
from config.placement.node_pools import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT
from config.placement.pods import BACK_TO_SPOT, ON_SPOT

ROLE = "back-to-spot"
NAMESPACE = "kube-system"

_PLUGIN = "RemovePodsViolatingNodeAffinity"

_FILE = "policy.json"


def policy() -> dict[str, Any]:
    """The descheduler's policy.

    The plugin evicts a pod where some node suits its preference better, whether or not the pod fits there, so a full spot node
    makes it move pods between on-demand nodes for ever (kubernetes-sigs/descheduler issues 1410 and 1707). The evictor's
    `nodeSelector` says where a pod must fit: with spot alone in it, a pod is evicted only while a spot node has room for it.
    """
    evictor = {
        "nodeFit": True,
        "nodeSelector": f"{CAPACITY_LABEL}={Capacity.SPOT.value}",
        # Counted from the pod's start: each move makes a new pod, so none moves twice within an hour.
        "minPodAge": "1h",
        # Pods of Kubeflow have emptyDir volumes, of sidecars and for /dev/shm; one with the label keeps its state elsewhere.
        "podProtections": {"defaultDisabled": ["PodsWithLocalStorage"]},
    }
    mover = {
        "nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"],
        "labelSelector": {"matchLabels": dict(BACK_TO_SPOT)},
    }
    profile = {
        "name": ROLE,
        "pluginConfig": [{"name": "DefaultEvictor", "args": evictor}, {"name": _PLUGIN, "args": mover}],
        "plugins": {"deschedule": {"enabled": [_PLUGIN]}},
    }
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        # Two that are evicted at once both count on the same free machine, and one of them has lost its work for nothing.
        "maxNoOfPodsToEvictTotal": 1,
        "profiles": [profile],
    }


def rules() -> list[dict[str, Any]]:
    """The rights of the descheduler: all it reads and does with this policy, found by leaving out each of the upstream's."""
    return [
        {"apiGroups": [""], "resources": ["nodes", "pods", "persistentvolumeclaims"], "verbs": ["list", "watch"]},
        {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
    ]


def deployment_spec(image: str, instance: str) -> dict[str, Any]:
    """The Deployment: one pod, never on spot. It looks every two minutes; an idle spot node stays for ten."""
    selector = {"app.kubernetes.io/name": f"{names.PROGRAM}-{ROLE}", names.INSTANCE: instance}
    called = names.object_name(instance, ROLE)
    container = {
        "name": "descheduler",
        "image": image,
        "command": ["/bin/descheduler"],
        "args": [
            f"--policy-config-file=/policy/{_FILE}",
            "--descheduling-interval=2m",
            "--leader-elect=false",
            "--v=2",
        ],
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": 10258, "scheme": "HTTPS"},
            "initialDelaySeconds": 5,
            "periodSeconds": 20,
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
        },
        "volumeMounts": [{"name": "policy", "mountPath": "/policy", "readOnly": True}],
    }
    elsewhere = {"nodeSelectorTerms": [{"matchExpressions": [{**ON_SPOT, "operator": "NotIn"}]}]}
    digest = hashlib.sha256(_content().encode()).hexdigest()
    return {
        "replicas": 1,
        # Two at a time would evict two pods for one free machine.
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": selector},
        "template": {
            "metadata": {
                "labels": {**names.labels(instance), **selector},
                "annotations": {f"{ROLE}.kubeflow-spot.dev/policy": digest[:16]},
            },
            "spec": {
                "serviceAccountName": called,
                "priorityClassName": "system-cluster-critical",
                "securityContext": {"runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": elsewhere}},
                "tolerations": [{"key": CRITICAL_ADDONS_TAINT.key, "operator": "Exists"}],
                "containers": [container],
                "volumes": [{"name": "policy", "configMap": {"name": called}}],
            },
        },
    }


def _content() -> str:
    return json.dumps(policy(), indent=2, sort_keys=True)


class BackToSpot(Part):
    """The descheduler in kube-system, with its policy and its rights."""

    def __init__(self, name: str, image: str, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:BackToSpot", name, inside)
        called, rbac = names.object_name(self.instance, ROLE), "rbac.authorization.k8s.io"
        role = {"apiGroup": rbac, "kind": "ClusterRole", "name": called}
        account = {"kind": "ServiceAccount", "name": called, "namespace": NAMESPACE}
        before = [
            self._object(f"{name}-policy", "v1", "ConfigMap", data={_FILE: _content()}),
            self._object(f"{name}-account", "v1", "ServiceAccount"),
            self._object(f"{name}-role", f"{rbac}/v1", "ClusterRole", rules=rules()),
            self._object(f"{name}-binding", f"{rbac}/v1", "ClusterRoleBinding", roleRef=role, subjects=[account]),
        ]
        self._object(name, "apps/v1", "Deployment", before, spec=deployment_spec(image, self.instance))
        self.register_outputs({})

    def _object(self, name: str, api: str, kind: str, before: Any = (), **content: Any) -> Manifest:
        metadata: dict[str, Any] = {
            "name": names.object_name(self.instance, ROLE),
            "labels": names.labels(self.instance),
        }
        if not kind.startswith("ClusterRole"):
            metadata["namespace"] = NAMESPACE
        return Manifest(
            name, {"apiVersion": api, "kind": kind, "metadata": metadata, **content}, self.child, after=before
        )
