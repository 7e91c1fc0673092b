"""Devices: the GPUs that a node's device plugin reports, read off the pods on the node: NVIDIA's plugin, or GKE's own.

From NVIDIA/k8s-device-plugin 0.20: its README (options, sharing, config maps) and the code where the README is silent, named below.
A plugin with wrong settings does not start, and reports nothing. GKE's plugin follows the node pool (`gpuPartitionSize`,
`gpuSharingConfig`).
"""

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
"""The data of a ConfigMap by namespace and name; None when it is missing."""

PREFIX = "nvidia.com/"
CONFIG_LABEL = "nvidia.com/device-plugin.config"

_IMAGE = re.compile(r"(?:^|/)k8s-device-plugin(?=[:@]|$)")
_BUILT_IN = re.compile(r"(?:^|/)nvidia-gpu-device-plugin(?=[:@]|$)")
# Other programs in the same image (deployments/helm/nvidia-device-plugin/templates).
_CONFIG_MANAGER, _MPS_DAEMON = "config-manager", "mps-control-daemon"
_COMPANIONS = {_CONFIG_MANAGER, _MPS_DAEMON, "gpu-feature-discovery"}

# The share of a GPU's memory in a slice: 1g.10gb, 2g.20gb, 3g.40gb, 4g.40gb and 7g.80gb of an A100 of 80 GB
# (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html).
_MEMORY_SHARE = {1: 1 / 8, 2: 1 / 4, 3: 1 / 2, 4: 1 / 2, 7: 1.0}


class Wrong(ValueError):
    """The plugin would not start with these settings."""


@dataclass(frozen=True)
class DeviceReport:
    """Extended resources of a node, with the plugin's pod, or the reason why it has none."""

    resources: Mapping[str, int]
    why: str = ""


def report(node: Object, pods: Iterable[Object], gpus: Gpus, read: ReadMap) -> DeviceReport:
    """Return the devices of a node with such `gpus` and these pods; none when no plugin runs."""
    running = [pod for pod in pods if _runs(pod, node)]
    containers = [(pod, container) for pod in running for container in pod["spec"]["containers"]]
    plugin = next(((pod, container) for pod, container in containers if _is_plugin(container)), None)
    built_in = next((pod for pod, container in containers if _BUILT_IN.search(container["image"])), None)
    if plugin and built_in:
        # The kubelet has one endpoint for a resource; chance decides which plugin gets it, and for how long.
        return DeviceReport({}, f"{_name(plugin[0])} and {_name(built_in)} compete for {PREFIX}gpu")
    pod = plugin[0] if plugin else built_in
    if pod is None:
        return DeviceReport({})
    name = _name(pod)
    if not gpus.driver:
        return DeviceReport({}, f"{name} finds no driver")
    if plugin is None:
        return DeviceReport({f"{PREFIX}gpu": gpus.shown}, name)
    daemon = any(_program(container) == _MPS_DAEMON for _, container in containers)
    try:
        return DeviceReport(_resources(_settings(pod, plugin[1], node, read), gpus, daemon), name)
    except Wrong as wrong:
        return DeviceReport({}, f"{name} does not start: {wrong}")


