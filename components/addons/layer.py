"""The layer inside a cluster: what it consists of is decided first, from what is there, and declared afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from components.addons.autoscaler.compute_class import ClassDecision, ComputeClass
from components.addons.autoscaler.expander import Decision, PriorityExpander
from components.addons.gpu import dcgm, existing_plugins
from components.addons.gpu.device_plugin import DevicePlugin
from components.addons.provider import Provider
from components.addons.pull_secrets import PullSecrets
from components.addons.scheduling import plan
from config.clouds.traits import Cloud
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool, has_clouds_plugin


@dataclass(frozen=True)
class PluginDecision:
    """On which pools the device plugin goes, and who serves the other GPU pools."""

    pools: tuple[NodePool, ...]
    left_to: Mapping[existing_plugins.Plugin, tuple[str, ...]] = field(default_factory=dict)
    """Names of pools."""
    not_shared: tuple[str, ...] = ()
    """Names of pools whose gpuSharing comes to nothing for that reason."""

    @property
    def warnings(self) -> Iterator[str]:
        """Why pools of the stack file get no plugin of this stack's."""
        for plugin, pools in self.left_to.items():
            if plugin is _CLOUD:
                continue  # nothing else was asked for
            yield f"{plugin} reaches the nodes of {', '.join(pools)}: they get no device plugin of this stack's"
        if self.not_shared:
            yield f"{', '.join(self.not_shared)}: the device plugin there does not know of gpuSharing in this stack's file"

    def as_output(self) -> dict[str, Any]:
        """As the stack's outputs show it."""
        return {
            "pools": [pool.name for pool in self.pools],
            "leftTo": [
                {"namespace": plugin.namespace, "name": plugin.name, "pools": list(pools)}
                for plugin, pools in self.left_to.items()
            ],
        }


_DRIVER = existing_plugins.Plugin("", "whoever installs the driver (installDriver: false)", {})
_CLOUD = existing_plugins.Plugin("kube-system", "nvidia-gpu-device-plugin", {})
"""GKE's own, which is on every GPU node that is not labelled otherwise (GKE page gpus)."""


def plugin_decision(
    spec: ClusterSpec,
    cloud: Cloud,
    node_pools: Sequence[NodePool],
    plugins: Sequence[existing_plugins.Plugin] = (),
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> PluginDecision:
    """`plugins` are there already; `labels` is what is known of each pool's nodes beside the pool's own, by its name."""
    if spec.device_plugin.install == "never":
        return PluginDecision(())
    gpu_pools = [pool for pool in node_pools if pool.gpus]
    found = {pool.name: _CLOUD for pool in gpu_pools if has_clouds_plugin(pool.source, cloud)}
    found |= existing_plugins.left_to((pool for pool in gpu_pools if pool.name not in found), plugins, labels or {})
    for pool in gpu_pools:
        # NVIDIA's GPU operator brings its plugin with its driver; before it comes, ours would crash.
        if not pool.source.install_driver:
            found.setdefault(pool.name, _DRIVER)
    left: dict[existing_plugins.Plugin, tuple[str, ...]] = {}
    for name, plugin in sorted(found.items()):
        left[plugin] = (*left.get(plugin, ()), name)
    not_shared = tuple(
        pool.name for pool in gpu_pools if found.get(pool.name, _CLOUD) is not _CLOUD and pool.source.gpu_sharing
    )
    return PluginDecision(tuple(pool for pool in gpu_pools if pool.name not in found), left, not_shared)


def declare(
    name: str,
    spec: ClusterSpec,
    cloud: Cloud,
    plugin: PluginDecision,
    metrics: dcgm.Decision,
    expander: Decision,
    ordered: ClassDecision,
    scheduled: plan.Decision,
    *,
    kubeconfig: pulumi.Input[str],
    made_here: pulumi.Resource | None,
    instance: str,
    opts: pulumi.ResourceOptions,
) -> None:
    """Everything this stack has inside the cluster. `made_here` is the cluster's resource where the cluster is its own.

    The kubeconfig is to be secret.
    """
    settings: dict[str, Any] = {
        "kubeconfig": kubeconfig,
        # Without it every cluster update, which makes the kubeconfig unknown, previews the whole layer as replaced.
        "cluster_identifier": spec.name,
        # By default a changed ConfigMap or Secret is deleted and made anew; without its ConfigMap the autoscaler's choice is
        # random for that moment (docs/adr/0004).
        "enableConfigMapMutable": True,
        "enableSecretMutable": True,
    }
    kubernetes = Provider(name, **settings, opts=opts)
    # A fixed identifier hides a replaced cluster from the layer, so each object says it follows the cluster
    # (docs/adr/0005). A cluster of somebody else stays when the stack goes, so its objects are deleted one by one.
    # Deleted first: an `up` that ended half-way leaves objects of the cluster that is gone, and deleting them afterwards takes
    # those of the same names from the new one.
    follows: dict[str, Any] = (
        {"replace_with": [made_here], "deleted_with": made_here, "delete_before_replace": True} if made_here else {}
    )
    inside = pulumi.ResourceOptions(provider=kubernetes, **follows)
    DevicePlugin(
        f"{name}-device-plugin",
        plugin.pools,
        spec.release.device_plugin_image,
        instance=instance,
        opts=opts,
        child=inside,
    )
    if metrics.pools:
        image = spec.release.dcgm_exporter_image
        dcgm.DcgmExporter(f"{name}-dcgm", metrics.pools, image, instance=instance, opts=opts, child=inside)
    if expander.declared is not None:
        takes = spec.expander.take_ownership and made_here is None
        if made_here is None:
            # Only this one object may be taken from somebody else, hence a provider of its own. It stays when the ownership
            # is settled: with another provider the object would be replaced.
            kubernetes = Provider(f"{name}-expander", **settings, upsertExistingObjects=takes, opts=opts)
        PriorityExpander(
            f"{name}-expander",
            expander.declared,
            instance=instance,
            take_ownership=takes,
            opts=opts,
            child=pulumi.ResourceOptions(provider=kubernetes, **follows),
        )
    if ordered.name:
        ComputeClass(f"{name}-compute-class", ordered, instance=instance, opts=opts, child=inside)
    if spec.image_pull_secrets:
        PullSecrets(f"{name}-pull", spec.image_pull_secrets, instance=instance, opts=opts, child=inside)
    plan.declare(name, scheduled, spec.release.name, cloud, instance=instance, opts=opts, child=inside)
