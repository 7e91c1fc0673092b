"""What Google Cloud's answers mean for a stack."""

from __future__ import annotations

from collections.abc import Iterator

from checks.check import Check, NotSeen, Remark, ok, wrong
from checks.preflight.answers import Answers, Document
from checks.preflight.demand import Need, all_pools
from checks.preflight.gcp import capacity_advice, gcp_names, gcp_reservations, gcp_rights
from checks.preflight.gcp.machines import live, machines
from checks.preflight.quotas import Drawn, Limit, drawn_of, judge, reserved
from config.clouds.gcp.gcp_pool import nodes_of
from config.clouds.gcp.gcp_traits import default_boot_disk
from config.placement.node_pools import NodePool

_CPUS = {
    "n1": "CPUS",
    "e2": "CPUS",
    "n2": "N2_CPUS",
    "n2d": "N2D_CPUS",
    "c3": "C3_CPUS",
    "t2d": "T2D_CPUS",
    "a2": "A2_CPUS",
}
"""Quota metrics of vCPUs by machine family; accelerator-optimized families but A2 have none (page
resource-usage)."""

_SPOT_CPUS = "PREEMPTIBLE_CPUS"
_ALL_CPUS = "CPUS_ALL_REGIONS"
_ALL_GPUS = "GPUS_ALL_REGIONS"
_OF_THE_PROJECT = (_ALL_CPUS, _ALL_GPUS)

_SSD = "SSD_TOTAL_GB"
_SSDS = ("pd-balanced", "pd-ssd")
"""Kinds of disks that count against it (page resource-usage)."""
_DISK_GB = 100
"""GKE's own size of a boot disk."""

_BY_FAMILY = ("NVIDIA_H100", "NVIDIA_H200", "NVIDIA_B200")
"""Beginnings of GPUs' names that are counted by GPUS_PER_GPU_FAMILY alone, of which the list of a
region says nothing (docs.cloud.google.com/compute/resource-usage; `gcloud beta quotas info
list`)."""


def _quota(answers: Answers) -> Iterator[Remark]:
    region = _limits("region", answers.part("region"))
    project = _limits("project", answers.part("project"))
    up = live(answers)
    drawn = [
        part
        for need in answers.demand.needs
        if not need.reserved
        for part in _draws(need, region, up.get((need.pool, need.machine), 0))
    ]
    ssds = {pool.name: _ssd(pool) for pool in all_pools(answers.demand.spec, answers.demand.cloud)}
    drawn += [
        drawn_of(need, _SSD, ssds[need.pool], up.get((need.pool, need.machine), 0))
        for need in answers.demand.needs
        if ssds[need.pool]
    ]
    limits = {
        part.quota: project.get(part.quota)
        if part.quota in _OF_THE_PROJECT
        else region.get(part.quota)
        for part in drawn
    }
    for unit, mine in (("vCPUs", "CPUS"), ("GPUs", "GPU"), ("GB of SSD", _SSD)):
        parts = [part for part in drawn if mine in part.quota]
        of_unit = {part.quota: limits[part.quota] for part in parts}
        yield from judge(
            parts,
            of_unit,
            unit,
            "ask for more quota (docs/gke.md, Quotas), or lower `maxNodes`",
        )
    yield from reserved(need.pool for need in answers.demand.needs if need.reserved)


def _ssd(pool: NodePool) -> int:
    """Return the gigabytes of SSD of a node's boot disk; 0 where it is no SSD."""
    nodes = nodes_of(pool.source)
    kind = (nodes and nodes.disk_type) or default_boot_disk(pool.machine)
    return (pool.source.os_disk.size_gb or _DISK_GB) if kind in _SSDS else 0


def _limits(name: str, document: Document | None) -> dict[str, Limit]:
    """Return the quotas of a region or project.

    Raises `NotSeen` if Google could not fetch them, which a region reports in `quotaStatusWarning`
    (compute/docs/reference/rest/v1/regions).
    """
    if document is not None and not document.get("quotas"):
        warning = document.get("quotaStatusWarning") or {}
        why = " ".join(str(warning[key]) for key in ("code", "message") if warning.get(key))
        raise NotSeen(f"{name}: Google Cloud answers without its quotas{why and f' ({why})'}")
    listed = (document or {}).get("quotas") or ()
    return {
        item["metric"]: Limit(float(item.get("limit", 0)), float(item.get("usage", 0)))
        for item in listed
    }


