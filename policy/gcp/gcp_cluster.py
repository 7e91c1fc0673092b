"""Settings of a GKE cluster and of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policy.declared import UNKNOWN, Declared, at
from policy.gcp.gcp_pools import CLUSTER, written
from policy.ranges import public_addresses
from policy.rule import Finding

_RANGES = "masterAuthorizedNetworksConfig"

_ACCOUNTS = {
    "masterAuth.clientCertificateConfig.issueClientCertificate": "a client certificate that never asks who uses it",
    "enableLegacyAbac": "every service account may do everything",
}
_ANONYMOUS = "anonymousAuthenticationConfig.mode"

_DNS = "controlPlaneEndpointsConfig.dnsEndpointConfig"
_VIA_DNS = ("enableK8sTokensViaDns", "enableK8sCertsViaDns")
"""https://docs.cloud.google.com/sdk/gcloud/reference/container/clusters/create#--enable-k8s-tokens-via-dns"""

_PRIVATE = "privateClusterConfig.enablePrivateNodes"
_SHIELDED = "nodeConfig.shieldedInstanceConfig"
_METADATA = "nodeConfig.workloadMetadataConfig.mode"
_LEGACY = "disable-legacy-endpoints"
_KEY = "databaseEncryption"
_SYSTEM = "SYSTEM_COMPONENTS"

_ENCRYPTED = ("ENCRYPTED", "ALL_OBJECTS_ENCRYPTION_ENABLED")
"""https://docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters#state"""


def api_server(declared: Declared, most: int) -> Iterator[Finding]:
    """A public address whose authorized networks are missing or hold more than `most` addresses."""
    # The DNS endpoint admits nobody without a role in the project (page network-isolation), unless one of these is set.
    for name in (
        _VIA_DNS
        if declared.type == CLUSTER and declared.get(f"{_DNS}.allowExternalTraffic") is True
        else ()
    ):
        if declared.get(f"{_DNS}.{name}") is True:
            yield Finding(
                f"{_DNS}.{name}",
                "a login that needs no role in the project, from anywhere",
                "set it to false",
            )
    if declared.type != CLUSTER or declared.get("privateClusterConfig.enablePrivateEndpoint") in (
        True,
        UNKNOWN,
    ):
        return
    if declared.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") in (False, UNKNOWN):
        return
    networks = declared.get(_RANGES)
    blocks = at(networks, "cidrBlocks")
    if networks is None:
        yield Finding(
            _RANGES,
            "a public address without authorized networks",
            "list who may reach it, or set controlPlaneEndpointsConfig.ipEndpointsConfig.enabled: false and use the DNS name",
        )
    elif (
        isinstance(blocks, list)
        and public_addresses(at(block, "cidrBlock") for block in blocks) > most
    ):
        yield Finding(
            f"{_RANGES}.cidrBlocks",
            f"networks of more than {most} addresses",
            "list who may reach it",
        )
    if at(networks, "gcpPublicCidrsAccessEnabled") is True:
        path = f"{_RANGES}.gcpPublicCidrsAccessEnabled"
        yield Finding(path, "open to every machine in Google Cloud", "set it to false")


def accounts(declared: Declared) -> Iterator[Finding]:
    """Client certificates, legacy authorization, and requests without a login beyond health checks."""
    for path, problem in _ACCOUNTS.items() if declared.type == CLUSTER else ():
        if declared.get(path) is True:
            yield Finding(path, problem, "set it to false")
    # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster: limited by itself in a new cluster
    if declared.type == CLUSTER and declared.get(_ANONYMOUS) == "ENABLED":
        yield Finding(
            _ANONYMOUS,
            "requests without a login get past authentication",
            "leave it out, or set it to LIMITED",
        )


def public_nodes(declared: Declared) -> Iterator[Finding]:
    """Nodes with addresses on the internet."""
    if declared.type == CLUSTER and declared.get(_PRIVATE) not in (True, UNKNOWN):
        yield Finding(
            _PRIVATE,
            "every node has a public address",
            "set it to true (`cloud.network.privateNodes` in a stack file of this program)",
        )
    for path, inputs in written(declared):
        if at(inputs, "networkConfig.enablePrivateNodes") is False:
            yield Finding(
                f"{path}networkConfig.enablePrivateNodes",
                "every node has a public address",
                "set it to true",
            )


