"""Rules of access to the API server and of keys; questions to production stacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp, GcpAccess
from config.clouds.traits import Cloud
from config.model.reading import known, written
from config.rules import examples
from config.rules.cluster_rules import Question, ask
from config.rules.draft import Draft
from config.rules.network_rules import refuse_open_to_all

_PATH = "cloud.access"

_MOST_RANGES = 100
"""Page authorized-networks, for private clusters."""


def _endpoints(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    access = gcp.access
    if access.dns_endpoint:
        return
    if access.ip_endpoint == "none":
        yield Problem(
            f"{_PATH}.ipEndpoint",
            "is none and dnsEndpoint is false: nobody could reach the API server",
            "write `ipEndpoint: private`, or remove `dnsEndpoint: false`",
        )
    elif access.ip_endpoint == "private":
        yield Problem(
            f"{_PATH}.ipEndpoint",
            "is private and dnsEndpoint is false: the API server is reached only in the network",
            "run Pulumi on a machine in it, or remove `dnsEndpoint: false`",
            warning=True,
        )


def _private(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # pulumi-gcp, `enablePrivateEndpoint`: only with private nodes
    if gcp.access.ip_endpoint == "private" and not gcp.network.private_nodes:
        yield Problem(
            f"{_PATH}.ipEndpoint",
            "is private, but cloud.network.privateNodes is false: GKE needs private nodes for it",
            "remove `privateNodes: false`, or write `ipEndpoint: public`",
        )


def _ranges(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    access = gcp.access
    if not written(access, "authorized_ranges"):
        return
    path = f"{_PATH}.authorizedRanges"
    if known(lambda: access.ip_endpoint, "") == "none":
        yield Problem(
            path,
            "is set, but ipEndpoint is none: there is no such address",
            "remove it, or `ipEndpoint`",
        )
        return
    if len(access.authorized_ranges) > _MOST_RANGES:
        what = f"has {len(access.authorized_ranges)} ranges"
        yield Problem(path, what, f"at most {_MOST_RANGES}; join some into larger ones")
    if known(lambda: access.ip_endpoint, "") == "public":
        yield from refuse_open_to_all(path, access.authorized_ranges)
    for index, text in enumerate(access.authorized_ranges):
        yield from _range(f"{path}[{index}]", text, index, access)


def _range(path: str, text: str, index: int, access: GcpAccess) -> Iterator[Problem]:
    try:
        addresses = IPv4Network(text)
    except ValueError as reason:
        yield Problem(
            path, f"{text!r} is not a range: {reason}", "write for example 203.0.113.0/24"
        )
        return
    where = known(lambda: access.ip_endpoint, "")
    if text in access.authorized_ranges[:index]:
        yield Problem(path, f"{text} is in the list twice", "remove one of them")
    elif where == "private" and (addresses.prefixlen == 0 or addresses.is_global):
        # terraform-google-kubernetes-engine issue 153: "is not a reserved network, which is
        # required for private endpoints"
        yield Problem(
            path,
            f"{text} is public, but ipEndpoint is private: only callers inside reach it",
            "write the private range callers are in, or `ipEndpoint: public`",
        )
    elif where == "public" and addresses.is_private and not examples.caller(text):
        yield Problem(
            path,
            f"{text} is private: nobody reaches the public address from it, only the private one",
            "write the public address by which these callers go out, or `ipEndpoint: private`",
            warning=True,
        )


_key_PATH = "cloud.encryption"


def _secrets_key(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.encryption.secrets_key:
        key = gcp.encryption.secrets_key.text
        if gcp.region and _place(key) != gcp.region:
            # Page encrypting-secrets: otherwise the cluster depends on another location.
            yield _elsewhere("secretsKey", key, gcp.region)


def _boot_disk_key(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.encryption.boot_disk_key:
        key = gcp.encryption.boot_disk_key.text
        place = _place(key)
        # A key may be of several regions or global.
        if gcp.region and place != gcp.region and re.fullmatch(r"[a-z]+-[a-z]+[0-9]+", place):
            yield _elsewhere("bootDiskKey", key, gcp.region)


def _place(key: str) -> str:
    return key.split("/")[3]


def _elsewhere(name: str, key: str, region: str) -> Problem:
    place = _place(key)
    there = key.replace(f"/locations/{place}/", f"/locations/{region}/")
    return Problem(
        f"{_key_PATH}.{name}",
        f"is a key in {place}, and the cluster is in {region}",
        f"make a key there, and write its id, such as {there}",
        warning=True,
    )


_questions = ask(
    Question(
        "cloud.access.ipEndpoint",
        lambda gcp, _: not {"ip_endpoint", "authorized_ranges"} & gcp.access.model_fields_set,
        "everybody on the internet may try the API server's address",
        "`ipEndpoint: none`, which leaves the DNS name and its check of roles, or "
        "`authorizedRanges` with your own",
        "`ipEndpoint: public`",
    ),
    # kubeflow/manifests 26.03 binds to system:authenticated: kubeflow-pipelines-public,
    # kubeflow-trainer-public and kubeflow-trainer-view-cluster-runtimes.
    Question(
        "cloud.access.rolesForEverybody",
        lambda gcp, _: "roles_for_everybody" not in gcp.access.model_fields_set,
        "one RoleBinding can give everybody with a Google account a role",
        "`rolesForEverybody: authenticated`, which Kubeflow's manifests need, or `refused`",
        "`rolesForEverybody: allowed`",
    ),
    Question(
        "cloud.encryption.secretsKey",
        lambda gcp, _: "secrets_key" not in gcp.encryption.model_fields_set,
        "Secrets in etcd have no key of yours",
        "`secretsKey: projects/.../locations/.../keyRings/.../cryptoKeys/...` of a key in the "
        "cluster's region",
        "`secretsKey: null`",
    ),
)


NEW_CLUSTER_RULES = (_endpoints, _private, _ranges, _secrets_key, _questions)
CLOUD_RULES = (_boot_disk_key,)
