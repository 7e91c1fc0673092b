"""Node pools: the body GKE returns for a request, as the provider shows it.

Source of what replaces and what is computed: terraform-provider-google-beta services/container/{resource_container_node_pool,
node_config}.go. Defaults are those of terraform-provider-google-beta and of the pages named beside them. What GKE refuses is in
`pool_rules`.
"""

import copy

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_catalogue, gcp_errors, gcp_ids
from sandbox.gcp.gcp_catalogue import machines
from sandbox.gcp.gcp_nodes import group_name
from sandbox.gcp.resources import gcp_pool_rules
from sandbox.gcp.resources.gcp_requests import POOL, PoolRequest, pools_of
from sandbox.gcp.resources.gcp_resource_type import GcpType, type_named

_DISK_GB = 100

_GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}

_BOUNDS = ("minNodeCount", "maxNodeCount", "totalMinNodeCount", "totalMaxNodeCount")


class NodePool(GcpType):
    """A node pool of a cluster."""

    def fault_of_inputs(self, inputs: Body) -> str | None:
        if inputs.get("initialNodeCount") and inputs.get("nodeCount"):
            return f"Cannot set both initial_node_count and node_count on node pool {inputs.get('name', '')}"
        return None

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        cluster = _running_cluster(resources, id)
        return new_body(resources, cluster, id, wanted)

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        cluster = _running_cluster(resources, record.id)
        request = PoolRequest(record.id, planned, copy.deepcopy(planned), record.body, resources, cluster.body)
        request.wanted = {k: v for k, v in planned.items() if v != record.body.get(k)}
        rules.raise_first(gcp_pool_rules.SENT, request)
        config = request.config
        config["effectiveTaints"] = _all_taints(config, record.body["nodeConfig"])
        if config.get("flexStart"):
            request.body["upgradeSettings"] = _upgrade(request.body["upgradeSettings"], config)
        version = request.wanted.get("version")
        if version:
            channel = cluster.body["releaseChannel"]["channel"]
            request.body["version"] = gcp_catalogue.resolved(version, channel) or version
        rules.raise_first(gcp_pool_rules.RESULT, request)
        return request.body


def _running_cluster(resources: Resources, pool_id: str) -> Record:
    cluster = resources.get(gcp_ids.parent(pool_id))
    if cluster is None or cluster.body.get("status") == "STOPPING":
        raise gcp_errors.not_found(gcp_ids.parent(pool_id))
    return cluster


def new_body(resources: Resources, cluster: Record, id: str, wanted: Body) -> Body:
    """Return the body of a new pool, checked. Raises `Refused`."""
    request = PoolRequest(id, wanted, {}, None, resources, cluster.body)
    rules.raise_first(gcp_pool_rules.SENT, request)
    request.body = _with_defaults(cluster.body, id, wanted)
    config = request.config
    config["effectiveTaints"] = [dict(taint) for taint in config.get("taints", [])]
    tainted = any(taint["key"] == _GPU_TAINT["key"] for taint in config["effectiveTaints"])
    # Page gpus: only where the cluster has a pool without GPUs by then, and not a second time.
    mixed = any(not pool.body["nodeConfig"].get("guestAccelerators") for pool in pools_of(resources, cluster.id))
    if request.accelerators and not tainted and mixed:
        config["effectiveTaints"].append(dict(_GPU_TAINT))
    rules.raise_first(gcp_pool_rules.RESULT, request)
    return request.body


def _all_taints(config: Body, before: Body) -> list[Body]:
    """Return the user's taints as they are now, and those that GKE had added by itself."""
    mine, old = config.get("taints", []), {taint["key"] for taint in before.get("taints", [])}
    keys = {taint["key"] for taint in mine}
    added = [t for t in before.get("effectiveTaints", []) if t["key"] not in old | keys]
    return [*(dict(taint) for taint in mine), *added]


