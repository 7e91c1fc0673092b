"""The settings of `workloads`: storage for users' work, and the identities that reach it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from config.model.fields import Model, Namespace, form, optional, worded

KubernetesServiceAccount = Annotated[
    str,
    form(
        r"^[a-z0-9](?:-?[a-z0-9]){0,62}$",
        "a service account: at most 63 lower-case letters, digits and -, such as default-editor",
    ),
]
"""Narrower than Kubernetes' form: federated credentials have shorter names."""

EDITOR = "default-editor"
"""The service account of each Kubeflow profile, of its notebooks and pipeline steps
(kubeflow/manifests 26.03, applications/profiles)."""


class Checkpoints(Model):
    """A bucket (GKE) or a storage account with a container (AKS) that outlives the stack."""

    name: str | None = optional(
        None,
        "The bucket or storage account that the stack makes; unique in the cloud. This or "
        "`existing`.",
        "mldevcheckpoints",
    )
    existing: str | None = optional(
        None,
        "An existing bucket's name, or storage account's id; the stack only grants the profiles "
        "their rights.",
        "ml-shared-checkpoints",
    )
    expire_after_days: int | None = optional(
        None,
        "Days after the last write from which an object is deleted. Default: objects stay.",
        90,
        ge=1,
        le=3650,
    )
    soft_delete_days: int = optional(
        14,
        "Days for which deleted and overwritten objects can be restored, and are paid for.",
        ge=7,
        le=90,
    )


class ProfileAccess(Model):
    """A Kubeflow profile, perhaps a future one, whose pods use only their prefix of the
    checkpoints.
    """

    namespace: Namespace = Field(description="The profile's namespace.", examples=["team-a"])
    service_accounts: tuple[KubernetesServiceAccount, ...] = optional(
        (EDITOR,),
        "Service accounts of the namespace whose pods have the identity.",
        ["default-editor", "training"],
        min_length=1,
    )
    prefix: str | None = optional(
        None,
        "The prefix of its objects' names, before a `/`. Default: the namespace. Keep the old "
        "prefix when a profile is renamed.",
        "team-a",
        max_length=200,
        pattern=worded(
            r"^[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*$",
            "letters, digits, ., _, - and /, no / at the end, such as team-a or vision/team-a",
        ),
    )

    @property
    def path(self) -> str:
        """The prefix of its objects' names. The `/` at the end keeps team-a out of team-ab."""
        return f"{self.prefix or self.namespace}/"

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read the namespace."""
        return {"namespace": text}


class Workloads(Model):
    """Storage for users' work, and the identities of the profiles that reach it."""

    checkpoints: Checkpoints | None = optional(None, "A bucket or blob container for checkpoints.")
    profiles: tuple[ProfileAccess, ...] = optional((), "Profiles that reach the checkpoints.")
    storage_class: str | None = optional(
        None,
        "A StorageClass that the stack makes: its volumes outlive their claims, in several zones "
        "where the region has them.",
        "durable",
        pattern=worded(
            r"^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$",
            "a StorageClass' name: at most 63 lower-case letters, digits and -, such as durable",
        ),
    )
