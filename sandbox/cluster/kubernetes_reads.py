"""The inputs that pulumi-kubernetes reads: of an object in the state, and of one that `pulumi import` names.

Source: provider/pkg/provider/provider.go, gvkFromTypeToken, pruneLiveState, and Read where `readFromCluster` is true.
"""

from typing import Any

from sandbox.cloud.provider import Props

_READ_ONLY = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")
_HIDDEN = ("deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration")


def kind_of(token: str) -> tuple[str, str]:
    """Return apiVersion and kind of a type such as `kubernetes:apps/v1:DaemonSet`."""
    _, version, kind = token.split(":")
    return version.removeprefix("core/"), kind


def inputs_of(live: Props) -> Props:
    """Return all that the SDK's type can hold; of a custom resource, which has no such type, its name alone."""
    group = str(live["apiVersion"]).rpartition("/")[0]
    if "." in group and not group.endswith(".k8s.io"):
        name = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
        return {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": name}
    metadata = {key: value for key, value in live["metadata"].items() if key not in _READ_ONLY}
    if "annotations" in metadata:
        metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if k not in _HIDDEN}
    return {key: value for key, value in live.items() if key != "status"} | {"metadata": metadata}


def like(live: Any, old: Any) -> Any:
    """Return the live values of the fields in the old inputs: defaults that the server added are no drift."""
    if isinstance(old, dict) and isinstance(live, dict):
        return {key: like(live[key], value) for key, value in old.items() if key in live}
    if isinstance(old, list) and isinstance(live, list) and len(old) == len(live):
        return [like(*pair) for pair in zip(live, old, strict=True)]
    return live
