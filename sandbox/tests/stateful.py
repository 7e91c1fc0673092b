"""Workloads with volumes, for tests on a cluster of either cloud."""

from typing import Any

Object = dict[str, Any]
DATABASE = {"name": "main", "image": "example.com/db:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}


def claim(name: str, mode: str = "ReadWriteOnce", **spec: Any) -> Object:
    """Return a claim for one GiB. It is of the cluster's default class unless `storageClassName` is given."""
    fields = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": _named(name), "spec": fields}


def stateful_set(name: str, replicas: int) -> Object:
    """Return a StatefulSet with a claim of the default class for each pod, like Kubeflow's datastores."""
    labels = {"app": name}
    spec = {
        "serviceName": name,
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [DATABASE]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim("data")["spec"]}],
        # Claims are deleted with the set.
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": _named(name), "spec": spec}


def pod_with(name: str) -> Object:
    """Return a pod that mounts the claim of its name."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
    spec = {"containers": [DATABASE], "volumes": [volume]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _named(name), "spec": spec}


def _named(name: str) -> Object:
    return {"name": name, "namespace": "default"}
