"""The emulated clouds by name. A further cloud is a folder of the sandbox with a module `plugin`, and its name here.

A plugin is imported when it is first asked for: an autoscaler's process has one cloud alone.
"""

import importlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from sandbox.cloud import quotas
from sandbox.cloud.cluster_runtime import ClusterRuntime
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.plugin import Plugin
from sandbox.cloud.quotas import Quotas

NAMES = ("azure", "gcp")

_TOP = "azure"
"""The quotas of this cloud stand by region at the top of a cloud file, as when it was the only one; others' below their names."""


def plugin(name: str) -> Plugin:
    """Return the plugin of a cloud. Raises KeyError for a name that is no cloud's."""
    if name not in NAMES:
        raise KeyError(name)
    loaded: Plugin = importlib.import_module(f"sandbox.{name}.{name}_plugin").PLUGIN
    return loaded


def quotas_of(name: str, all: Mapping[str, Any]) -> Any:
    """Return one cloud's part of all quotas, as it was written."""
    if name == _TOP:
        others = {*NAMES} - {name}
        return {region: limits for region, limits in all.items() if region not in others}
    return all.get(name, {})


def install(name: str, kubeconfig: Path, version: str, more: Collection[dict[str, Any]] = ()) -> None:
    """Put a cloud's own objects, and more, into a cluster of a version, and wait until their kinds are served.

    Raises SandboxError.
    """
    # Only here: most commands never ask the API server.
    from sandbox.kubernetes import node_objects

    with node_objects.opened(kubeconfig) as client:
        node_objects.install_addons(client, [*more, *plugin(name).objects(version)], plugin(name).manager)


def limits(name: str, folder: Path) -> Quotas:
    """Return the quotas of a cloud whose memory is in a folder."""
    return plugin(name).quotas.parse_quotas(quotas_of(name, quotas.kept(folder)))


def opened(name: str, folder: Path, runtime: ClusterRuntime) -> EmulatedCloud:
    """Return the emulated cloud whose state and quotas are in a folder."""
    cloud = plugin(name)
    return cloud.open(folder / cloud.state_file, runtime, limits(name, folder))
