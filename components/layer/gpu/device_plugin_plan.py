"""DevicePluginPlan: the pools whose nodes get this stack's device plugin, and the plugins that
serve the other GPU pools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from components.layer.gpu.existing_plugins import Plugin, left_to
from components.output_types import DevicePluginOutput
from config.clouds.traits import Cloud
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool


@dataclass(frozen=True)
class DevicePluginPlan:
    """The pools of the device plugin, and those of others."""

    pools: tuple[NodePool, ...]
    left_to: Mapping[Plugin, tuple[str, ...]] = field(default_factory=dict)
    """Names of pools, by the plugin that serves them."""
    not_shared: tuple[str, ...] = ()
    """Names of pools whose gpuSharing has no effect because another plugin serves them."""
    clouds: Plugin | None = None
    """The cloud's own plugin."""

    @property
    def warnings(self) -> Iterator[str]:
        """Reasons why pools get no plugin of this stack."""
        for plugin, pools in self.left_to.items():
            if plugin is self.clouds:
                continue  # the stack file asks for no other
            yield (
                f"{plugin} reaches the nodes of {', '.join(pools)}: they get no device plugin of "
                "this stack's"
            )
        if self.not_shared:
            names = ", ".join(self.not_shared)
            yield f"{names}: the device plugin there ignores gpuSharing in this stack's file"

    def as_output(self) -> DevicePluginOutput:
        """Return it as the stack's outputs show it."""
        return {
            "pools": [pool.name for pool in self.pools],
            "leftTo": [
                {"namespace": plugin.namespace, "name": plugin.name, "pools": list(pools)}
                for plugin, pools in self.left_to.items()
            ],
        }


_CLOUD = Plugin("", "the cloud's own device plugin", {})
_DRIVER = Plugin("", "whoever installs the driver (installDriver: false)", {})


def plan(
    spec: ClusterSpec,
    cloud: Cloud,
    node_pools: Sequence[NodePool],
    plugins: Sequence[Plugin] = (),
    labels: Mapping[str, Mapping[str, str]] | None = None,
    clouds: Plugin = _CLOUD,
) -> DevicePluginPlan:
    """Return the plan.

    `plugins`: those in the cluster; `labels`: further labels of each pool's nodes, by pool name;
    `clouds`: the cloud's own plugin, for the pools that it serves (`Cloud.brings_device_plugin`).
    """
    if spec.device_plugin.install == "never":
        return DevicePluginPlan(())
    gpu_pools = [pool for pool in node_pools if pool.gpus]
    served = {pool.name: clouds for pool in gpu_pools if pool.clouds_plugin}
    served |= left_to(
        (pool for pool in gpu_pools if pool.name not in served), plugins, labels or {}
    )
    for pool in gpu_pools:
        # NVIDIA's GPU operator installs driver and plugin; without the driver ours would crash.
        if not pool.install_driver:
            served.setdefault(pool.name, _DRIVER)
    left: dict[Plugin, tuple[str, ...]] = {}
    for name, plugin in sorted(served.items()):
        left[plugin] = (*left.get(plugin, ()), name)
    not_shared = tuple(
        pool.name
        for pool in gpu_pools
        if served.get(pool.name, clouds) is not clouds and pool.gpu_sharing
    )
    return DevicePluginPlan(
        tuple(pool for pool in gpu_pools if pool.name not in served), left, not_shared, clouds
    )