def _name(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _runs(pod: Object, node: Object) -> bool:
    """Return whether a pod runs on a node; a pod of an earlier node of the same name started before this node existed."""
    status = pod.get("status") or {}
    return (
        pod["spec"].get("nodeName") == node["metadata"]["name"]
        and status.get("phase") == "Running"
        and not pod["metadata"].get("deletionTimestamp")
        and (status.get("startTime") or "") >= (node["metadata"].get("creationTimestamp") or "")
    )


def _program(container: Object) -> str:
    """Return the program of a container of NVIDIA's image; empty for other images."""
    if not _IMAGE.search(container["image"]):
        return ""
    command = container.get("command") or ["nvidia-device-plugin"]
    return PurePosixPath(command[0]).name


def _is_plugin(container: Object) -> bool:
    return _program(container) not in {"", *_COMPANIONS}


def _settings(pod: Object, plugin: Object, node: Object, read: ReadMap) -> Object:
    """Return the plugin's configuration file; flags and environment overrule it (README, CONFIG_FILE)."""
    settings = _parsed(_file(pod, plugin, node, read))
    flags = dict(settings.get("flags") or {})
    overruled = _flag(plugin, "--mig-strategy") or _environment(plugin).get("MIG_STRATEGY")
    strategy = overruled or flags.get("migStrategy") or "none"
    if strategy not in ("none", "single", "mixed"):
        raise Wrong(f"unknown MIG strategy {strategy}")
    return {**settings, "flags": flags | {"migStrategy": strategy}}


def _file(pod: Object, plugin: Object, node: Object, read: ReadMap) -> str:
    """Return the text of the configuration file; empty for none."""
    managers = [container for container in _containers(pod) if _program(container) == _CONFIG_MANAGER]
    if not managers:
        path = _flag(plugin, "--config-file") or _environment(plugin).get("CONFIG_FILE")
        return _mounted(pod, plugin, path, read) if path else ""
    # The config manager installs the file that the node's label names, else the default (cmd/config-manager/main.go).
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
    """Return the files of the ConfigMap that a container mounts at a path."""
    mounts = {mount["mountPath"].rstrip("/"): mount["name"] for mount in container.get("volumeMounts") or []}
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    source = volumes.get(mounts.get(path.rstrip("/"), ""), {}).get("configMap")
    data = read(pod["metadata"]["namespace"], source["name"]) if source else None
    if data is None:
        raise Wrong(f"no ConfigMap is mounted at {path or 'any path'}")
    return data


def _parsed(text: str) -> Object:
    try:
        settings = yaml.safe_load(text) or {}
    except yaml.YAMLError as wrong:
        raise Wrong("its config is not YAML") from wrong
    if not isinstance(settings, dict) or settings.get("version", "v1") != "v1":
        raise Wrong("its config is not of version v1")
    return settings


def _resources(settings: Object, gpus: Gpus, daemon: bool) -> dict[str, int]:
    devices = _devices(settings["flags"]["migStrategy"], gpus)
    sharing = settings.get("sharing") or {}
    # The README forbids both; the code then takes MPS (api/config/v1/sharing.go).
    mps = sharing.get("mps")
    shared = mps or sharing.get("timeSlicing")
    if not shared:
        return devices
    if mps and gpus.profile and settings["flags"]["migStrategy"] != "none":
        raise Wrong("MPS is not supported with MIG devices")
    if mps and not daemon:
        # internal/plugin/mps.go, waitForDaemon
        raise Wrong("no MPS control daemon runs on the node")
    for name, replicas in _replicas(shared).items():
        if name in devices:
            count = devices.pop(name) * replicas
            # `rename` and `devices` of a single resource are read and ignored (disableResoureRenaming in replicas.go).
            devices[f"{name}.shared" if shared.get("renameByDefault") else name] = count
    return devices


def _devices(strategy: str, gpus: Gpus) -> dict[str, int]:
    """Return GPUs and MIG devices before sharing (internal/rm/device_map.go): `none` reports whole GPUs, cut up or not."""
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
    replicas = {}
    for resource in resources:
        name, count = resource.get("name"), resource.get("replicas")
        if not isinstance(name, str) or type(count) is not int or count < 2:
            raise Wrong("a shared resource needs a name and 2 or more replicas")
        replicas[name if name.startswith(PREFIX) else PREFIX + name] = count
    return replicas


def _containers(pod: Object) -> list[Object]:
    return [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]


def _environment(container: Object) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container.get("env") or [] if entry.get("value")}


def _flag(container: Object, name: str) -> str:
    words = [*(container.get("command") or []), *(container.get("args") or []), ""]
    for word, following in pairwise(words):
        if word == name:
            return str(following)
        if word.startswith(f"{name}="):
            return str(word.partition("=")[2])
    return ""
