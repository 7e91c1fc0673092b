"""Rules about who reaches the API server, and as whom."""

from __future__ import annotations

from typing import Any

from sandbox.azure.resources import access_rules
from sandbox.tests.rule_walk import ABSENT, Row

from .requests import GROUP, GUID, OWN, Put, cluster, granted

_ZONE = f"{GROUP}/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
_ZONE_CONTRIBUTOR = granted("b12aa53e-6015-4669-85d0-8515ebb3ae7f", _ZONE)


def _private(**changes: Any) -> Put:
    zone = {"enablePrivateCluster": True, "privateDNSZone": "none"}
    return cluster(apiServerAccessProfile={**zone, **changes}, identity=OWN)


_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck"


def _login(key: str) -> Put:
    return cluster(linuxProfile={"adminUsername": "kim", "ssh": {"publicKeys": [{"keyData": key}]}})


ROWS = [
    Row("key that is cut", access_rules.node_login, "azure-docs #74569")
    .says("InvalidParameter", "The value of parameter linuxProfile.ssh.publicKeys.keyData is invalid.")
    .tries(_login, (_KEY[:-8], f"{_KEY} kim@example.com\n")),
    Row("key of another kind than it says", access_rules.node_login, "azure-docs #74569")
    .says("InvalidParameter", "The value of parameter linuxProfile.ssh.publicKeys.keyData is invalid.")
    .tries(_login, (_KEY.replace("ssh-ed25519", "ssh-rsa"), _KEY)),
    Row("subdomain without a zone", access_rules.subdomain, "page private-clusters")
    .assumes("InvalidParameter", "fqdnSubdomain needs a custom private DNS zone")
    .given(_ZONE_CONTRIBUTOR)
    .tries(
        cluster,
        dnsPrefix=None,
        fqdnSubdomain="ml",
        identity=(ABSENT, OWN),
        apiServerAccessProfile=(ABSENT, {"enablePrivateCluster": True, "privateDNSZone": _ZONE}),
    ),
    Row("local accounts off without Entra", access_rules.local_accounts, "2.1")
    .assumes("BadRequest", "disableLocalAccounts can only be set on Azure AD integration enabled cluster.")
    .tries(cluster, disableLocalAccounts=True, aadProfile=(ABSENT, {"managed": True})),
    Row("Azure RBAC without Entra", access_rules.entra, "REST text")
    .assumes("BadRequest", "Azure RBAC needs managed AAD.")
    .tries(cluster, aadProfile={"managed": (False, True), "enableAzureRBAC": True}),
    Row("administrators' group by name", access_rules.entra, "page enable-authentication")
    .assumes("InvalidAdminGroupObjectID", "admins")
    .tries(cluster, aadProfile={"managed": True, "adminGroupObjectIDs": [("admins", GUID)]}),
    Row("Entra switched off", access_rules.entra_stays, "page enable-authentication")
    .assumes("PropertyChangeNotAllowed", "aadProfile.managed")
    .given(cluster(aadProfile={"managed": True}))
    .tries(cluster, aadProfile=({"managed": False}, ABSENT)),
    Row("authorised ranges on a private cluster", access_rules.private_ranges, "2.1")
    .says("InvalidParameter", "Private cluster cannot be enabled with AuthorizedIPRanges.")
    .tries(
        cluster, apiServerAccessProfile={"enablePrivateCluster": (True, False), "authorizedIPRanges": ["1.2.3.4/32"]}
    ),
    Row("authorised range that is none", access_rules.range_formats, "REST text")
    .assumes("InvalidParameter", "1.2.3.4 is not in CIDR format")
    .tries(cluster, apiServerAccessProfile={"authorizedIPRanges": [("1.2.3.4", "1.2.3.4/32")]}),
    Row("too many authorised ranges", access_rules.range_formats, "page api-server-authorized-ip-ranges")
    .assumes("InvalidParameter", "201 authorized IP ranges")
    .tries(cluster, apiServerAccessProfile={"authorizedIPRanges": (["1.2.3.4/32"] * 201, ["1.2.3.4/32"] * 200)}),
    Row("private DNS zone of a public cluster", access_rules.zone_mode, "page private-clusters")
    .assumes("InvalidPrivateDNSZoneMode", "the cluster is not private")
    .tries(_private, enablePrivateCluster=(False, ABSENT)),
    Row("no DNS name at all", access_rules.zone_without_name, "page private-clusters")
    .assumes("NonePrivateDNSZonePublicFQDNDisabledError", "cannot be disabled")
    .tries(_private, enablePrivateClusterPublicFQDN=(False, True)),
    Row("private DNS zone of another name", access_rules.zone_name, "page private-clusters")
    .assumes("InvalidPrivateDNSZoneResourceID", "ml.example.com")
    .given(_ZONE_CONTRIBUTOR)
    .tries(_private, privateDNSZone=(_ZONE.replace("privatelink.westeurope.azmk8s.io", "ml.example.com"), _ZONE)),
    Row("private DNS zone without an identity of one's own", access_rules.zone_identity, "page private-clusters")
    .assumes("SystemAssignedIdentityNotSupportedForCustomPrivateDNSZone", "user-assigned identity")
    .tries(cluster, apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": (_ZONE, "system")}),
    Row(
        "private DNS zone the identity may not write",
        access_rules.zone_permission,
        "page customprivatednszonemissingpermissions",
    )
    .says(
        "CustomPrivateDNSZoneMissingPermissionError",
        "Check access result not allowed for action Microsoft.Network/privateDnsZones/read.",
    )
    .refuses(_private(privateDNSZone=_ZONE))
    .accepts(_ZONE_CONTRIBUTOR, _private(privateDNSZone=_ZONE)),
    Row("API server in a subnet that is not there", access_rules.api_server_subnet, "1.1")
    .assumes("ResourceNotFound", "virtualNetworks/net/subnets/no")
    .tries(
        cluster,
        apiServerAccessProfile={
            "subnetId": (
                f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/no",
                f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/nodes",
            )
        },
    ),
]
