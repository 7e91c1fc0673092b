"""The nodes' identity: the least rights of a node, and to pull from named repositories."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pulumi
from pulumi_gcp import artifactregistry, projects, serviceaccount

from components import references
from config.clouds.gcp.gcp_settings import Gcp, GcpRegistry

NODE_ROLE = "roles/container.defaultNodeServiceAccount"
"""Logs, metrics and autoscaling, the least that nodes need (page hardening-your-cluster, "Use least
privilege IAM service accounts"; CIS GKE benchmark 2.0.0, 5.2.1)."""

READER_ROLE = "roles/artifactregistry.reader"

_LONGEST = 30
"""Characters of an account's id (docs.cloud.google.com/iam/docs/service-accounts-create)."""


def account_id(cluster: str, location: str, instance: str | None = None) -> str:
    """Return the id of the nodes' account. It contains a hash of the location: names of clusters
    are unique in a place only.

    `instance`: the stack's, if two stacks may each make an account for the cluster.
    """
    whole = "/".join(filter(None, (location, cluster, instance)))
    suffix = f"-{hashlib.sha256(whole.encode()).hexdigest()[:6]}-nodes"
    return cluster[: _LONGEST - len(suffix)].rstrip("-") + suffix


def email(project: str, account: str) -> str:
    """Return the address of a service account, which is known before the account exists.

    A project in a domain, `example.com:lab`, becomes `lab.example.com` (page
    service-account-overview).
    """
    domain, _, plain = project.rpartition(":")
    return f"{account}@{'.'.join(filter(None, (plain, domain)))}.iam.gserviceaccount.com"


def node_account(cloud: Gcp, cluster: str, instance: str | None = None) -> str:
    """Return the address of the nodes' account, new or given."""
    if cloud.service_account:
        return cloud.service_account.text
    return email(cloud.project, account_id(cluster, cloud.place or "", instance))


class NodeIdentity(pulumi.ComponentResource):
    """The nodes' service account with its rights; a new one unless the stack file names one.

    It deliberately grants a named account nothing but the repositories: its owner grants its other
    roles.
    """

    email: pulumi.Output[str]
    access: list[pulumi.Resource]
    """Rights that node pools wait for: nodes without them do not work."""

    def __init__(
        self,
        name: str,
        cloud: Gcp,
        *,
        cluster: str,
        instance: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:gcp:NodeIdentity", name, None, opts)
        self.access = []
        if cloud.service_account:
            self.email = references.output(cloud.service_account)
        else:
            self._account(name, cloud, account_id(cluster, cloud.place or "", instance), cluster)
        self._readers(name, cloud.project, cloud.registries)
        self.register_outputs({"email": self.email})

    def _account(self, name: str, cloud: Gcp, account: str, cluster: str) -> None:
        child, title = pulumi.ResourceOptions(parent=self), f"Nodes of GKE cluster {cluster}"
        declared = serviceaccount.Account(
            f"{name}-nodes",
            project=cloud.project,
            account_id=account,
            display_name=title,
            opts=child,
        )
        self.email = declared.email
        self.access.append(
            projects.IAMMember(
                f"{name}-nodes",
                project=cloud.project,
                role=NODE_ROLE,
                member=self._member,
                opts=child,
            )
        )

    def _readers(self, name: str, project: str, registries: Sequence[GcpRegistry]) -> None:
        for registry in registries:
            owner = registry.project or project
            self.access.append(
                artifactregistry.RepositoryIamMember(
                    f"{name}-{owner}-{registry.location}-{registry.repository}",
                    project=owner,
                    location=registry.location,
                    repository=registry.repository,
                    role=READER_ROLE,
                    member=self._member,
                    opts=pulumi.ResourceOptions(parent=self),
                )
            )

    @property
    def _member(self) -> pulumi.Output[str]:
        return pulumi.Output.concat("serviceAccount:", self.email)
