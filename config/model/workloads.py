"""The settings of `workloads`: storage for users' work, and the identities that reach it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from config.model.fields import Model, Namespace, form, worded

KubernetesServiceAccount = Annotated[
    str,
    form(
        r"^[a-z0-9](?:-?[a-z0-9]){0,62}$",
        "a service account's name: at most 63 lower-case letters, digits and -, such as default-editor",
    ),
]
"""Kubernetes takes longer names, and with `.`; those of federated credentials are shorter, and one form serves all clouds."""

EDITOR = "default-editor"
"""The service account that Kubeflow makes in each profile, and that its notebooks and pipeline steps run as
(kubeflow/manifests 26.03, applications/profiles)."""


class Checkpoints(Model):
    """A bucket (GKE), or a storage account with a blob container (AKS), that outlives nodes, the cluster and the stack."""

    name: str | None = Field(
        None,
        description="The name of the bucket, or of the storage account, that the stack makes; unique in the whole cloud. This or "
        "`existing` is required.",
        examples=["mldevcheckpoints"],
    )
    existing: str | None = Field(
        None,
        description="One that exists already: the bucket's name, or the storage account's resource id. The stack then only gives "
        "the profiles their rights. Default: the stack makes one.",
        examples=["ml-shared-checkpoints"],
    )
    expire_after_days: int | None = Field(
        None,
        ge=1,
        le=3650,
        description="Days after the last write from which an object is deleted. Default: objects stay.",
        examples=[90],
    )
    soft_delete_days: int = Field(
        14,
        ge=7,
        le=90,
        description="Days for which deleted and overwritten objects can be brought back; they are paid for as long.",
    )


class ProfileAccess(Model):
    """A Kubeflow profile whose pods read and write their own prefix of the checkpoints, and nothing else of it.

    The profile need not exist yet.
    """

    namespace: Namespace = Field(description="The profile's namespace.", examples=["team-a"])
    service_accounts: tuple[KubernetesServiceAccount, ...] = Field(
        (EDITOR,),
        min_length=1,
        description="Kubernetes service accounts of the namespace whose pods have the identity.",
        examples=[["default-editor", "training"]],
    )
    prefix: str | None = Field(
        None,
        max_length=200,
        pattern=worded(
            r"^[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*$",
            "letters, digits, ., _, - and / between them, no / at the end, such as team-a or vision/team-a",
        ),
        description="What the names of its objects begin with, before a `/`. Default: the namespace. A profile that is renamed "
        "keeps its objects by its old prefix.",
        examples=["team-a"],
    )

    @property
    def path(self) -> str:
        """What the names of its objects begin with. The `/` at the end keeps team-a out of team-ab."""
        return f"{self.prefix or self.namespace}/"

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """The namespace."""
        return {"namespace": text}


class Workloads(Model):
    """Storage for users' work, and the identities of the profiles that reach it."""

    checkpoints: Checkpoints | None = Field(
        None, description="A bucket or blob container for checkpoints. Default: none."
    )
    profiles: tuple[ProfileAccess, ...] = Field(
        (), description="Profiles that reach the checkpoints."
    )
    storage_class: str | None = Field(
        None,
        pattern=worded(
            r"^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$",
            "a StorageClass' name: at most 63 lower-case letters, digits and -, such as durable",
        ),
        description="The name of a StorageClass that the stack makes: its volumes can be attached in more than one zone where the "
        "region has some, and stay when their claims go. Default: only the cloud's own classes.",
        examples=["durable"],
    )
