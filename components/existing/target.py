"""Any Kubernetes cluster as the target of a stack: known by its kubeconfig alone; nothing is declared outside it."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.existing import credentials
from components.target import ExistingCluster, Outputs, Stack, Target
from config.clouds.existing.settings import Existing


def target(stack: Stack, opts: pulumi.ResourceOptions | None) -> Target:
    """The cluster of this stack file. Raises `pulumi.RunError` without a kubeconfig."""
    assert isinstance(stack.spec.cloud, Existing)
    kubeconfig = credentials.kubeconfig(stack.spec.cloud)
    credentials.warn_of_secrets(kubeconfig)
    return ExistingCluster(
        declare=lambda name, child: Reached.by(stack.spec.name, kubeconfig),
        node_labels=lambda pool: {},
        not_by_priority=(
            "how the cluster's autoscaler chooses is not known; this program knows no node groups of a cluster of this kind"
        ),
        key=credentials.KEY,
        kubeconfig=kubeconfig,
    )


@dataclass(frozen=True)
class Reached:
    """A cluster in which this stack has no resource of a cloud."""

    outputs: Outputs
    kubeconfig: pulumi.Output[str]
    new_cluster = None
    workloads = None

    @classmethod
    def by(cls, name: str, kubeconfig: str) -> Reached:
        """The cluster with this kubeconfig."""
        command = "pulumi stack output kubeconfig --show-secrets"
        return cls({"clusterName": name, "kubeconfigCommand": command}, pulumi.Output.secret(kubeconfig))
