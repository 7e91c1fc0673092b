"""Rules of the network: new or existing, outbound traffic, address ranges and their room."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp, GcpNetwork
from config.clouds.traits import Cloud
from config.model.fields import Unreadable
from config.model.pool import AnyPool
from config.model.reading import known, of_each
from config.rules.draft import Draft, most_with_twin
from config.rules.network_rules import (
    PATH,
    free_range,
    larger,
    no_overlap,
    readable_ranges,
    refuse_beside_existing,
    refuse_non_ranges,
)


def _existing(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network = gcp.network
    if network.existing:
        yield from refuse_beside_existing(
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
    if not known(lambda: network.private_nodes, True):
        yield Problem(
            f"{PATH}.outboundType",
            "is set, but privateNodes is false: such nodes have own addresses",
            "remove it, or write `privateNodes: true`",
        )
    elif network.existing and network.outbound_type == "cloudNat":
        yield Problem(
            f"{PATH}.outboundType",
            "is cloudNat for a network this stack does not make",
            "remove it: the network's owner decides this; or remove `existing`",
        )
    elif network.outbound_type == "none" and not network.existing:
        yield Problem(
            f"{PATH}.outboundType",
            "is none: private nodes and pods reach no image or address outside Google",
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
"""Webhook ports of the pods of Kubeflow 26.03: PodDefaults', Katib's and Knative's, KServe's and
Trainer's, Istio's. Their Services say 443. GKE lets cert-manager's 10250 through."""


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
        # Page private-clusters, "Adding firewall rules for specific use cases";
        # kubernetes/kubernetes issue 79739.
        yield Problem(
            f"{PATH}.controlPlaneCidr",
            "is where webhooks are called from; GKE opens only ports 443 and 10250 to it",
            f"gcloud compute firewall-rules create {name}-webhooks --project {host} --network "
            f"{name} --direction INGRESS --source-ranges {network.control_plane_cidr} --allow "
            f"tcp:{WEBHOOKS}   or leave it out",
            warning=True,
        )


_TAKEN = 4
"""docs.cloud.google.com/vpc/docs/subnets: addresses Google takes from a subnet's primary range."""

_KEPT = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32"),
            *("199.36.153.4/30", "199.36.153.8/30"),
        ),
    )
)
"""docs.cloud.google.com/vpc/docs/subnets, prohibited IPv4 subnet ranges."""

_PODS = 110
"""Page flexible-pod-cidr: the default of pods a node takes."""

_KEYS = {
    "nodeSubnet": "node_subnet",
    "podCidr": "pod_cidr",
    "serviceCidr": "service_cidr",
    "controlPlaneCidr": "control_plane_cidr",
}


def _written(network: GcpNetwork) -> dict[str, str]:
    """Return the text of each range that this stack chooses, by its key."""
    keys = {"controlPlaneCidr": "control_plane_cidr"} if network.existing else _KEYS
    texts = of_each(keys.items(), lambda pair: (pair[0], getattr(network, pair[1])))
    return {key: text for key, text in texts if text}


def _ranges(gcp: Gcp) -> dict[str, IPv4Network]:
    return readable_ranges(_written(gcp.network))


def _are_ranges(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    yield from refuse_non_ranges(_written(gcp.network), "10.8.0.0/20")


def _overlaps(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # In a VPC-native cluster all of them are addresses of one network.
    for (first, earlier), (second, later) in combinations(_ranges(gcp).items(), 2):
        if earlier.overlaps(later):
            yield Problem(
                f"{PATH}.{second}",
                f"{later} overlaps {first} {earlier}",
                no_overlap(_ranges(gcp), second),
            )


def _kept(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key, addresses in _ranges(gcp).items():
        kept = next((kept for kept in _KEPT if addresses.overlaps(kept)), None)
        if kept:
            what = f"{addresses} overlaps {kept}, which no subnet on Google Cloud may have"
            yield Problem(
                f"{PATH}.{key}", what, "choose another range, such as a part of 10.0.0.0/8"
            )


def _range_control_plane(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    addresses = _ranges(gcp).get("controlPlaneCidr")
    if addresses and addresses.prefixlen != 28:
        yield Problem(
            f"{PATH}.controlPlaneCidr", f"{addresses} is not a /28", "a /28, such as 172.16.0.0/28"
        )


def _node_room(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    addresses = _ranges(gcp).get("nodeSubnet")
    if addresses:
        nodes = sum(most_with_twin(pool, draft) for _, pool in draft.written_pools())
        room = max(addresses.num_addresses - _TAKEN, 0)
        yield from _room(
            gcp, "nodeSubnet", f"{addresses} has room for {room} nodes", room, nodes, _surge(draft)
        )


def _pod_room(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pods = _ranges(gcp).get("podCidr")
    if not pods:
        return
    addresses = of_each(draft.written_pools(), lambda pair: (pair[1], _addresses(pair[1])))
    needed = sum(most_with_twin(pool, draft) * each for pool, each in addresses)
    largest = max((each for _, each in addresses), default=0)
    what = f"{pods} has {pods.num_addresses} addresses"
    yield from _room(
        gcp, "podCidr", what, pods.num_addresses, needed, _surge(draft) * largest, " for pods"
    )


def _addresses(pool: AnyPool) -> int:
    """Return the addresses of each node: a power of two, at least twice its pods."""
    return 1 << (2 * (pool.max_pods or _PODS) - 1).bit_length()


def _surge(draft: Draft) -> int:
    """Return the nodes an upgrade may add at a time; GKE's default is one."""
    added = [_surge_of(pool) for _, pool in draft.written_pools()]
    return max(added, default=0)


def _surge_of(pool: AnyPool) -> int:
    upgrade = known(lambda: pool.upgrade, None)
    if upgrade is None:
        return 1
    text = upgrade.max_surge or "0"
    if text.endswith("%"):
        raise Unreadable("upgrade")
    return int(text)


def _room(
    gcp: Gcp, key: str, has: str, room: int, needed: int, surge: int, of: str = ""
) -> Iterator[Problem]:
    # Of a range, GKE takes four addresses of nodes, and none of pods.
    prefix = max(32 - (needed + surge + _TAKEN - 1).bit_length(), 0)
    remedy = larger(prefix, free_range(_ranges(gcp), key, prefix))
    if room < needed:
        what = f"{has}{of}; the pools may grow to need {needed} together"
        yield Problem(f"{PATH}.{key}", what, remedy)
    elif room < needed + surge:
        what = (
            f"{has}{of}: for the {needed} of the pools at their largest, but not for {surge} "
            "more in an upgrade"
        )
        yield Problem(f"{PATH}.{key}", what, remedy, warning=True)


NEW_CLUSTER_RULES = (
    _existing,
    _two_ranges,
    _way_out,
    _nat_name,
    _control_plane,
    _are_ranges,
    _overlaps,
    _kept,
    _range_control_plane,
    _node_room,
    _pod_room,
)
