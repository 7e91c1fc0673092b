"""What Google Cloud's answers mean for a stack."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.gcp.settings import Gcp
from preflight.answers import Answers, Document
from preflight.demand import Demand, Need
from preflight.gcp.machines import live, machines
from preflight.quotas import Drawn, Limit, drawn_of, judge, reserved
from ready.check import Check, NotSeen, Said, note, ok, wrong

CORE_SERVICES = (
    "container.googleapis.com",
    "compute.googleapis.com",
    "iam.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
)

_STORAGE = "storage.googleapis.com"

_PERMISSIONS = (
    "container.clusters.get",
    "container.clusters.getCredentials",
    "container.clusters.update",
    "iam.serviceAccounts.actAs",
)
_OF_A_CLUSTER = ("container.clusters.create",)
_OF_A_CONTRACT = ("container.roles.create", "container.roleBindings.create")
_OF_BACK_TO_SPOT = ("container.clusterRoles.create", "container.clusterRoleBindings.create")
_INSIDE = (*_OF_A_CONTRACT, *_OF_BACK_TO_SPOT)
"""Rights inside the cluster, where RBAC may give them too; nobody has given any in a cluster that is yet to be made
(docs.cloud.google.com/kubernetes-engine/docs/how-to/iam)."""
_OF_A_NETWORK = ("compute.networks.create", "compute.subnetworks.create", "compute.routers.create")
_OF_A_BUCKET = ("storage.buckets.create",)
_OF_GRANTS = "storage.buckets.setIamPolicy"
"""Whoever makes a bucket as the project's editor or owner gets it with the bucket, so its lack on the project is a note
(docs.cloud.google.com/storage/docs/access-control/iam-roles, legacy roles)."""
_OF_AN_ACCOUNT = ("iam.serviceAccounts.create", "resourcemanager.projects.setIamPolicy")

_CPUS = {
    "n1": "CPUS",
    "e2": "CPUS",
    "n2": "N2_CPUS",
    "n2d": "N2D_CPUS",
    "c3": "C3_CPUS",
    "t2d": "T2D_CPUS",
    "a2": "A2_CPUS",
}
"""Quota metrics of vCPUs by machine family; accelerator-optimized families but A2 have none (page resource-usage)."""

_SPOT_CPUS = "PREEMPTIBLE_CPUS"
_ALL_GPUS = "GPUS_ALL_REGIONS"


def _settings(demand: Demand) -> Gcp:
    cloud = demand.spec.cloud
    assert isinstance(cloud, Gcp)
    return cloud


def permissions(demand: Demand) -> tuple[str, ...]:
    """The permissions on the project that whoever deploys the stack needs (docs/google-cloud.md, Rights)."""
    cloud = _settings(demand)
    network = _OF_A_NETWORK if demand.new and cloud.network.existing is None else ()
    account = () if cloud.service_account else _OF_AN_ACCOUNT
    storage: tuple[str, ...] = _OF_A_BUCKET if demand.bucket else ()
    if demand.bucket and demand.spec.workloads.profiles:
        storage = (*storage, _OF_GRANTS)
    scheduling = demand.spec.scheduling
    inside = (*_OF_A_CONTRACT, *(_OF_BACK_TO_SPOT if scheduling.back_to_spot else ())) if scheduling.enabled else ()
    return (*_PERMISSIONS, *inside, *(_OF_A_CLUSTER if demand.new else ()), *network, *account, *storage)


def services(demand: Demand) -> tuple[str, ...]:
    """The services that the stack needs."""
    return (*CORE_SERVICES, *((_STORAGE,) if demand.bucket else ()))


def _quota(answers: Answers) -> Iterator[Said]:
    region = _limits("region", answers.part("region"))
    project = _limits("project", answers.part("project"))
    up = live(answers)
    drawn = [
        part
        for need in answers.demand.needs
        if not need.reserved
        for part in _draws(need, region, up.get((need.pool, need.machine), 0))
    ]
    limits = {
        part.quota: project.get(part.quota) if part.quota == _ALL_GPUS else region.get(part.quota) for part in drawn
    }
    for unit, mine in (("vCPUs", "CPUS"), ("GPUs", "GPUS")):
        parts = [part for part in drawn if mine in part.quota]
        of_unit = {part.quota: limits[part.quota] for part in parts}
        yield from judge(parts, of_unit, unit, "ask for more quota (docs/google-cloud.md, Quotas), or lower `maxNodes`")
    yield from reserved(need.pool for need in answers.demand.needs if need.reserved)


def _limits(name: str, document: Document | None) -> dict[str, Limit]:
    """The quotas of a region or a project. A document without any is one whose quotas could not be fetched, which a region says
    in `quotaStatusWarning` (compute/docs/reference/rest/v1/regions). Raises `NotSeen`."""
    if document is not None and not document.get("quotas"):
        warning = document.get("quotaStatusWarning") or {}
        why = " ".join(str(warning[key]) for key in ("code", "message") if warning.get(key))
        raise NotSeen(f"{name}: Google Cloud answers without its quotas{why and f' ({why})'}")
    listed = (document or {}).get("quotas") or ()
    return {item["metric"]: Limit(float(item.get("limit", 0)), float(item.get("usage", 0))) for item in listed}


def _draws(need: Need, region: dict[str, Limit], up: int) -> Iterator[Drawn]:
    """Spot uses the preemptible quota once one was granted, before that the standard one (page spot; second hand).

    Flex-start needs that of preemptible GPUs (page dws-flex-start-training).
    """

    def chosen(metric: str, preemptible: str) -> str:
        granted = region.get(preemptible)
        return preemptible if (need.spot or need.queued) and granted and granted.limit > 0 else metric

    if need.known and (metric := _CPUS.get(need.known.family)):
        yield drawn_of(need, chosen(metric, _SPOT_CPUS), need.known.vcpus, up)
    if need.gpus:
        # The catalogue's names are those of the metrics (page resource-usage).
        model = need.gpu_model.removeprefix("nvidia-").replace("-", "_").upper()
        metric = f"NVIDIA_{model}_GPUS"
        preemptible = f"PREEMPTIBLE_{metric}"
        drawn = preemptible if need.queued else chosen(metric, preemptible)
        yield drawn_of(need, drawn, need.gpus, up)
        yield drawn_of(need, _ALL_GPUS, need.gpus, up)


def _version(answers: Answers) -> Iterator[Said]:
    if not answers.demand.new:
        yield ok("the cluster exists, and keeps its version")
        return
    cloud, wanted = _settings(answers.demand), answers.demand.spec.kubernetes_version
    running = str((answers.part("cluster") or {}).get("currentMasterVersion") or "")
    if _is(running, wanted):
        yield ok(f"the cluster runs Kubernetes {running} already")
        return
    config = answers.part("serverConfig") or {}
    channels = {item["channel"]: item.get("validVersions") or () for item in config.get("channels") or ()}
    channel = cloud.release_channel
    if channel not in channels:
        yield wrong(f"{cloud.place} has no release channel {channel}", f"choose one of {', '.join(sorted(channels))}")
        return
    if not any(_is(version, wanted) for version in channels[channel]):
        others = sorted(
            name for name, versions in channels.items() if any(_is(version, wanted) for version in versions)
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


def _registered(answers: Answers) -> Iterator[Said]:
    states = {
        str(item["name"]).rpartition("/")[2]: item.get("state")
        for item in (answers.part("services") or {}).get("services") or ()
    }
    missing = [name for name in services(answers.demand) if states.get(name) != "ENABLED"]
    for name in missing:
        yield wrong(f"the service {name} is not enabled", f"gcloud services enable {name}")
    if not missing:
        yield ok(f"{len(services(answers.demand))} services are enabled")


def _permissions(answers: Answers) -> Iterator[Said]:
    granted, wanted = (answers.part("granted") or {}).get("permissions") or (), permissions(answers.demand)
    missing = [permission for permission in wanted if permission not in granted]
    if _OF_GRANTS in missing:
        missing.remove(_OF_GRANTS)
        yield note(
            f"whoever deploys lacks {_OF_GRANTS} on the project, and must have it on the bucket for the profiles",
            "an editor or owner of the project has it on buckets of their own; else ask for Storage Admin",
        )
        wanted = tuple(item for item in wanted if item != _OF_GRANTS)
    inside = [] if answers.demand.new else [permission for permission in missing if permission in _INSIDE]
    if inside:
        missing = [permission for permission in missing if permission not in inside]
        wanted = tuple(item for item in wanted if item not in inside)
        yield note(
            f"whoever deploys lacks {', '.join(inside)} on the project; RBAC in the existing cluster may give it",
            "kubectl auth can-i create roles --namespace kube-public",
        )
    for permission in missing:
        yield wrong(
            f"whoever deploys lacks {permission} on the project",
            "ask for a role that has it (docs/google-cloud.md, Rights)",
        )
    if not missing:
        yield ok(f"whoever deploys has {len(wanted)} of {len(wanted)} permissions on the project")


def _names(answers: Answers) -> Iterator[Said]:
    cloud, name = _settings(answers.demand), answers.demand.spec.name
    cluster = answers.part("cluster")
    if not answers.demand.new:
        if cluster is None:
            yield wrong(f"{cloud.place} has no cluster {name} to add pools to", "correct `cloud.existingCluster`")
        else:
            yield ok(f"cluster {name} exists")
        return
    made = "if this stack made it, there is nothing to do"
    tags, live = answers.demand.spec.cluster.tags, (cluster or {}).get("resourceLabels") or {}
    if tags and tags.items() <= live.items():
        yield note(f"{cloud.place} has a cluster {name} with this stack's labels: a first `up` was made already")
    elif cluster is not None:
        yield wrong(f"{cloud.place} has a cluster {name} already", f"choose another `cluster.name`; {made}")
    elif cloud.network.existing is None and answers.part("network") is not None:
        yield wrong(f"the project has a network {name} already", f"choose another `cluster.name`; {made}")
    else:
        yield ok(f"the name {name} is free")


def _bucket(answers: Answers) -> Iterator[Said]:
    name = answers.demand.bucket
    if not name:
        yield ok("the stack makes no bucket")
    elif answers.part("bucket") is None:
        yield ok(f"the bucket's name {name} is free")
    else:
        yield note(
            f"there is a bucket {name}, which these credentials may read",
            "nothing, if this stack made it; else set `workloads.checkpoints.existing`, or choose another name",
        )


_PAGES = "docs.cloud.google.com/"
_RIGHT = "the role Viewer on the project (docs/google-cloud.md, Rights)"

CHECKS: tuple[Check[Answers], ...] = (
    Check("machines", machines, f"{_PAGES}compute/docs/reference/rest/v1/machineTypes/get", _RIGHT),
    Check("quota", _quota, f"{_PAGES}compute/resource-usage", _RIGHT),
    Check("version", _version, f"{_PAGES}kubernetes-engine/docs/reference/rest/v1/ServerConfig", _RIGHT),
    Check("registered", _registered, f"{_PAGES}service-usage/docs/reference/rest/v1/services/batchGet", _RIGHT),
    Check(
        "permissions", _permissions, f"{_PAGES}resource-manager/reference/rest/v3/projects/testIamPermissions", _RIGHT
    ),
    Check("names", _names, f"{_PAGES}kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters/get", _RIGHT),
    Check(
        "bucket",
        _bucket,
        f"{_PAGES}storage/docs/json_api/v1/buckets/get",
        "Storage Admin on the project; a bucket of somebody else's answers 403 as well, and then another name helps",
    ),
)
