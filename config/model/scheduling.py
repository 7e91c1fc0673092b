"""The settings of `scheduling`: pods that prefer spot by default, and pods that must never run on it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from config.model.fields import DeviceClass, LabelKey, LabelValue, Model, Namespace
from config.model.release import Image


class Placement(StrEnum):
    """The machines that a pod goes to; also the values of the label `kubeflow-spot.dev/placement` on pods and namespaces."""

    PREFER_SPOT = "prefer-spot"
    """Spot machines while some are available, else the on-demand pools."""
    REQUIRE_SPOT = "require-spot"
    """Spot or nowhere."""
    ON_DEMAND = "on-demand"


class KindDefaults(Model):
    """The placement of one workload kind's pods when neither they nor their namespace have a label."""

    gpu: Placement = Field(
        Placement.PREFER_SPOT, description="The placement of pods that request a GPU."
    )
    cpu: Placement = Field(Placement.ON_DEMAND, description="The placement of other pods.")


class Defaults(Model):
    """Placement by workload kind. Pods of other kinds stay on-demand unless they are labelled."""

    pipeline_step: KindDefaults = Field(
        KindDefaults(),
        description="Steps of Kubeflow Pipelines, and of other workflows of Argo, that are retried.",
    )
    training_worker: KindDefaults = Field(
        KindDefaults(),
        description="Workers of the Training Operator, MPI, Volcano, Ray and Spark, not their leaders.",
    )
    job_set_node: KindDefaults = Field(
        KindDefaults(), description="Nodes of Trainer's TrainJobs, and of other JobSets."
    )
    job: KindDefaults = Field(KindDefaults(), description="Plain Jobs, Katib's trials among them.")
    other: KindDefaults = Field(
        KindDefaults(gpu=Placement.ON_DEMAND),
        description="Pods that end by themselves and that, as far as can be seen, nobody starts again when their node is lost.",
    )


class GuardRule(StrEnum):
    """Rules of the guard that an exception can lift."""

    TOLERATES_SPOT = "tolerates-spot"
    REQUIRES_SPOT = "requires-spot"
    TOLERATES_GPU = "tolerates-gpu"
    NODE_NAME = "node-name"
    PRIORITY = "priority"
    SYSTEM_POOL = "system-pool"
    OTHER_NAMESPACES = "other-namespaces"


LIFTED = (GuardRule.TOLERATES_SPOT, GuardRule.REQUIRES_SPOT, GuardRule.TOLERATES_GPU)
"""Rules that an exception lifts by default: those that concern the pod itself. A pod that breaks another harms pods of others, or
passes the scheduler and every taint (docs/adr/0021)."""


class GuardException(Model):
    """Pods for which rules of the guard are lifted."""

    namespace: Namespace = Field(description="The pods' namespace.", examples=["team-a"])
    selector: dict[LabelKey, LabelValue] = Field(
        min_length=1,
        description="Labels that the pods must all have.",
        examples=[{"app": "batch-scorer"}],
    )
    reason: str = Field(
        min_length=8,
        description="Why the pods may run on machines that the cloud takes back.",
        examples=["stateless, and restarts in a second"],
    )
    rules: tuple[GuardRule, ...] = Field(
        LIFTED,
        min_length=1,
        description="The rules that are lifted. Those that are not in the default are lifted only where they are written: they "
        "protect pods of others.",
        examples=[["tolerates-spot"]],
    )


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
    """The guard: a policy that keeps pods which must not be evicted off spot."""

    mode: Literal["enforce", "warn", "audit"] = Field(
        "enforce",
        description="What happens to such a pod: `enforce` refuses it, `warn` warns its client, `audit` only logs it.",
    )
    platform_namespaces: tuple[Namespace, ...] = Field(
        PLATFORM_NAMESPACES,
        description="Namespaces whose pods never run on spot. Namespaces of Kubeflow profiles are known by their label. A list "
        "here takes the default's place: to guard more namespaces write `additionalPlatformNamespaces`.",
        examples=[["kubeflow", "istio-system"]],
    )
    additional_platform_namespaces: tuple[Namespace, ...] = Field(
        (),
        description="Further namespaces whose pods never run on spot, beside `platformNamespaces`.",
        examples=[["monitoring"]],
    )
    pipeline_namespaces: tuple[Namespace, ...] = Field(
        (),
        description="Platform namespaces in which Kubeflow Pipelines runs its steps, as in a single-user install. Steps that end "
        "by themselves may use spot there, and get the defaults of `scheduling.defaults`.",
        examples=[["kubeflow"]],
    )
    device_classes: tuple[DeviceClass, ...] = Field(
        (),
        description="Device classes of this cluster's GPUs, where a driver of dynamic resource allocation offers them. A pod with "
        "a claim may then tolerate the GPU taint, and quotas count these classes.",
        examples=[["gpu.nvidia.com"]],
    )
    exceptions: tuple[GuardException, ...] = Field(
        (), description="Pods for which rules of the guard are lifted."
    )

    @property
    def guarded_namespaces(self) -> tuple[str, ...]:
        """The namespaces of both lists, each once."""
        return tuple(
            dict.fromkeys((*self.platform_namespaces, *self.additional_platform_namespaces))
        )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """The mode."""
        return {"mode": text}


class Contract(Model):
    """The ConfigMap in kube-public that tells users' tools about the pools."""

    readers: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (),
        description="Groups of users that may read the ConfigMap, beside all service accounts.",
        examples=[["data-scientists"]],
    )


class Profile(Model):
    """A Kubeflow profile, which exists already."""

    namespace: Namespace = Field(description="The profile's namespace.", examples=["team-a"])
    gpus: int | None = Field(
        None,
        ge=0,
        description="Most GPUs that the profile's pods may request together. Default: no limit.",
        examples=[4],
    )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """The namespace."""
        return {"namespace": text}


class BackToSpot(Model):
    """The descheduler, which evicts pods labelled `kubeflow-spot.dev/back-to-spot: "true"` from on-demand nodes when a spot
    node has room for them, each at most once an hour."""

    image: Image = Field(
        description="The descheduler's image by tag and digest; v0.36.0 is the version that was tried. No release pins it.",
        examples=[f"registry.example.com/descheduler:v0.36.0@sha256:{'0123456789abcdef' * 4}"],
    )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """The image."""
        return {"image": text}


class Scheduling(Model):
    """Placement by default, and the guard."""

    enabled: bool = Field(
        True, description="Whether the stack puts policies, contract and quotas into the cluster."
    )
    defaults: Defaults = Field(Defaults(), description="Placement by workload kind.")
    grace_period_seconds: int | None = Field(
        None,
        ge=1,
        description="Seconds to end, for pods that may run on spot and kept Kubernetes' default of 30. Default: the notice that "
        "the cloud leaves to pods.",
        examples=[25],
    )
    profile_labels: dict[LabelKey, LabelValue] = Field(
        {},
        description="Labels of the profiles' namespaces that this stack places and guards, beside Kubeflow's own. Two stacks in "
        "one cluster have different values, and each has profiles of its own. Default: all profiles.",
        examples=[{"example.com/team": "vision"}],
    )
    guard: Guard = Field(
        Guard(), description="The policy that keeps pods which must not be evicted off spot."
    )
    contract: Contract = Field(
        Contract(), description="The ConfigMap that tells users' tools about the pools."
    )
    profiles: tuple[Profile, ...] = Field(
        (), description="Kubeflow profiles that get quotas or a PodDefault."
    )
    back_to_spot: BackToSpot | None = Field(
        None,
        description="Moves pods that ask for it back to spot. Default: pods stay where they run.",
    )
