"""Rights: the services of the project that a stack needs, and the permissions of whoever deploys
it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.check import Remark, note, ok, wrong
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand
from checks.preflight.gcp.gcp_declared import BUCKET, BUCKET_GRANTS, PERMISSIONS, resources
from config.clouds.gcp.gcp_settings import Gcp

CORE_SERVICES = (
    "container.googleapis.com",
    "compute.googleapis.com",
    "iam.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
)

_STORAGE, _IMAGES, _KEYS = (
    "storage.googleapis.com",
    "artifactregistry.googleapis.com",
    "cloudkms.googleapis.com",
)

_OF_A_CONTRACT = ("container.roles.create", "container.roleBindings.create")
_OF_BACK_TO_SPOT = ("container.clusterRoles.create", "container.clusterRoleBindings.create")
_INSIDE = (*_OF_A_CONTRACT, *_OF_BACK_TO_SPOT)
"""Rights inside the cluster, where RBAC may give them too; nobody has given any in a cluster that
is yet to be made (docs.cloud.google.com/kubernetes-engine/docs/how-to/iam)."""
_OF_PROFILES = ("resourcemanager.projects.get",)
"""For the project's number, which the members of its workload identity pool have in their names
(docs/workloads.md, Rights)."""


def settings(demand: Demand) -> Gcp:
    """Return the settings of the stack's cloud."""
    cloud = demand.spec.cloud
    assert isinstance(cloud, Gcp)
    return cloud


def permissions(demand: Demand) -> dict[str, tuple[str, ...]]:
    """Return the permissions that whoever deploys the stack needs, by project; the stack's own
    comes first (docs/gke.md, Rights)."""
    cloud, scheduling = settings(demand), demand.spec.scheduling
    wanted: dict[str, dict[str, None]] = {cloud.project: {}}
    for type, project in resources(demand):
        if project != BUCKET:
            wanted.setdefault(project, {}).update(dict.fromkeys(PERMISSIONS[f"gcp:{type}"]))
    inside = (
        (*_OF_A_CONTRACT, *(_OF_BACK_TO_SPOT if scheduling.back_to_spot else ()))
        if scheduling.enabled
        else ()
    )
    numbers = _OF_PROFILES if demand.spec.workloads.profiles else ()
    wanted[cloud.project].update(dict.fromkeys((*inside, *numbers)))
    return {project: tuple(names) for project, names in wanted.items()}


def answer_of(project: str, demand: Demand) -> str:
    """Return the name of the answer with the permissions on a project."""
    return "granted" if project == settings(demand).project else f"granted on {project}"


def services(demand: Demand) -> tuple[str, ...]:
    """Return the services that the stack needs in its own project."""
    cloud = settings(demand)
    keys = (cloud.encryption.secrets_key, cloud.encryption.boot_disk_key)
    wanted = {
        _STORAGE: demand.spec.workloads.checkpoints is not None,
        _IMAGES: any(
            (registry.project or cloud.project) == cloud.project for registry in cloud.registries
        ),
        _KEYS: any(key and key.text.split("/")[1] == cloud.project for key in keys),
    }
    return (*CORE_SERVICES, *(name for name, needed in wanted.items() if needed))


def _grants_elsewhere(demand: Demand) -> bool:
    """Return whether profiles get rights at a bucket that the stack does not make."""
    return bool(demand.existing_bucket and demand.spec.workloads.profiles)


def services_enabled(answers: Answers) -> Iterator[Remark]:
    """Check that each service is enabled."""
    states = {
        str(item["name"]).rpartition("/")[2]: item.get("state")
        for item in (answers.part("services") or {}).get("services") or ()
    }
    missing = [name for name in services(answers.demand) if states.get(name) != "ENABLED"]
    for name in missing:
        yield wrong(f"the service {name} is not enabled", f"gcloud services enable {name}")
    if not missing:
        yield ok(f"{len(services(answers.demand))} services are enabled")


def _on_itself(permission: str) -> bool:
    """Return whether a role on the resource itself may give a permission: on a bucket, a key, a
    registry or a subnet.

    Whoever makes a bucket as the project's editor or owner has a role on it (page iam-roles, legacy
    roles).
    """
    of_a_bucket = permission.startswith("storage.") and permission != "storage.buckets.create"
    return of_a_bucket or (
        permission.endswith("IamPolicy") and not permission.startswith("resourcemanager.")
    )


def _may_be_on_itself(permissions: Iterable[str], where: str) -> Remark:
    return note(
        f"whoever deploys lacks {', '.join(permissions)} on {where}; a role on the bucket, key,"
        " registry or subnet may give it",
        "ask its owner (docs/gke.md and docs/workloads.md, Rights)",
    )


def permissions_held(answers: Answers) -> Iterator[Remark]:
    """Check that the deploying account has each permission."""
    (_, wanted), *elsewhere = permissions(answers.demand).items()
    granted = (answers.part("granted") or {}).get("permissions") or ()
    missing = [permission for permission in wanted if permission not in granted]
    if lacking := [permission for permission in missing if _on_itself(permission)]:
        missing = [permission for permission in missing if permission not in lacking]
        wanted = tuple(permission for permission in wanted if permission not in lacking)
        yield _may_be_on_itself(lacking, "the project")
    inside = (
        []
        if answers.demand.new
        else [permission for permission in missing if permission in _INSIDE]
    )
    if inside:
        missing = [permission for permission in missing if permission not in inside]
        wanted = tuple(item for item in wanted if item not in inside)
        yield note(
            f"whoever deploys lacks {', '.join(inside)} on the project; RBAC in the existing"
            " cluster may give it",
            "kubectl auth can-i create roles --namespace kube-public",
        )
    for permission in missing:
        yield wrong(
            f"whoever deploys lacks {permission} on the project",
            "ask for a role that has it (docs/gke.md, Rights)",
        )
    for project, names in elsewhere:
        held_there = (answers.part(answer_of(project, answers.demand)) or {}).get(
            "permissions"
        ) or ()
        if lacking := [name for name in names if name not in held_there]:
            yield _may_be_on_itself(lacking, f"project {project}")
    at_bucket = answers.part("bucketGranted") if _grants_elsewhere(answers.demand) else None
    if (
        at_bucket is not None
    ):  # None too of a bucket that is not there, of which its own check says so.
        for permission in sorted({*BUCKET_GRANTS} - {*(at_bucket.get("permissions") or ())}):
            missing.append(permission)
            yield wrong(
                f"whoever deploys lacks {permission} on bucket {answers.demand.existing_bucket}",
                "ask its owner for Storage Admin on it (docs/workloads.md, Rights)",
            )
    if not missing:
        yield ok(f"whoever deploys has {len(wanted)} of {len(wanted)} permissions on the project")