def _draws(need: Need, region: dict[str, Limit], up: int) -> Iterator[Drawn]:
    """Yield the quotas of a pool.

    Spot uses a granted preemptible quota, else the standard one (page spot; second hand).

    Flex-start needs the quota of preemptible GPUs (page dws-flex-start-training).
    """

    def chosen(metric: str, preemptible: str) -> str:
        granted = region.get(preemptible)
        return (
            preemptible if (need.spot or need.queued) and granted and granted.limit > 0 else metric
        )

    if need.known and (metric := _CPUS.get(need.known.family)):
        drawn = chosen(metric, _SPOT_CPUS)
        yield drawn_of(need, drawn, need.known.vcpus, up)
        if drawn != _SPOT_CPUS:
            yield drawn_of(need, _ALL_CPUS, need.known.vcpus, up)
    if need.gpus:
        # The catalogue's names are those of the metrics (page resource-usage).
        model = need.gpu_model.removeprefix("nvidia-").replace("-", "_").upper()
        metric = f"NVIDIA_{model}_GPUS"
        preemptible = f"PREEMPTIBLE_{metric}"
        drawn = preemptible if need.queued else chosen(metric, preemptible)
        if drawn == metric and metric.startswith(_BY_FAMILY):
            drawn = f"GPUS_PER_GPU_FAMILY ({metric.removesuffix('_GPUS')})"
        yield drawn_of(need, drawn, need.gpus, up)
        yield drawn_of(need, _ALL_GPUS, need.gpus, up)


def _version(answers: Answers) -> Iterator[Remark]:
    if not answers.demand.new:
        yield ok("the cluster exists, and keeps its version")
        return
    cloud, wanted = gcp_rights.settings(answers.demand), answers.demand.spec.kubernetes_version
    running = str((answers.part("cluster") or {}).get("currentMasterVersion") or "")
    if _is(running, wanted):
        yield ok(f"the cluster runs Kubernetes {running} already")
        return
    config = answers.part("serverConfig") or {}
    channels = {
        item["channel"]: item.get("validVersions") or () for item in config.get("channels") or ()
    }
    channel = cloud.release_channel
    if channel not in channels:
        yield wrong(
            f"{cloud.place} has no release channel {channel}",
            f"choose one of {', '.join(sorted(channels))}",
        )
        return
    if not any(_is(version, wanted) for version in channels[channel]):
        others = sorted(
            name
            for name, versions in channels.items()
            if any(_is(version, wanted) for version in versions)
        )
        elsewhere = f"; {', '.join(others)} has it" if others else ""
        yield wrong(
            f"the release channel {channel} has no Kubernetes {wanted} in {cloud.place}{elsewhere}",
            f"set `cloud.releaseChannel: {others[0]}`" if others else "choose another release",
        )
        return
    yield ok(f"the release channel {channel} has Kubernetes {wanted} in {cloud.place}")


def _is(version: str, wanted: str) -> bool:
    return version == wanted or version.startswith((f"{wanted}.", f"{wanted}-"))


_PAGES = "docs.cloud.google.com/"
_RIGHT = "the role Viewer on the project (docs/gke.md, Rights)"

_RESERVATION = (
    "compute.reservations.get in the reservation's project, which Compute Viewer there has"
)

CHECKS: tuple[Check[Answers], ...] = (
    Check("machines", machines, f"{_PAGES}compute/docs/reference/rest/v1/machineTypes/get", _RIGHT),
    Check(
        "reservations",
        gcp_reservations.reservations,
        f"{_PAGES}kubernetes-engine/docs/how-to/consuming-reservations;"
        f" {_PAGES}compute/docs/reference/rest/v1/reservations",
        _RESERVATION,
    ),
    Check("quota", _quota, f"{_PAGES}compute/resource-usage", _RIGHT),
    Check("spot", capacity_advice.spot, f"{_PAGES}compute/docs/instances/view-vm-availability"),
    Check(
        "version",
        _version,
        f"{_PAGES}kubernetes-engine/docs/reference/rest/v1/ServerConfig",
        _RIGHT,
    ),
    Check(
        "registered",
        gcp_rights.services_enabled,
        f"{_PAGES}service-usage/docs/reference/rest/v1/services/batchGet",
        _RIGHT,
    ),
    Check(
        "permissions",
        gcp_rights.permissions_held,
        f"{_PAGES}resource-manager/reference/rest/v3/projects/testIamPermissions",
        _RIGHT,
    ),
    Check(
        "names",
        gcp_names.names,
        f"{_PAGES}kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters/get",
        _RIGHT,
    ),
    Check(
        "bucket",
        gcp_names.bucket,
        f"{_PAGES}storage/docs/json_api/v1/buckets/get",
        "Storage Admin on the project; a bucket of somebody else's answers 403 as well, and then"
        " another name helps",
    ),
)
