"""Workloads with volumes, for tests on a cluster of either cloud."""

from typing import Any

Object = dict[str, Any]


def claim(name: str, mode: str = "ReadWriteOnce", **spec: Any) -> Object:
    """A claim for one GiB; of the cluster's default class unless `storageClassName` is given."""
    fields = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": _named(name), "spec": fields}


def stateful_set(name: str, replicas: int) -> Object:
    """A StatefulSet with a claim of the default class for each pod, like Kubeflow's datastores."""
    template = claim("data")
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": _named(name),
        "spec": {
            "serviceName": name,
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "containers": [
                        {
                            "name": "main",
                            "image": "example.com/db:1",
                            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                        }
                    ]
                },
            },
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": template["spec"]}],
            # Claims are deleted with the set.
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        },
    }


def pod_with(name: str) -> Object:
    """A pod that mounts the claim of its name."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
    container = {"name": "main", "image": "example.com/db:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    spec = {"containers": [container], "volumes": [volume]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _named(name), "spec": spec}


def _named(name: str) -> Object:
    return {"name": name, "namespace": "default"}
