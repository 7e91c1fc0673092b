"""The settings of `scheduling`: placement of pods by default, and the guard."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from config.model.fields import DeviceClass, LabelKey, LabelValue, Model, Namespace, optional
from config.model.release import Image


class Placement(StrEnum):
    """The machines that a pod goes to; values of the label `kubeflow-spot.dev/placement`."""

    PREFER_SPOT = "prefer-spot"
    """Spot machines while some are available, else the on-demand pools."""
    REQUIRE_SPOT = "require-spot"
    """Spot or nowhere."""
    ON_DEMAND = "on-demand"


class KindDefaults(Model):
    """The placement of a workload kind's pods if neither they nor their namespace have a label."""

    off: ClassVar[str] = "{gpu: on-demand, cpu: on-demand}"

    gpu: Placement = optional(Placement.PREFER_SPOT, "The placement of pods that request a GPU.")
    cpu: Placement = optional(Placement.ON_DEMAND, "The placement of other pods.")

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read the placement of all pods."""
        return {"gpu": text, "cpu": text} if text in [*Placement] else None


class Defaults(Model):
    """Placement by workload kind. Pods of other kinds stay on-demand unless they are labelled."""

    absent: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("katibTrial", "trial", "experiment"),
        "remove it: Katib's trials are what they create: `job`, or `trainingWorker` for a PyTorchJob",
    )

    pipeline_step: KindDefaults = optional(
        KindDefaults(), "Steps of Kubeflow Pipelines and other Argo workflows that are retried."
    )
    training_worker: KindDefaults = optional(
        KindDefaults(),
        "Workers, not leaders, of the Training Operator, MPI, Volcano, Ray and Spark.",
    )
    job_set_node: KindDefaults = optional(
        KindDefaults(), "Nodes of Trainer's TrainJobs and other JobSets."
    )
    job: KindDefaults = optional(KindDefaults(), "Plain Jobs, Katib's trials among them.")
    other: KindDefaults = optional(
        KindDefaults(gpu=Placement.ON_DEMAND),
        "Pods that end by themselves and that no known controller restarts after a lost node.",
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
"""Rules that an exception lifts by default: those that concern the pod itself. A pod that breaks
another harms other pods, or passes the scheduler and every taint (docs/adr/0021)."""


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
        description="Why the pods may run on machines that can be evicted.",
        examples=["stateless, and restarts in a second"],
    )
    rules: tuple[GuardRule, ...] = optional(
        LIFTED,
        "The rules to lift. Rules beyond the default protect other pods; they are lifted only "
        "where they are named.",
        ["tolerates-spot"],
        min_length=1,
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

    mode: Literal["enforce", "warn", "audit"] = optional(
        "enforce",
        "What happens to such a pod: `enforce` refuses it, `warn` warns its client, `audit` logs "
        "it.",
    )
    platform_namespaces: tuple[Namespace, ...] = optional(
        PLATFORM_NAMESPACES,
        "Namespaces whose pods never run on spot; namespaces of Kubeflow profiles are known by "
        "their label. `additionalPlatformNamespaces` adds to it.",
        ["kubeflow", "istio-system"],
    )
    additional_platform_namespaces: tuple[Namespace, ...] = optional(
        (), "Further namespaces whose pods never run on spot.", ["monitoring"]
    )
    pipeline_namespaces: tuple[Namespace, ...] = optional(
        (),
        "Platform namespaces with steps of Kubeflow Pipelines, as in a single-user install: steps "
        "may use spot there, and get `scheduling.defaults`.",
        ["kubeflow"],
    )
    device_classes: tuple[DeviceClass, ...] = optional(
        (),
        "Device classes of this cluster's GPUs, in dynamic resource allocation: a pod with such a "
        "claim may tolerate the GPU taint, and quotas count them.",
        ["gpu.nvidia.com"],
    )
    exceptions: tuple[GuardException, ...] = optional(
        (), "Pods for which rules of the guard are lifted."
    )

    @property
    def guarded_namespaces(self) -> tuple[str, ...]:
        """The namespaces of both lists, each once."""
        return tuple(
            dict.fromkeys((*self.platform_namespaces, *self.additional_platform_namespaces))
        )

    off: ClassVar[str] = "{mode: audit}"

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read the mode."""
        return {"mode": text}


class Contract(Model):
    """The ConfigMap in kube-public that tells users' tools about the pools."""

    readers: tuple[Annotated[str, Field(min_length=1)], ...] = optional(
        (),
        "Groups of users that may read the ConfigMap, beside all service accounts.",
        ["data-scientists"],
    )


class Profile(Model):
    """A Kubeflow profile, which exists already."""

    namespace: Namespace = Field(description="The profile's namespace.", examples=["team-a"])
    gpus: int | None = optional(
        None, "Most GPUs that the profile's pods may request together. Default: no limit.", 4, ge=0
    )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read the namespace."""
        return {"namespace": text}


class BackToSpot(Model):
    """The descheduler, which evicts pods labelled `kubeflow-spot.dev/back-to-spot: "true"` from
    on-demand nodes when a spot node has room, each at most once an hour.
    """

    image: Image = Field(
        description="The descheduler's image by tag and digest; unpinned, v0.36.0 was tried.",
        examples=[f"registry.example.com/descheduler:v0.36.0@sha256:{'0123456789abcdef' * 4}"],
    )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read the image."""
        return {"image": text}


class Scheduling(Model):
    """Placement by default, and the guard."""

    enabled: bool = optional(
        True, "Whether the stack puts policies, contract and quotas into the cluster."
    )
    defaults: Defaults = optional(Defaults(), "Placement by workload kind.")
    grace_period_seconds: int | None = optional(
        None,
        "Seconds to end, for pods that may run on spot and have Kubernetes' default of 30. "
        "Default: the notice that the cloud leaves to pods.",
        25,
        ge=1,
    )
    profile_labels: dict[LabelKey, LabelValue] = optional(
        {},
        "Labels of the profiles' namespaces that this stack places and guards, beside Kubeflow's "
        "own. Two stacks in one cluster need different values and profiles. Default: all profiles.",
        {"example.com/team": "vision"},
    )
    guard: Guard = optional(
        Guard(), "The policy that keeps pods which must not be evicted off spot."
    )
    contract: Contract = optional(
        Contract(), "The ConfigMap that tells users' tools about the pools."
    )
    profiles: tuple[Profile, ...] = optional(
        (), "Kubeflow profiles that get quotas or a PodDefault."
    )
    back_to_spot: BackToSpot | None = optional(
        None, "Moves pods that ask for it back to spot. Default: pods stay where they run."
    )
