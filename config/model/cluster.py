"""The settings of the cluster, and of what the stack puts into it beside pools and scheduling."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field, SecretStr, StringConstraints

from config.model.fields import Duration, Model, Namespace, optional, worded
from config.model.release import KubernetesVersion


class CloudSettings(Model):
    """Settings that all clouds share."""

    provider: str = Field(description="The cloud.")

    @property
    def existing_name(self) -> str | None:
        """The name of the existing cluster that the stack adds to; None for a new cluster."""
        return None

    @property
    def place(self) -> str | None:
        """The region or zone of the cluster; None where the stack file does not say."""
        return None

    @property
    def zone_count(self) -> int:
        """The zones of a pool that names none."""
        return 1

    @property
    def autoscaled(self) -> bool:
        """Whether the cluster autoscaler grows the pools; else Karpenter does, which makes nodes
        for waiting pods alone, and moves running pods to cheaper ones."""
        return True


_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")


def is_production(stack: str) -> bool:
    """Return whether a stack is called prod or production, with a suffix or without."""
    return _PRODUCTION.fullmatch(stack) is not None


class Cluster(Model):
    """The cluster's name, tags and protection."""

    name: str | None = optional(
        None, "The name of the cluster that the stack makes; required for one.", "ml-dev"
    )
    tags: dict[str, str] = optional(
        {}, "Tags (on Google Cloud: labels) of the cloud's resources.", {"environment": "dev"}
    )
    protect: bool | None = optional(
        None,
        "Whether deleting or replacing the cluster is refused. Default: true in a stack called "
        "prod, production, prod-eu or the like.",
    )
    removed_pools: tuple[str, ...] = optional(
        (),
        "Pools in use, by their names in the cloud, that may be removed or renamed; without it "
        "that is refused for on-demand pools. Remove the line after the update.",
        ["t4od"],
    )
    kubernetes_version: KubernetesVersion | None = optional(
        None, "The Kubernetes version, in quotes. Default: the release's.", "1.35"
    )
    reason: str | None = optional(
        None,
        "Why kubernetesVersion differs from the release's; required with it.",
        "our Istio is tested up to 1.35",
        min_length=8,
    )


_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(duration: str) -> int:
    """Return the seconds of a `Duration`."""
    return int(duration[:-1]) * _UNITS[duration[-1]]


class ExpanderTier(Model):
    """Existing node groups in the autoscaler's order of preference."""

    priority: int = Field(
        ge=1,
        description="The highest number grows first; the program's numbers are multiples of 10.",
        examples=[15],
    )
    groups: tuple[Annotated[str, StringConstraints(max_length=1000)], ...] = Field(
        min_length=1,
        description="Regular expressions (RE2) of node group names.",
        examples=[["^aks-spotpool-[0-9]+-vmss$"]],
    )


class ExpanderOptions(Model):
    """The ConfigMap of the cluster autoscaler's priority expander, of which a cluster has one."""

    take_ownership: bool = optional(
        False, "Whether the stack replaces the ConfigMap of an existing cluster."
    )
    other_groups: tuple[ExpanderTier, ...] = optional((), "Further lines to keep in the ConfigMap.")


class Growth(Model):
    """The order in which the autoscaler grows pools, and the wait that a team accepts for it."""

    order: tuple[str, ...] = optional(
        (),
        "Pools in the order in which they are tried: chains by their first pool, and on-demand "
        "pools. The others follow, smaller first. An order that names further steps of a chain "
        "or twins, such as `t4od`, lists GPU pools one by one and overrides the order by price.",
        ["t4", "a100"],
    )
    accepted_wait: Duration = optional(
        "15m",
        "The longest accepted wait for the last step of a chain; above it the program warns. From "
        "`24h` on pods may wait until spot is back. Changes nothing in the cluster.",
        "30m",
    )


class GpuSharing(Model):
    """Sharing of a pool's GPUs by NVIDIA's device plugin: each GPU counts as several
    nvidia.com/gpu.

    https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
    """

    strategy: Literal["time-slicing", "mps"] = Field(
        description="`time-slicing`: pods take turns, without a limit on memory; `mps`: each pod "
        "gets its share of memory and cores.",
    )
    replicas: int = Field(
        ge=2, description="Pods at a time on one GPU or MIG instance.", examples=[4]
    )


class DevicePluginOptions(Model):
    """NVIDIA's device plugin."""

    off: ClassVar[str] = "{install: never}"

    install: Literal["auto", "never"] = optional(
        "auto",
        "`auto`: on GPU pools without another device plugin; `never`: nowhere.",
    )


class DcgmExporter(Model):
    """NVIDIA's exporter of GPU metrics for Prometheus, on port 9400."""

    enabled: bool = Field(description="Whether the exporter runs on GPU nodes.")


class ImagePullSecret(Model):
    """A Secret of type kubernetes.io/dockerconfigjson, for other registries than the nodes'."""

    lacking: ClassVar[str] = (
        "the entry makes the Secret. For one that exists remove the entry: pods name it themselves"
    )

    name: str = Field(
        pattern=worded(
            r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$",
            "lower-case letters, digits, - and ., such as acr-auth; no - or . first or last",
        ),
        description="The Secret's name.",
        examples=["acr-auth"],
    )
    server: str = Field(
        min_length=1,
        max_length=1000,
        description="The registry's host.",
        examples=["example.azurecr.io"],
    )
    username: str = Field(min_length=1, description="The login's name.", examples=["puller"])
    password: SecretStr = Field(
        min_length=1,
        description="The login's password; set it with `pulumi config set --secret --path`.",
    )
    namespaces: tuple[Namespace, ...] = optional(
        ("default",), "Existing namespaces that get the Secret.", ["team-a"], min_length=1
    )


class Queueing(Model):
    """Queues of Kueue, which the owner installs; `kubectl apply` takes the output `queueing`."""

    enabled: bool = optional(False, "Whether the stack has the output `queueing`.")
    namespaces: tuple[Namespace, ...] = optional(
        (),
        "Namespaces that get a LocalQueue; only their work is admitted. Default: none; any "
        "namespace with a LocalQueue is.",
        ["team-a", "vision"],
    )
