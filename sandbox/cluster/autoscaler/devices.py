"""What a device plugin reports of a node's GPUs, by the pods that run there: NVIDIA's, or the one that GKE brings.

From NVIDIA/k8s-device-plugin 0.20: its README (options, sharing, config maps) and the code where the README is silent, named below.
A plugin whose settings are wrong does not start, and reports nothing. GKE's does as the node pool says (`gpuPartitionSize`,
`gpuSharingConfig`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import yaml

from sandbox.cloud.node_groups import Gpus

Object = Mapping[str, Any]
ReadMap = Callable[[str, str], Mapping[str, str] | None]
"""The data of a ConfigMap by namespace and name; None when there is none."""

PREFIX = "nvidia.com/"
CONFIG_LABEL = "nvidia.com/device-plugin.config"

_IMAGE = re.compile(r"(?:^|/)k8s-device-plugin(?=[:@]|$)")
_BUILT_IN = re.compile(r"(?:^|/)nvidia-gpu-device-plugin(?=[:@]|$)")
# Other programs in the same image (deployments/helm/nvidia-device-plugin/templates).
_CONFIG_MANAGER, _MPS_DAEMON = "config-manager", "mps-control-daemon"
_HELPERS = {_CONFIG_MANAGER, _MPS_DAEMON, "gpu-feature-discovery"}

# The memory that a slice has of its GPU: 1g.10gb, 2g.20gb, 3g.40gb, 4g.40gb and 7g.80gb of an A100 of 80 GB
# (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html).
_MEMORY_SHARE = {1: 1 / 8, 2: 1 / 4, 3: 1 / 2, 4: 1 / 2, 7: 1.0}


class Wrong(ValueError):
    """The plugin would not start with these settings."""


@dataclass(frozen=True)
class Report:
    """Extended resources of a node, and what is to be said of them: the plugin's pod, or why there are none."""

    resources: Mapping[str, int]
    why: str = ""


def report(node: Object, pods: Iterable[Object], gpus: Gpus, read: ReadMap) -> Report:
    """What a node of such `gpus` offers with these pods on it, nothing when no plugin runs."""
    running = [pod for pod in pods if _runs(pod, node)]
    there = [(pod, one) for pod in running for one in pod["spec"]["containers"]]
    own = next(((pod, one) for pod, one in there if _is_plugin(one)), None)
    built_in = next((pod for pod, one in there if _BUILT_IN.search(one["image"])), None)
    if own and built_in:
        # The kubelet has one endpoint for a resource; which of two gets it, and for how long, is a matter of chance.
        return Report({}, f"{_name(own[0])} and {_name(built_in)} compete for {PREFIX}gpu")
    pod = own[0] if own else built_in
    if pod is None:
        return Report({})
    name = _name(pod)
    if not gpus.driver:
        return Report({}, f"{name} finds no driver")
    if own is None:
        return Report({f"{PREFIX}gpu": gpus.count * gpus.instances * gpus.clients}, name)
    daemon = any(_program(one) == _MPS_DAEMON for other in running for one in other["spec"]["containers"])
    try:
        return Report(_resources(_settings(pod, own[1], node, read), gpus, daemon), name)
    except Wrong as wrong:
        return Report({}, f"{name} does not start: {wrong}")


