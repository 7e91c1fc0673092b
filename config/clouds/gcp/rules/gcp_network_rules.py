"""Checks of the network around the cluster: new or existing, and the way out."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.rules.draft import Draft
from config.rules.network_rules import PATH, not_of_existing


def _existing(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network = gcp.network
    if network.existing:
        yield from not_of_existing(
            network, "node_subnet", "pod_cidr", "service_cidr", "flow_log_sampling"
        )


def _two_ranges(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    existing = gcp.network.existing
    # Page alias-ips: pods and Services have a range each.
    if existing and existing.pod_range == existing.service_range:
        yield Problem(
            f"{PATH}.existing.serviceRange",
            "is podRange as well",
            "name another range of the subnet",
        )


def _way_out(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network = gcp.network
    if "outbound_type" not in network.model_fields_set:
        return
    if not network.private_nodes:
        yield Problem(
            f"{PATH}.outboundType",
            f"is {network.outbound_type}, but privateNodes is false: such nodes reach the internet by their own addresses",
            "remove it, or `privateNodes: false`",
        )
    elif network.existing and network.outbound_type == "cloudNat":
        yield Problem(
            f"{PATH}.outboundType",
            "is cloudNat for a network this stack does not make",
            "remove it: the network's owner decides this; or remove `existing` for a network that the stack makes",
        )
    elif network.outbound_type == "none" and not network.existing:
        yield Problem(
            f"{PATH}.outboundType",
            "is none: private nodes pull no image from outside Google, and pods reach no address outside Google",
            "write cloudNat, or leave it out; else keep images in Artifact Registry",
            warning=True,
        )


def _nat_name(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network, name = gcp.network, draft.cluster.name if draft.cluster else None
    makes_nat = (
        network.private_nodes and not network.existing and network.outbound_type == "cloudNat"
    )
    if makes_nat and name is not None and len(name) == 1:
        # terraform-provider-google, compute_router_nat: a name has 2 to 63 characters.
        yield Problem(
            "cluster.name",
            f"{name!r} is too short: Cloud NAT is called the same",
            "at least two characters",
        )


WEBHOOKS = "4443,8443,9443,15017"
"""Ports at which the pods of Kubeflow 26.03 answer webhooks: PodDefaults', Katib's and Knative's, KServe's and Trainer's, Istio's.
Their Services say 443. cert-manager's has 10250, which GKE lets through."""


def _control_plane(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network = gcp.network
    if network.control_plane_cidr and not network.private_nodes:
        # pulumi-gcp, `masterIpv4CidrBlock`: only with private nodes
        yield Problem(
            f"{PATH}.controlPlaneCidr", "has no use: privateNodes is false", "remove one of them"
        )
    elif network.control_plane_cidr:
        existing = network.existing
        host = (existing.project if existing else None) or gcp.project
        name = (
            existing.name.text
            if existing
            else (draft.cluster.name if draft.cluster else None) or "NETWORK"
        )
        # Page private-clusters, "Adding firewall rules for specific use cases"; kubernetes/kubernetes issue 79739.
        yield Problem(
            f"{PATH}.controlPlaneCidr",
            "is where the API server calls webhooks from, and GKE lets it reach nodes on ports 443 and 10250 only",
            f"gcloud compute firewall-rules create {name}-webhooks --project {host} --network {name} --direction INGRESS"
            f" --source-ranges {network.control_plane_cidr} --allow tcp:{WEBHOOKS}   or leave it out of a new cluster",
            warning=True,
        )


NEW_CLUSTER_RULES = (_existing, _two_ranges, _way_out, _nat_name, _control_plane)
