"""The settings of `scheduling`: who prefers spot by default, and who may never land there."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from config.model.fields import LabelKey, LabelValue, Model, Namespace


class Placement(StrEnum):
    """Where a pod goes; also the values of the label `kubeflow-spot.dev/placement` on pods and namespaces."""

    PREFER_SPOT = "prefer-spot"
    """Spot where there is any, else the on-demand pools."""
    REQUIRE_SPOT = "require-spot"
    """Spot or nowhere."""
    ON_DEMAND = "on-demand"


class KindDefaults(Model):
    """Where pods of one kind go when neither they nor their namespace say."""

    gpu: Placement = Field(Placement.PREFER_SPOT, description="pods that ask for a GPU")
    cpu: Placement = Field(Placement.ON_DEMAND, description="the others")


class Defaults(Model):
    """By kind of workload. Whatever is none of these stays on-demand unless its pod is labelled."""

    pipeline_step: KindDefaults = Field(KindDefaults(), description="Kubeflow Pipelines: what a user's step runs")
    training_worker: KindDefaults = Field(KindDefaults(), description="Training Operator: workers, not their leaders")
    job_set_node: KindDefaults = Field(KindDefaults(), description="Trainer: the nodes of a TrainJob")
    job: KindDefaults = Field(KindDefaults(), description="plain Jobs, Katib's trials among them")


class GuardException(Model):
    """Pods that the guard lets pass."""

    namespace: Namespace
    selector: dict[LabelKey, LabelValue] = Field(min_length=1, description="labels of the pods, all of them")
    reason: str = Field(min_length=8, description="why they may run on machines that vanish")


PLATFORM_NAMESPACES = (
    "auth",
    "cert-manager",
    "istio-system",
    "knative-serving",
    "kubeflow",
    "kubeflow-system",
    "oauth2-proxy",
)
"""kubeflow/manifests 26.03, example/kustomization.yaml; kube-system is the cloud's."""


class Guard(Model):
    """Keeps off spot what must not vanish."""

    mode: Literal["enforce", "warn", "audit"] = Field("enforce", description="refuse, tell the user, or only log")
    platform_namespaces: tuple[Namespace, ...] = Field(
        PLATFORM_NAMESPACES, description="whose pods never run on spot; profile namespaces are known by their label"
    )
    exceptions: tuple[GuardException, ...] = ()


class Contract(Model):
    """The ConfigMap in kube-public that tells users' tools about the pools."""

    readers: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (), description="groups of users that may read it, beside all service accounts"
    )


class Profile(Model):
    """A Kubeflow profile's namespace, which exists already."""

    namespace: Namespace
    gpus: int | None = Field(None, ge=0, description="most GPUs its pods may ask for together; default: no limit")


class Scheduling(Model):
    """Placement by default, and the guard."""

    enabled: bool = Field(True, description="false: no policy, no contract, no quota in the cluster")
    defaults: Defaults = Defaults()
    grace_period_seconds: int | None = Field(
        None, ge=1, description="for pods that may run on spot and kept Kubernetes' default of 30; default: the cloud's"
    )
    guard: Guard = Guard()
    contract: Contract = Contract()
    profiles: tuple[Profile, ...] = Field((), description="namespaces that get a quota or a PodDefault")
