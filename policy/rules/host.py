"""Pods that share something with their node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from policy import pods
from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding, Rule, Setting, Settings

_SHARED = ("hostNetwork", "hostPID", "hostIPC")

_HARMLESS = frozenset(
    (
        *(
            "AUDIT_WRITE",
            "CHOWN",
            "DAC_OVERRIDE",
            "FOWNER",
            "FSETID",
            "KILL",
            "MKNOD",
            "NET_BIND_SERVICE",
        ),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
"""Capabilities that the standard Baseline allows to add; every container has most of them."""


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    namespace, name = declared.get("metadata.namespace"), declared.get("metadata.name")
    if UNKNOWN in (namespace, name) or _is_allowed(
        f"{namespace or 'default'}/{name}", settings["allowed"]
    ):
        return
    for path, pod in pods.declared_in(declared):
        for field in _SHARED:
            if pod.get(field) is True:
                yield _finding(f"{path}.{field}", "shares the node's")
        volumes = pod.get("volumes")
        for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
            if isinstance(volume, Mapping) and volume.get("hostPath") is not None:
                yield _finding(f"{path}.volumes[{index}].hostPath", "a folder of the node")
        for at_path, container in pods.containers(path, pod):
            yield from _of_container(at_path, container)


def _of_container(path: str, container: Any) -> Iterator[Finding]:
    if at(container, "securityContext.privileged") is True:
        yield _finding(f"{path}.securityContext.privileged", "root of the node")
    added = at(container, "securityContext.capabilities.add")
    if any(
        isinstance(name, str) and name.removeprefix("CAP_") not in _HARMLESS
        for name in _list(added)
    ):
        yield _finding(
            f"{path}.securityContext.capabilities.add", "rights that no container has by itself"
        )
    for index, port in enumerate(_list(at(container, "ports"))):
        number = at(port, "hostPort")
        if isinstance(number, int | float) and number:
            yield _finding(f"{path}.ports[{index}].hostPort", "a port of the node")


def _finding(path: str, problem: str) -> Finding:
    return Finding(
        path, problem, f"leave it out, or add NAMESPACE/NAME to `allowed` of {PODS.name}"
    )


def _is_allowed(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


PODS = Rule(
    name="host-pod",
    refuses="A pod with access to its node",
    reason="An intruder in it gets the node: all its pods, their Secrets, and its rights in the cloud",
    sources=("https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline",),
    check=_check,
    settings={
        "allowed": Setting(
            {
                "type": "array",
                "items": {"type": "string"},
                # What this program declares: they hand out GPUs, or count them.
                "default": [
                    "kube-system/kubeflow-spot-*-device-plugin",
                    "kube-system/kubeflow-spot-*-mps-*",
                    "kube-system/kubeflow-spot-*-dcgm-exporter",
                ],
                "description": "Namespaces and names of objects whose pods may; `*` stands for any text.",
            }
        )
    },
)
