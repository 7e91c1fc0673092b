"""Settings of a GKE cluster and of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policy.cloud import public_addresses
from policy.declared import UNKNOWN, Declared, at
from policy.gcp.gcp_pools import CLUSTER, declared_pools
from policy.rule import Finding

_RANGES = "masterAuthorizedNetworksConfig"

_ACCOUNTS = {
    "masterAuth.clientCertificateConfig.issueClientCertificate": "the certificate names no person",
    "enableLegacyAbac": "every service account has all rights",
}
_ANONYMOUS = "anonymousAuthenticationConfig.mode"

_DNS = "controlPlaneEndpointsConfig.dnsEndpointConfig"
_VIA_DNS = ("enableK8sTokensViaDns", "enableK8sCertsViaDns")
"""https://docs.cloud.google.com/sdk/gcloud/reference/container/clusters/create"""

_PRIVATE = "privateClusterConfig.enablePrivateNodes"
_SHIELDED = "nodeConfig.shieldedInstanceConfig"
_METADATA = "nodeConfig.workloadMetadataConfig.mode"
_LEGACY = "disable-legacy-endpoints"
_KEY = "databaseEncryption"
_SYSTEM = "SYSTEM_COMPONENTS"

_ENCRYPTED = ("ENCRYPTED", "ALL_OBJECTS_ENCRYPTION_ENABLED")
"""kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters, `state`"""


def api_server(declared: Declared, most: int) -> Iterator[Finding]:
    """Yield a public address whose authorized networks are missing or hold more than `most`."""
    if declared.type == CLUSTER:
        yield from _dns_name(declared)
        if declared.get("privateClusterConfig.enablePrivateEndpoint") not in (True, UNKNOWN):
            yield from _public_address(declared, most)


def _dns_name(declared: Declared) -> Iterator[Finding]:
    # The DNS endpoint requires a role in the project (page network-isolation), unless one is set.
    if declared.get(f"{_DNS}.allowExternalTraffic") is True:
        for name in _VIA_DNS:
            if declared.get(f"{_DNS}.{name}") is True:
                problem = "logins from anywhere need no role in the project"
                yield Finding(f"{_DNS}.{name}", problem, "set it to false")


def _public_address(declared: Declared, most: int) -> Iterator[Finding]:
    if declared.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") in (False, UNKNOWN):
        return
    networks = declared.get(_RANGES)
    blocks = at(networks, "cidrBlocks")
    if networks is None:
        yield Finding(
            _RANGES,
            "the API server has a public address without authorized networks",
            "list the callers' networks, or set"
            " controlPlaneEndpointsConfig.ipEndpointsConfig.enabled: false and use the DNS name",
        )
    ranges = [at(block, "cidrBlock") for block in blocks] if isinstance(blocks, list) else []
    if public_addresses(ranges) > most:
        path = f"{_RANGES}.cidrBlocks"
        yield Finding(path, f"more than {most} addresses", "list the callers' networks")
    if at(networks, "gcpPublicCidrsAccessEnabled") is True:
        path = f"{_RANGES}.gcpPublicCidrsAccessEnabled"
        yield Finding(path, "every machine in Google Cloud is allowed", "set it to false")


def local_accounts(declared: Declared) -> Iterator[Finding]:
    """Yield client certificates, legacy authorization and anonymous requests."""
    for path, problem in _ACCOUNTS.items() if declared.type == CLUSTER else ():
        if declared.get(path) is True:
            yield Finding(path, problem, "set it to false")
    # New clusters are LIMITED by default (kubernetes-engine/docs/how-to/hardening-your-cluster).
    if declared.type == CLUSTER and declared.get(_ANONYMOUS) == "ENABLED":
        problem = "anonymous requests pass authentication"
        yield Finding(_ANONYMOUS, problem, "leave it out, or set it to LIMITED")


def public_nodes(declared: Declared) -> Iterator[Finding]:
    """Yield clusters and pools whose nodes have public addresses."""
    if declared.type == CLUSTER and declared.get(_PRIVATE) not in (True, UNKNOWN):
        yield Finding(
            _PRIVATE,
            "nodes have public addresses",
            "set it to true (`cloud.network.privateNodes` in this program's stack file)",
        )
    for path, inputs in declared_pools(declared):
        if at(inputs, "networkConfig.enablePrivateNodes") is False:
            yield Finding(
                f"{path}networkConfig.enablePrivateNodes",
                "nodes have public addresses",
                "set it to true",
            )