def _with_defaults(cluster: Body, id: str, wanted: Body) -> Body:
    config = _node_config(cluster, wanted.get("nodeConfig") or {})
    channel = cluster["releaseChannel"]["channel"]
    body: Body = {
        "initialNodeCount": wanted.get("nodeCount", 0),
        "maxPodsPerNode": cluster["defaultMaxPodsPerNode"],
        **wanted,
        # A set; an empty one means the default.
        "nodeLocations": list(dict.fromkeys(wanted.get("nodeLocations") or _zones(cluster))),
        "management": {"autoRepair": True, "autoUpgrade": True, **wanted.get("management", {})},
        "upgradeSettings": _upgrade(wanted.get("upgradeSettings") or {}, config),
        "name": gcp_ids.last(id),
        "namePrefix": wanted.get("namePrefix", ""),
        "project": gcp_ids.project_of(id),
        "location": id.split("/")[3],
        "version": gcp_catalogue.resolved(wanted["version"], channel)
        if wanted.get("version")
        else cluster["masterVersion"],
        "nodeConfig": config,
        "networkConfig": {
            "createPodRange": False,
            "enablePrivateNodes": bool((cluster.get("privateClusterConfig") or {}).get("enablePrivateNodes")),
            "podIpv4CidrBlock": cluster["clusterIpv4Cidr"],
            "podRange": cluster["ipAllocationPolicy"].get("clusterSecondaryRangeName", ""),
            "subnetwork": cluster["subnetwork"],
            **(wanted.get("networkConfig") or {}),
        },
    }
    if autoscaling := wanted.get("autoscaling"):
        # page cluster-autoscaler: ANY is the default of spot and preemptible pools
        policy = "ANY" if config["spot"] or config["preemptible"] else "BALANCED"
        body["autoscaling"] = {**dict.fromkeys(_BOUNDS, 0), "locationPolicy": policy, **autoscaling}
    groups = [
        f"https://www.googleapis.com/compute/v1/projects/{body['project']}/zones/{zone}/%s/{group_name(id, zone)}-grp"
        for zone in body["nodeLocations"]
    ]
    body["instanceGroupUrls"] = [group % "instanceGroupManagers" for group in groups]
    body["managedInstanceGroupUrls"] = [group % "instanceGroups" for group in groups]
    return body


def _zones(cluster: Body) -> list[str]:
    # A zonal cluster's own zone is not among its node_locations.
    own = [cluster["location"]] if gcp_ids.is_zone(cluster["location"]) else []
    return [*own, *cluster["nodeLocations"]] or gcp_catalogue.default_zones(cluster["location"])


def _upgrade(settings: Body, config: Body) -> Body:
    if config.get("flexStart"):
        # crossplane-contrib/provider-upjet-gcp #1028: whatever is sent.
        return {**settings, "strategy": "SHORT_LIVED", "maxSurge": 0, "maxUnavailable": 0}
    strategy = settings.get("strategy", "SURGE")
    defaults = {"maxSurge": 1, "maxUnavailable": 0} if strategy == "SURGE" else {"maxSurge": 0, "maxUnavailable": 0}
    # Who says one of the two says both: zero is Terraform's value for the other.
    numbers = {name: settings.get(name, 0) for name in defaults} if defaults.keys() & settings.keys() else defaults
    return {**settings, "strategy": strategy, **numbers}


def _node_config(cluster: Body, declared: Body) -> Body:
    declared = {**type_named(POOL).service["nodeConfig"], **declared}
    machine = machines().get(declared["machineType"])
    disks = machine.boot_disks if machine else ("pd-balanced",)
    boot = declared.get("bootDisk") or {}
    # Page custom-boot-disks: balanced where the machine takes it.
    disk = declared.get("diskType") or boot.get("diskType") or ("pd-balanced" if "pd-balanced" in disks else disks[0])
    size = declared.get("diskSizeGb") or boot.get("sizeGb") or _DISK_GB
    identity = (cluster.get("workloadIdentityConfig") or {}).get("workloadPool")
    config: Body = {
        **declared,
        "metadata": {"disable-legacy-endpoints": "true", **declared.get("metadata", {})},
        "shieldedInstanceConfig": {
            "enableIntegrityMonitoring": True,
            "enableSecureBoot": False,
            **(declared.get("shieldedInstanceConfig") or {}),
        },
        "diskType": disk,
        "diskSizeGb": size,
        "bootDisk": {**boot, "diskType": disk, "sizeGb": size},
    }
    if identity:
        # Page workload-identity: new pools of such a cluster have it by default.
        config["workloadMetadataConfig"] = {"mode": "GKE_METADATA", **(declared.get("workloadMetadataConfig") or {})}
    if config.get("guestAccelerators"):
        config["guestAccelerators"] = [_accelerator(accelerator) for accelerator in config["guestAccelerators"]]
    return config


def _accelerator(accelerator: Body) -> Body:
    # Page gpus: without this setting the default driver is installed, from 1.30.1-gke.1156000 on.
    return {"gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}, **accelerator}
