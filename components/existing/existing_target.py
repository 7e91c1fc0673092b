"""Any Kubernetes cluster as the target of a stack, known by its kubeconfig alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components import refusal
from components.existing import existing_credentials
from components.last_update import NAME
from components.target import Outputs, Stack, Target
from config.base.problems import Problem
from config.clouds.existing.existing_settings import Existing
from config.placement.node_pools import NodePool


class AnyCluster(Target):
    """The cluster of a stack file that names a kubeconfig: `AnyCluster(stack, opts)`."""

    key = existing_credentials.KEY
    not_by_priority = (
        "how the cluster's autoscaler chooses is not known; this program knows no node groups of "
        "a cluster "
        "of this kind"
    )

    def __init__(self, stack: Stack, opts: pulumi.ResourceOptions | None) -> None:
        assert isinstance(stack.spec.cloud, Existing)
        self._name, self._cloud, self._last_update = (
            stack.spec.name,
            stack.spec.cloud,
            stack.last_update,
        )

    def read_cluster(self) -> None:
        """Read the kubeconfig. Raise `pulumi.RunError` if the cluster's name has changed."""
        before = self._last_update.get(NAME)
        if before not in (None, self._name):
            what = f"is {before} and cannot become {self._name}: all objects would be duplicated"
            remedy = "put it back; or `pulumi destroy`, then `pulumi up`"
            refusal.refuse_settings([Problem("cloud.name", what, remedy)])
        self.kubeconfig = existing_credentials.kubeconfig(self._cloud)
        existing_credentials.warn_of_secrets(self.kubeconfig)

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> Reached:
        """Return the cluster: the stack has nothing in a cloud."""
        command = "pulumi stack output kubeconfig --show-secrets"
        outputs: Outputs = {"clusterName": self._name, "kubeconfigCommand": command}
        return Reached(outputs, pulumi.Output.secret(self.kubeconfig or ""))

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """Return no labels: the cluster's own are unknown."""
        return {}


@dataclass(frozen=True)
class Reached:
    """A cluster in which this stack has no resource of a cloud."""

    outputs: Outputs
    kubeconfig: pulumi.Output[str]
    new_cluster = None
    pool_objects = ()
    workloads = None
