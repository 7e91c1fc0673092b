"""The settings of the cluster, and of what the stack puts into it beside pools and scheduling."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, SecretStr, StringConstraints

from config.model.fields import Duration, Model, Namespace, worded
from config.model.release import KubernetesVersion


class CloudSettings(Model):
    """Settings that all clouds share."""

    provider: str = Field(description="The cloud.")

    @property
    def existing_name(self) -> str | None:
        """The name of the existing cluster that the stack adds to; None for a cluster that this stack makes."""
        return None

    @property
    def place(self) -> str | None:
        """The region or zone of the cluster; None where the stack file does not say."""
        return None

    @property
    def zone_count(self) -> int:
        """The zones of a pool that names none."""
        return 1


_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")


def is_production(stack: str) -> bool:
    """Whether a name is a production stack's: prod or production, perhaps with a suffix, such as prod-eu."""
    return _PRODUCTION.fullmatch(stack) is not None


class Cluster(Model):
    """The cluster's name, tags and protection."""

    name: str | None = Field(
        None,
        description="The name of the cluster that the stack makes; required for one. An existing cluster's name stands in "
        "`cloud`.",
        examples=["ml-dev"],
    )
    tags: dict[str, str] = Field(
        {},
        description="Tags (on Google Cloud: labels) of the cloud's resources.",
        examples=[{"environment": "dev"}],
    )
    protect: bool | None = Field(
        None,
        description="Whether deleting or replacing the cluster is refused. Default: true in a stack called prod, production, "
        "prod-eu or the like.",
    )
    removed_pools: tuple[str, ...] = Field(
        (),
        description="Pools, by their names in the cloud, that may go with what runs on them: without, removing or renaming an "
        "on-demand pool in use is refused. Remove the line after the update.",
        examples=[["t4od"]],
    )
    kubernetes_version: KubernetesVersion | None = Field(
        None,
        description="The Kubernetes version, in quotes. Default: the release's.",
        examples=["1.35"],
    )
    reason: str | None = Field(
        None,
        min_length=8,
        description="Why kubernetesVersion differs from the release's; required with it.",
        examples=["our Istio is tested up to 1.35"],
    )


_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(duration: str) -> int:
    """The seconds of a `Duration`."""
    return int(duration[:-1]) * _UNITS[duration[-1]]


class ExpanderTier(Model):
    """Existing node groups in the autoscaler's order of preference."""

    priority: int = Field(
        ge=1,
        description="The highest number grows first; the program's own numbers are multiples of 10.",
        examples=[15],
    )
    groups: tuple[Annotated[str, StringConstraints(max_length=1000)], ...] = Field(
        min_length=1,
        description="Regular expressions (RE2) of node group names.",
        examples=[["^aks-spotpool-[0-9]+-vmss$"]],
    )


class ExpanderOptions(Model):
    """The ConfigMap of the cluster autoscaler's priority expander, of which a cluster has one."""

    take_ownership: bool = Field(
        False, description="Whether the stack replaces the ConfigMap of an existing cluster."
    )
    other_groups: tuple[ExpanderTier, ...] = Field(
        (), description="Further lines to keep in the ConfigMap."
    )


class Growth(Model):
    """The order in which the autoscaler grows pools, and the wait that a team accepts for it."""

    order: tuple[str, ...] = Field(
        (),
        description="Names of pools in the order in which they are tried: a chain by its first pool, and on-demand pools. The "
        "others come after them, smaller machines first. An order that names further steps of a chain or twins, such as `t4od`, "
        "names GPU pools one by one, and what stands in it is no more ordered by its price.",
        examples=[["t4", "a100"]],
    )
    accepted_wait: Duration = Field(
        "15m",
        description="The longest that a pod may wait for the last step of its chain before the program warns of the settings that "
        "make it wait; from `24h` on, pods may wait until spot is back. Nothing in the cluster depends on it.",
        examples=["30m"],
    )


class GpuSharing(Model):
    """Sharing of a pool's GPUs by NVIDIA's device plugin: each GPU counts as several nvidia.com/gpu.

    https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
    """

    strategy: Literal["time-slicing", "mps"] = Field(
        description="`time-slicing`: pods take turns, with no limit on memory; `mps`: each pod gets its share of memory and "
        "cores."
    )
    replicas: int = Field(
        ge=2, description="Pods that a GPU, or a MIG instance, takes at a time.", examples=[4]
    )


class DevicePluginOptions(Model):
    """NVIDIA's device plugin."""

    install: Literal["auto", "never"] = Field(
        "auto",
        description="`auto`: on every GPU pool that no other device plugin in the cluster reaches; `never`: nowhere.",
    )


class DcgmExporter(Model):
    """NVIDIA's exporter of GPU metrics for Prometheus, on port 9400."""

    enabled: bool = Field(description="Whether the exporter runs on GPU nodes.")


class ImagePullSecret(Model):
    """A Secret of type kubernetes.io/dockerconfigjson, for registries that a node's identity cannot pull from."""

    name: str = Field(
        pattern=worded(
            r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$",
            "lower-case letters, digits, - and ., first and last a letter or digit, such as acr-auth",
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
    namespaces: tuple[Namespace, ...] = Field(
        ("default",),
        min_length=1,
        description="Existing namespaces that get the Secret.",
        examples=[["team-a"]],
    )


class Queueing(Model):
    """Queues of Kueue, which the cluster's owner installs: the output `queueing` is what `kubectl apply` gives it."""

    enabled: bool = Field(False, description="Whether the stack has the output `queueing`.")
    namespaces: tuple[Namespace, ...] = Field(
        (),
        description="Namespaces that get a LocalQueue, and whose work alone is taken. Default: none gets one, and the work of "
        "every namespace is taken in which somebody makes one.",
        examples=[["team-a", "vision"]],
    )