def _name(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _runs(pod: Object, node: Object) -> bool:
    """A pod of an earlier node of the same name may still be listed; it started before this node was there."""
    status = pod.get("status") or {}
    return (
        pod["spec"].get("nodeName") == node["metadata"]["name"]
        and status.get("phase") == "Running"
        and not pod["metadata"].get("deletionTimestamp")
        and (status.get("startTime") or "") >= (node["metadata"].get("creationTimestamp") or "")
    )


def _program(container: Object) -> str:
    """The program of a container of NVIDIA's image; empty for other images."""
    if not _IMAGE.search(container["image"]):
        return ""
    command = container.get("command") or ["nvidia-device-plugin"]
    return PurePosixPath(command[0]).name


def _is_plugin(container: Object) -> bool:
    return _program(container) not in {"", *_HELPERS}


def _settings(pod: Object, plugin: Object, node: Object, read: ReadMap) -> Object:
    """The plugin's configuration file, over which flags and environment stand (README, CONFIG_FILE)."""
    settings: dict[str, Any] = dict(_parsed(_file(pod, plugin, node, read)))
    flags = dict(settings.get("flags") or {})
    told = _flag(plugin, "--mig-strategy") or _environment(plugin).get("MIG_STRATEGY")
    strategy = told or flags.get("migStrategy") or "none"
    if strategy not in ("none", "single", "mixed"):
        raise Wrong(f"unknown MIG strategy {strategy}")
    return settings | {"flags": flags | {"migStrategy": strategy}}


def _file(pod: Object, plugin: Object, node: Object, read: ReadMap) -> str:
    """The text of the configuration file; empty for none."""
    managers = [one for one in _containers(pod) if _program(one) == _CONFIG_MANAGER]
    if not managers:
        path = _flag(plugin, "--config-file") or _environment(plugin).get("CONFIG_FILE")
        return _mounted(pod, plugin, path, read) if path else ""
    # The config manager puts the file in place that the node's label names, else the default (cmd/config-manager/main.go).
    environment = _environment(managers[0])
    files = _folder(pod, managers[0], environment.get("CONFIG_FILE_SRCDIR", ""), read)
    chosen = (node["metadata"].get("labels") or {}).get(CONFIG_LABEL) or environment.get("DEFAULT_CONFIG")
    if not chosen:
        return _fallback(files, environment.get("FALLBACK_STRATEGIES", "").split(","))
    if chosen not in files:
        raise Wrong(f"there is no config {chosen}")
    return files[chosen]


def _fallback(files: Mapping[str, str], strategies: Iterable[str]) -> str:
    for strategy in strategies:
        if strategy == "named" and "default" in files:
            return files["default"]
        if strategy == "single" and len(files) == 1:
            return next(iter(files.values()))
        if strategy == "empty":
            return ""
    raise Wrong("no config is chosen, and no default")


def _mounted(pod: Object, container: Object, path: str, read: ReadMap) -> str:
    file = PurePosixPath(path)
    files = _folder(pod, container, str(file.parent), read)
    if file.name not in files:
        raise Wrong(f"there is no file {path}")
    return files[file.name]


def _folder(pod: Object, container: Object, path: str, read: ReadMap) -> Mapping[str, str]:
    """The files of the ConfigMap that a container has mounted at a path."""
    mounts = {mount["mountPath"].rstrip("/"): mount["name"] for mount in container.get("volumeMounts") or []}
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    source = volumes.get(mounts.get(path.rstrip("/"), ""), {}).get("configMap")
    data = read(pod["metadata"]["namespace"], source["name"]) if source else None
    if data is None:
        raise Wrong(f"no ConfigMap is mounted at {path or 'any path'}")
    return data


def _parsed(text: str) -> Object:
    try:
        found = yaml.safe_load(text) or {}
    except yaml.YAMLError as wrong:
        raise Wrong("its config is not YAML") from wrong
    if not isinstance(found, dict) or found.get("version", "v1") != "v1":
        raise Wrong("its config is not of version v1")
    return found


def _resources(settings: Object, gpus: Gpus, daemon: bool) -> dict[str, int]:
    found = _devices(settings["flags"]["migStrategy"], gpus)
    sharing = settings.get("sharing") or {}
    # Both may not be there (README); with both, MPS is what the code looks at (api/config/v1/sharing.go).
    mps = sharing.get("mps")
    shared = mps or sharing.get("timeSlicing")
    if not shared:
        return found
    if mps and gpus.profile and settings["flags"]["migStrategy"] != "none":
        raise Wrong("MPS is not supported with MIG devices")
    if mps and not daemon:
        # internal/plugin/mps.go, waitForDaemon
        raise Wrong("no MPS control daemon runs on the node")
    for name, replicas in _replicas(shared).items():
        if name in found:
            count = found.pop(name) * replicas
            # `rename` and `devices` of a single resource are read and ignored (disableResoureRenaming in replicas.go).
            found[f"{name}.shared" if shared.get("renameByDefault") else name] = count
    return found


def _devices(strategy: str, gpus: Gpus) -> dict[str, int]:
    """GPUs and MIG devices before sharing (internal/rm/device_map.go): `none` sees whole GPUs, cut up or not."""
    if not gpus.profile or strategy == "none":
        return {f"{PREFIX}gpu": gpus.count}
    if strategy == "single":
        return {f"{PREFIX}gpu": gpus.count * gpus.instances}
    if "." in gpus.profile:  # Google's spelling is NVIDIA's own
        return {f"{PREFIX}mig-{gpus.profile}": gpus.count * gpus.instances}
    slices = int(gpus.profile.removeprefix("MIG").removesuffix("g"))
    memory = int(gpus.memory_gb * _MEMORY_SHARE[slices] + 0.5)
    return {f"{PREFIX}mig-{slices}g.{memory}gb": gpus.count * gpus.instances}


def _replicas(shared: Object) -> dict[str, int]:
    resources = shared.get("resources")
    if not isinstance(resources, list) or not resources:
        raise Wrong("no resources to share are specified")
    found = {}
    for one in resources:
        name, replicas = one.get("name"), one.get("replicas")
        if not isinstance(name, str) or type(replicas) is not int or replicas < 2:
            raise Wrong("a shared resource needs a name and 2 or more replicas")
        found[name if name.startswith(PREFIX) else PREFIX + name] = replicas
    return found


def _containers(pod: Object) -> list[Object]:
    return [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]


def _environment(container: Object) -> dict[str, str]:
    return {one["name"]: one["value"] for one in container.get("env") or [] if one.get("value")}


def _flag(container: Object, name: str) -> str:
    words = [*(container.get("command") or []), *(container.get("args") or []), ""]
    for word, following in pairwise(words):
        if word == name:
            return str(following)
        if word.startswith(f"{name}="):
            return str(word.partition("=")[2])
    return ""