def network_policy(declared: Declared) -> Iterator[Finding]:
    """Yield a cluster that enforces no NetworkPolicy objects."""
    if not _is_standard(declared) or declared.get("networkPolicy.enabled") in (True, UNKNOWN):
        return
    if declared.get("datapathProvider") not in ("ADVANCED_DATAPATH", UNKNOWN):
        yield Finding(
            "datapathProvider",
            "NetworkPolicy objects have no effect",
            "set it to ADVANCED_DATAPATH (`cloud.network.dataplane: v2` in this program's stack"
            " file)",
        )


def secrets_key(declared: Declared) -> Iterator[Finding]:
    """Yield a cluster that encrypts Secrets without a customer-managed key."""
    state = declared.get(f"{_KEY}.state")
    if declared.type == CLUSTER and state is not UNKNOWN and state not in _ENCRYPTED:
        yield Finding(
            _KEY,
            "no key of yours encrypts Secrets in etcd",
            "name one (`cloud.encryption.secretsKey` in this program's stack file)",
        )


def workload_identity(declared: Declared) -> Iterator[Finding]:
    """Yield a cluster whose pods reach Google Cloud by the node's account or a stored key only."""
    path = "workloadIdentityConfig.workloadPool"
    if _is_standard(declared) and declared.get(path) in (None, ""):
        yield Finding(
            path,
            "pods have no identity of their own in Google Cloud",
            "set it to PROJECT.svc.id.goog",
        )


def node_metadata(declared: Declared) -> Iterator[Finding]:
    """Yield pools whose metadata server gives pods the node's token."""
    for path, inputs in declared_pools(declared):
        if at(inputs, _METADATA) not in ("GKE_METADATA", UNKNOWN):
            yield Finding(
                path + _METADATA,
                "every pod can get the node's token",
                "set it to GKE_METADATA",
            )
        legacy = at(inputs, "nodeConfig.metadata")
        if isinstance(legacy, dict) and str(legacy.get(_LEGACY, "true")).lower() == "false":
            yield Finding(f"{path}nodeConfig.metadata", f"{_LEGACY} is false", "leave it out")


def shielded_nodes(declared: Declared) -> Iterator[Finding]:
    """Yield clusters without Shielded nodes, and pools without integrity monitoring."""
    if declared.type == CLUSTER and declared.get("enableShieldedNodes") is False:
        yield Finding(
            "enableShieldedNodes",
            "a machine that poses as a node gets a node's credentials",
            "leave it out",
        )
    for path, inputs in declared_pools(declared):
        if at(inputs, f"{_SHIELDED}.enableIntegrityMonitoring") is False:
            yield Finding(
                f"{path}{_SHIELDED}.enableIntegrityMonitoring",
                "a changed boot loader or kernel goes unnoticed",
                "leave it out (`gcp.integrityMonitoring` in this program's stack file)",
            )


def secure_boot(declared: Declared) -> Iterator[Finding]:
    """Yield pools without Secure Boot."""
    for path, inputs in declared_pools(declared):
        if at(inputs, f"{_SHIELDED}.enableSecureBoot") not in (True, UNKNOWN):
            yield Finding(
                f"{path}{_SHIELDED}.enableSecureBoot",
                "nodes boot unsigned kernels and drivers",
                "set it to true (`gcp.secureBoot` in this program's stack file)",
            )


def logs(resources: Sequence[Declared]) -> Iterator[tuple[Declared, Finding]]:
    """Yield clusters without logs of system components; audit logs are always on (CIS GKE 2.2)."""
    for declared in [declared for declared in resources if declared.type == CLUSTER]:
        path, problem = "loggingConfig.enableComponents", "no logs of system components are kept"
        kept = declared.get(path)
        if isinstance(kept, list):
            if not {_SYSTEM, UNKNOWN} & set(kept):
                yield declared, Finding(path, problem, f"add {_SYSTEM}")
        elif declared.get("loggingService") == "none":
            yield declared, Finding("loggingService", problem, "leave it out")


def _is_standard(declared: Declared) -> bool:
    """Return whether it is a Standard cluster; in Autopilot GKE decides these settings."""
    return declared.type == CLUSTER and declared.get("enableAutopilot") not in (True, UNKNOWN)
