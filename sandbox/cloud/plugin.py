"""One emulated cloud as the rest of the sandbox sees it: its folder has a module `plugin` with a `PLUGIN`."""

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.cloud.cluster_runtime import ClusterRuntime
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.provider import CloudProvider
from sandbox.cloud.quotas import Quotas
from sandbox.cloud.spot_nodes import SpotFacts

Object = dict[str, Any]


@dataclass(frozen=True)
class Driver:
    """A storage driver. A disk is reachable from its zone alone; nodes have their zone in the label `zone`."""

    name: str
    zone: str = ""
    """Empty for a file share, which any node and any number of nodes may mount."""


def _nothing(*arguments: Any) -> None:
    pass


@dataclass(frozen=True)
class Plugin:
    """The facts and hooks of one cloud. Functions that raise `Refused` do so for a type that is not emulated."""

    name: str
    """The name of the cloud's folder."""
    package: str
    """The Pulumi package whose types it has, such as `azure-native`."""
    state_file: str
    """The cloud's memory, in the home's folder for clouds."""
    quotas: type[Quotas]
    open: Callable[[Path, ClusterRuntime, Any], EmulatedCloud]
    """The cloud of a state file, a runtime and quotas."""
    provider: Callable[[Any], CloudProvider]
    """A provider over an opened cloud."""
    id_of: Callable[[str, dict[str, Any]], str]
    """The id of a resource of a type, made with the inputs of a cloud file. Raises `Refused`."""
    naming: Callable[[str], list[str]]
    """The inputs that name a resource of a type. Raises `Refused`."""
    objects: Callable[[str], Iterable[Object]]
    """The Kubernetes objects that the cloud brings to a cluster of a version."""
    admission: tuple[str, ...]
    """The admission plugins that the cloud enables beyond Kubernetes' defaults."""
    drivers: Mapping[str, Driver]
    """Its storage drivers, by the provisioner that a StorageClass names."""
    spot: SpotFacts
    """What it does with spot machines."""
    provisioned_spot: SpotFacts | None = None
    """What it does with spot machines of its node auto-provisioning, where it has one."""
    manager: str = "addon-manager"
    """The field manager of its objects."""
    compute_classes: bool = False
    """Whether ComputeClasses choose the pool to scale up, instead of the autoscaler's expander."""
    autoscaler_status: bool = False
    """Whether its autoscaler writes its status into the cluster."""
    serve: Callable[..., None] = _nothing
    """Answer the requests of a cluster's node provisioner on a unix socket, from the cloud that is opened for each; with a third
    argument as if there were only these machine sizes."""
    trust: Callable[[Path], None] = _nothing
    """Let clients trust the clusters below a folder, where they do not by their kubeconfigs."""
    furnish: Callable[[Path, Path, MutableMapping[str, str]], None] = _nothing
    """Put the cloud's client programs into a folder, and that into an environment, for the clusters below another folder."""
