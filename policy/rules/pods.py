"""Pods in Kubernetes objects: their images, and their access to the node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding, Rule, Settings, texts

_DIGEST = re.compile(r".+@sha256:[0-9a-f]{64}")
_LISTS = ("containers", "initContainers", "ephemeralContainers")
_SHARED = ("hostNetwork", "hostPID", "hostIPC")

_HARMLESS = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
    *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
"""Capabilities that the standard Baseline allows to add; every container has most of them."""


def _images(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for path, pod in _pods_of(declared):
        for at_path, container in _containers(path, pod):
            image = at(container, "image")
            if isinstance(image, str) and not _DIGEST.fullmatch(image):
                problem = "the image is named by its tag alone"
                yield Finding(f"{at_path}.image", problem, "add the digest: name:tag@sha256:...")


def _host(declared: Declared, settings: Settings) -> Iterator[Finding]:
    namespace, name = declared.get("metadata.namespace"), declared.get("metadata.name")
    if UNKNOWN in (namespace, name):
        return
    if any(fnmatchcase(f"{namespace or 'default'}/{name}", form) for form in settings["allowed"]):
        return
    for path, pod in _pods_of(declared):
        for field in _SHARED:
            if pod.get(field) is True:
                yield _host_finding(f"{path}.{field}", "the pod shares it with the node")
        for index, volume in enumerate(_list(pod.get("volumes"))):
            if isinstance(volume, Mapping) and volume.get("hostPath") is not None:
                yield _host_finding(f"{path}.volumes[{index}].hostPath", "a folder of the node")
        for at_path, container in _containers(path, pod):
            yield from _container(at_path, container)


def _container(path: str, container: Any) -> Iterator[Finding]:
    security = f"{path}.securityContext"
    if at(container, "securityContext.privileged") is True:
        yield _host_finding(f"{security}.privileged", "root of the node")
    added = _list(at(container, "securityContext.capabilities.add"))
    if any(isinstance(each, str) and each.removeprefix("CAP_") not in _HARMLESS for each in added):
        yield _host_finding(
            f"{security}.capabilities.add", "more than the standard Baseline allows"
        )
    for index, port in enumerate(_list(at(container, "ports"))):
        number = at(port, "hostPort")
        if isinstance(number, int | float) and number:
            yield _host_finding(f"{path}.ports[{index}].hostPort", "a port of the node")


def _host_finding(path: str, problem: str) -> Finding:
    remedy = f"leave it out, or add NAMESPACE/NAME to `allowed` of {HOST.name}"
    return Finding(path, problem, remedy)


def _pods_of(declared: Declared) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield path and spec of each pod; none for a resource that is no Kubernetes object."""
    # A PodTemplate has its pod beside `spec`, a List has whole objects.
    for key, value in declared.inputs.items() if declared.type.startswith("kubernetes:") else ():
        yield from _pods_in(value, key)


def _pods_in(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if any(isinstance(value.get(key), list) for key in _LISTS):
            yield path, value
        for key, inner in value.items():
            if key not in _LISTS:
                yield from _pods_in(inner, f"{path}.{key}")
    for index, inner in enumerate(_list(value)):
        yield from _pods_in(inner, f"{path}[{index}]")


def _containers(path: str, pod: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _LISTS:
        for index, container in enumerate(_list(pod.get(key))):
            yield f"{path}.{key}[{index}]", container


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


IMAGES = Rule(
    name="image-without-digest",
    refuses="A container whose image is not named by its digest",
    reason="A tag may be moved: a new node may pull another image than the reviewed one",
    sources=("https://kubernetes.io/docs/concepts/containers/images/#image-pull-policy",),
    check=_images,
)

HOST = Rule(
    name="host-pod",
    refuses="A pod with access to its node",
    reason="An intruder in it gets the node: all its pods, their Secrets, and its cloud rights",
    sources=("https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline",),
    check=_host,
    settings={
        # The default is what this program declares: device plugins and the exporter of GPU metrics.
        "allowed": texts(
            [
                "kube-system/kubeflow-spot-*-device-plugin",
                "kube-system/kubeflow-spot-*-mps-*",
                "kube-system/kubeflow-spot-*-dcgm-exporter",
            ],
            "Namespaces and names of objects whose pods may; `*` stands for any text.",
        )
    },
)
