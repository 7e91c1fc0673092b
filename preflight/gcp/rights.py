"""Rights: the services of the project that a stack needs, and the permissions of whoever deploys it."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.gcp.settings import Gcp
from preflight.answers import Answers
from preflight.demand import Demand
from ready.check import Said, note, ok, wrong

CORE_SERVICES = (
    "container.googleapis.com",
    "compute.googleapis.com",
    "iam.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
)

_STORAGE, _IMAGES, _KEYS = "storage.googleapis.com", "artifactregistry.googleapis.com", "cloudkms.googleapis.com"

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
BUCKET_GRANTS = ("storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy")
"""Rights on an existing bucket, by which the stack gives profiles theirs
(docs.cloud.google.com/storage/docs/access-control/iam-json)."""
_OF_PROFILES = ("resourcemanager.projects.get",)
"""For the project's number, which the members of its workload identity pool have in their names (docs/storage.md, Rights)."""
_OF_AN_ACCOUNT = ("iam.serviceAccounts.create", "resourcemanager.projects.setIamPolicy")


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
    numbers = _OF_PROFILES if demand.spec.workloads.profiles else ()
    scheduling = demand.spec.scheduling
    inside = (*_OF_A_CONTRACT, *(_OF_BACK_TO_SPOT if scheduling.back_to_spot else ())) if scheduling.enabled else ()
    return (*_PERMISSIONS, *inside, *(_OF_A_CLUSTER if demand.new else ()), *network, *account, *storage, *numbers)


def services(demand: Demand) -> tuple[str, ...]:
    """The services that the stack needs. Those of repositories and keys of other projects are their owners' concern."""
    cloud = _settings(demand)
    keys = (cloud.encryption.secrets_key, cloud.encryption.boot_disk_key)
    wanted = {
        _STORAGE: demand.spec.workloads.checkpoints is not None,
        _IMAGES: any((registry.project or cloud.project) == cloud.project for registry in cloud.registries),
        _KEYS: any(key and key.text.split("/")[1] == cloud.project for key in keys),
    }
    return (*CORE_SERVICES, *(name for name, needed in wanted.items() if needed))


def _grants_elsewhere(demand: Demand) -> bool:
    """Whether profiles get rights at a bucket that the stack does not make."""
    return bool(demand.existing_bucket and demand.spec.workloads.profiles)


def registered(answers: Answers) -> Iterator[Said]:
    """Each service against those of the project."""
    states = {
        str(item["name"]).rpartition("/")[2]: item.get("state")
        for item in (answers.part("services") or {}).get("services") or ()
    }
    missing = [name for name in services(answers.demand) if states.get(name) != "ENABLED"]
    for name in missing:
        yield wrong(f"the service {name} is not enabled", f"gcloud services enable {name}")
    if not missing:
        yield ok(f"{len(services(answers.demand))} services are enabled")


def held(answers: Answers) -> Iterator[Said]:
    """Each permission against those of whoever deploys."""
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
    at_bucket = answers.part("bucketGranted") if _grants_elsewhere(answers.demand) else None
    if at_bucket is not None:  # None too of a bucket that is not there, of which its own check says so.
        for permission in sorted({*BUCKET_GRANTS} - {*(at_bucket.get("permissions") or ())}):
            missing.append(permission)
            yield wrong(
                f"whoever deploys lacks {permission} on bucket {answers.demand.existing_bucket}",
                "ask its owner for Storage Admin on it (docs/storage.md, Rights)",
            )
    if not missing:
        yield ok(f"whoever deploys has {len(wanted)} of {len(wanted)} permissions on the project")
