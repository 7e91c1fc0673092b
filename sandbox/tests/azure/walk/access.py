"""Rules about who reaches the API server, and as whom."""

from __future__ import annotations

from typing import Any

from sandbox.azure.resources import access_rules

from .grants import GROUP, GUID, OWN, both, granted
from .row import Put, Row, cluster

_ZONE = f"{GROUP}/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
_ZONE_CONTRIBUTOR = granted("b12aa53e-6015-4669-85d0-8515ebb3ae7f", _ZONE)


def _private(**changes: Any) -> Put:
    zone = {"enablePrivateCluster": True, "privateDNSZone": "none"}
    return cluster(apiServerAccessProfile={**zone, **changes}, identity=OWN)


_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck"


def _login(key: str) -> Put:
    return cluster(linuxProfile={"adminUsername": "kim", "ssh": {"publicKeys": [{"keyData": key}]}})


ROWS = [
    Row(
        "key that is cut",
        "azure-docs #74569",
        access_rules.node_login,
        "InvalidParameter",
        "The value of parameter linuxProfile.ssh.publicKeys.keyData is invalid.",
        bad=_login(_KEY[:-8]),
        good=_login(f"{_KEY} kim@example.com\n"),
    ),
    Row(
        "key of another kind than it says",
        "azure-docs #74569",
        access_rules.node_login,
        "InvalidParameter",
        "The value of parameter linuxProfile.ssh.publicKeys.keyData is invalid.",
        bad=_login(_KEY.replace("ssh-ed25519", "ssh-rsa")),
        good=_login(_KEY),
    ),
    Row(
        "subdomain without a zone",
        "page private-clusters",
        access_rules.subdomain,
        "InvalidParameter",
        "fqdnSubdomain needs a custom private DNS zone",
        confirmed=False,
        given=(_ZONE_CONTRIBUTOR,),
        bad=cluster(dnsPrefix=None, fqdnSubdomain="ml"),
        good=cluster(
            dnsPrefix=None,
            fqdnSubdomain="ml",
            identity=OWN,
            apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": _ZONE},
        ),
    ),
    Row(
        "local accounts off without Entra",
        "2.1",
        access_rules.local_accounts,
        "BadRequest",
        "disableLocalAccounts can only be set on Azure AD integration enabled cluster.",
        confirmed=False,
        bad=cluster(disableLocalAccounts=True),
        good=cluster(disableLocalAccounts=True, aadProfile={"managed": True}),
    ),
    Row(
        "Azure RBAC without Entra",
        "REST text",
        access_rules.entra,
        "BadRequest",
        "Azure RBAC needs managed AAD.",
        confirmed=False,
        bad=cluster(aadProfile={"managed": False, "enableAzureRBAC": True}),
        good=cluster(aadProfile={"managed": True, "enableAzureRBAC": True}),
    ),
    Row(
        "administrators' group by name",
        "page enable-authentication",
        access_rules.entra,
        "InvalidAdminGroupObjectID",
        "admins",
        confirmed=False,
        bad=cluster(aadProfile={"managed": True, "adminGroupObjectIDs": ["admins"]}),
        good=cluster(aadProfile={"managed": True, "adminGroupObjectIDs": [GUID]}),
    ),
    Row(
        "Entra switched off",
        "page enable-authentication",
        access_rules.entra_stays,
        "PropertyChangeNotAllowed",
        "aadProfile.managed",
        confirmed=False,
        given=(cluster(aadProfile={"managed": True}),),
        bad=cluster(aadProfile={"managed": False}),
        good=cluster(),
    ),
    Row(
        "authorised ranges on a private cluster",
        "2.1",
        access_rules.private_ranges,
        "InvalidParameter",
        "Private cluster cannot be enabled with AuthorizedIPRanges.",
        bad=cluster(apiServerAccessProfile={"enablePrivateCluster": True, "authorizedIPRanges": ["1.2.3.4/32"]}),
        good=cluster(apiServerAccessProfile={"enablePrivateCluster": False, "authorizedIPRanges": ["1.2.3.4/32"]}),
    ),
    Row(
        "authorised range that is none",
        "REST text",
        access_rules.range_formats,
        "InvalidParameter",
        "1.2.3.4 is not in CIDR format",
        confirmed=False,
        bad=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4"]}),
        good=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4/32"]}),
    ),
    Row(
        "too many authorised ranges",
        "page api-server-authorized-ip-ranges",
        access_rules.range_formats,
        "InvalidParameter",
        "201 authorized IP ranges",
        confirmed=False,
        bad=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4/32"] * 201}),
        good=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4/32"] * 200}),
    ),
    Row(
        "private DNS zone of a public cluster",
        "page private-clusters",
        access_rules.zone_mode,
        "InvalidPrivateDNSZoneMode",
        "the cluster is not private",
        confirmed=False,
        bad=_private(enablePrivateCluster=False),
        good=_private(),
    ),
    Row(
        "no DNS name at all",
        "page private-clusters",
        access_rules.zone_without_name,
        "NonePrivateDNSZonePublicFQDNDisabledError",
        "cannot be disabled",
        confirmed=False,
        bad=_private(enablePrivateClusterPublicFQDN=False),
        good=_private(enablePrivateClusterPublicFQDN=True),
    ),
    Row(
        "private DNS zone of another name",
        "page private-clusters",
        access_rules.zone_name,
        "InvalidPrivateDNSZoneResourceID",
        "ml.example.com",
        confirmed=False,
        given=(_ZONE_CONTRIBUTOR,),
        bad=_private(privateDNSZone=_ZONE.replace("privatelink.westeurope.azmk8s.io", "ml.example.com")),
        good=_private(privateDNSZone=_ZONE),
    ),
    Row(
        "private DNS zone without an identity of one's own",
        "page private-clusters",
        access_rules.zone_identity,
        "SystemAssignedIdentityNotSupportedForCustomPrivateDNSZone",
        "user-assigned identity",
        confirmed=False,
        bad=cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": _ZONE}),
        good=cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "system"}),
    ),
    Row(
        "private DNS zone the identity may not write",
        "page customprivatednszonemissingpermissions",
        access_rules.zone_permission,
        "CustomPrivateDNSZoneMissingPermissionError",
        "Check access result not allowed for action Microsoft.Network/privateDnsZones/read.",
        bad=_private(privateDNSZone=_ZONE),
        good=both(_ZONE_CONTRIBUTOR, _private(privateDNSZone=_ZONE)),
    ),
    Row(
        "API server in a subnet that is not there",
        "1.1",
        access_rules.api_server_subnet,
        "ResourceNotFound",
        "virtualNetworks/net/subnets/no",
        confirmed=False,
        bad=cluster(
            apiServerAccessProfile={"subnetId": f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/no"}
        ),
        good=cluster(
            apiServerAccessProfile={
                "subnetId": f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/nodes"
            }
        ),
    ),
]
