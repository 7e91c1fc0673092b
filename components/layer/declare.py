"""The layer inside a cluster: its provider, and the parts that its plan names."""

from __future__ import annotations

from dataclasses import replace

import pulumi
import pulumi_kubernetes as k8s

from components import workloads
from components.layer.autoscaler.compute_class import ComputeClass
from components.layer.autoscaler.expander import PriorityExpander
from components.layer.autoscaler.pool_objects import PoolObjects
from components.layer.declared_alerts import DeclaredAlerts
from components.layer.gpu.dcgm import DcgmExporter
from components.layer.gpu.device_plugin import DevicePlugin
from components.layer.layer_plan import LayerPlan
from components.layer.part import Inside
from components.layer.pull_secrets import PullSecrets
from components.layer.scheduling import plan as scheduling_plan
from components.layer.storage_class import StorageClass
from components.target import Cluster, Stack
from config.clouds.traits import Cloud


def declare_layer(
    name: str,
    stack: Stack,
    cloud: Cloud,
    plan: LayerPlan,
    cluster: Cluster,
    opts: pulumi.ResourceOptions,
) -> None:
    """Declare everything that this stack has inside the cluster."""
    spec = stack.spec

    def provider(name: str, upsert: bool | None = None) -> k8s.Provider:
        return k8s.Provider(
            name,
            kubeconfig=cluster.kubeconfig,
            # A cluster update makes the kubeconfig unknown, which without this would preview the
            # layer as replaced.
            cluster_identifier=spec.name,
            # By default a changed ConfigMap or Secret is replaced; meanwhile the autoscaler would
            # choose at random (docs/adr/0017).
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            upsert_existing_objects=upsert,
            opts=opts,
        )

    # The constant identifier hides a replaced cluster from the layer, so options make each object
    # follow the cluster (docs/adr/0017). An existing cluster outlives the stack, so its objects are
    # deleted one by one. Replacements delete first: an interrupted `up` leaves objects of the old
    # cluster, and deleting those afterwards would delete their successors.
    new_cluster = cluster.new_cluster
    follows = pulumi.ResourceOptions(
        provider=provider(name),
        replace_with=[new_cluster] if new_cluster else None,
        deleted_with=new_cluster,
        delete_before_replace=True if new_cluster else None,
    )
    inside = Inside(stack.instance, opts, follows)
    DevicePlugin(
        f"{name}-device-plugin", plan.device_plugin.pools, spec.release.device_plugin_image, inside
    )
    if plan.exporter.pools:
        DcgmExporter(f"{name}-dcgm", plan.exporter.pools, spec.release.dcgm_exporter_image, inside)
    if plan.expander.declared is not None:
        inside_own = inside
        take_ownership = spec.expander.take_ownership and new_cluster is None
        if new_cluster is None:
            # Only this object may be taken from another owner, so it has its own provider. The
            # provider stays afterwards: another one would replace the object.
            own = provider(f"{name}-expander", upsert=take_ownership)
            inside_own = replace(inside, child=pulumi.ResourceOptions(provider=own))
        PriorityExpander(
            f"{name}-expander", plan.expander.declared, inside_own, take_ownership=take_ownership
        )
    if cluster.pool_objects:
        PoolObjects(f"{name}-pools", cluster.pool_objects, inside)
    if plan.compute_class.name:
        ComputeClass(f"{name}-compute-class", plan.compute_class, inside)
    if spec.image_pull_secrets:
        PullSecrets(f"{name}-pull", spec.image_pull_secrets, inside)
    if spec.workloads.storage_class and (disks := cloud.durable_disks(spec.cloud)):
        StorageClass(f"{name}-durable", spec.workloads.storage_class, disks, inside)
    if plan.alerts.kind:
        DeclaredAlerts(f"{name}-alerts", plan.alerts, inside)
    shown = workloads.as_output(spec, cluster.workloads)
    scheduling_plan.declare(name, plan.scheduling, spec.release.name, cloud, inside, shown)