def network_policy(declared: Declared) -> Iterator[Finding]:
    """A cluster in which nothing enforces NetworkPolicy objects."""
    if not _is_standard(declared) or declared.get("networkPolicy.enabled") in (True, UNKNOWN):
        return
    if declared.get("datapathProvider") not in ("ADVANCED_DATAPATH", UNKNOWN):
        yield Finding(
            "datapathProvider",
            "nothing enforces NetworkPolicy objects",
            "set it to ADVANCED_DATAPATH (`cloud.network.dataplane: v2` in a stack file of this program)",
        )


def secrets_key(declared: Declared) -> Iterator[Finding]:
    """Secrets in etcd without a key of one's own."""
    state = declared.get(f"{_KEY}.state")
    if declared.type == CLUSTER and state is not UNKNOWN and state not in _ENCRYPTED:
        yield Finding(
            _KEY,
            "Secrets in etcd have no key of yours",
            "name one (`cloud.encryption.secretsKey` in a stack file of this program)",
        )


def workload_identity(declared: Declared) -> Iterator[Finding]:
    """A cluster whose pods can get to Google Cloud by their node's account or a stored key only."""
    path = "workloadIdentityConfig.workloadPool"
    if _is_standard(declared) and declared.get(path) in (None, ""):
        yield Finding(
            path,
            "pods have no identity of their own in Google Cloud",
            "set it to PROJECT.svc.id.goog",
        )


def node_metadata(declared: Declared) -> Iterator[Finding]:
    """Nodes whose metadata server gives pods the node's own token."""
    for path, inputs in written(declared):
        if at(inputs, _METADATA) not in ("GKE_METADATA", UNKNOWN):
            yield Finding(
                path + _METADATA,
                "every pod can take the token of its node",
                "set it to GKE_METADATA",
            )
        legacy = at(inputs, "nodeConfig.metadata")
        if isinstance(legacy, dict) and str(legacy.get(_LEGACY, "true")).lower() == "false":
            yield Finding(f"{path}nodeConfig.metadata", f"{_LEGACY} is false", "leave it out")


def shielded_nodes(declared: Declared) -> Iterator[Finding]:
    """Nodes that need not prove what they are, or that nobody compares with how they were."""
    if declared.type == CLUSTER and declared.get("enableShieldedNodes") is False:
        yield Finding(
            "enableShieldedNodes",
            "a machine that poses as a node gets its credentials",
            "leave it out",
        )
    for path, inputs in written(declared):
        if at(inputs, f"{_SHIELDED}.enableIntegrityMonitoring") is False:
            yield Finding(
                f"{path}{_SHIELDED}.enableIntegrityMonitoring",
                "a changed boot loader or kernel goes unnoticed",
                "leave it out (`gcp.integrityMonitoring` in a stack file of this program)",
            )


def secure_boot(declared: Declared) -> Iterator[Finding]:
    """Nodes that boot whatever is on their disk."""
    for path, inputs in written(declared):
        if at(inputs, f"{_SHIELDED}.enableSecureBoot") not in (True, UNKNOWN):
            yield Finding(
                f"{path}{_SHIELDED}.enableSecureBoot",
                "nodes boot what nobody has signed",
                "set it to true (`gcp.secureBoot` in a stack file of this program)",
            )


def logs(resources: Sequence[Declared]) -> Iterator[tuple[Declared, Finding]]:
    """Clusters without the logs of their own components. The audit log of changes is always kept (CIS GKE, 2.2)."""
    for declared in [declared for declared in resources if declared.type == CLUSTER]:
        kept, service = (
            declared.get("loggingConfig.enableComponents"),
            declared.get("loggingService"),
        )
        if isinstance(kept, list) and not {_SYSTEM, UNKNOWN} & set(kept):
            path = "loggingConfig.enableComponents"
            yield declared, Finding(path, "nothing keeps the cluster's own logs", f"add {_SYSTEM}")
        elif not isinstance(kept, list) and service == "none":
            yield (
                declared,
                Finding("loggingService", "nothing keeps the cluster's own logs", "leave it out"),
            )


def _is_standard(declared: Declared) -> bool:
    """Whether it is a cluster for which GKE does not decide these settings itself, as it does in Autopilot."""
    return declared.type == CLUSTER and declared.get("enableAutopilot") not in (True, UNKNOWN)
