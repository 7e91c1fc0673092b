"""Managed clusters: the body the service returns for a request.

Defaults are those of the azure-cli recordings test_aks_create_spot_node_pool.yaml (api 2025-07-01) and
test_aks_create_with_oidc_issuer_enabled. What the service refuses is in `cluster_rules`.
"""

import copy
import hashlib
from typing import Any

from sandbox.azure import azure_catalogue, azure_ids
from sandbox.azure.resources import azure_cluster_rules, cluster_pools_rules
from sandbox.azure.resources.azure_identity import assigned
from sandbox.azure.resources.azure_pool import new_record, put_pool
from sandbox.azure.resources.azure_requests import CLUSTER, ClusterPools, ClusterRequest, pools_of
from sandbox.azure.resources.azure_resource_type import AzureType, merged, require_group, type_named
from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources


def _network(profile: Body) -> Body:
    plugin = profile.get("networkPlugin", "azure")
    # Overlay is the default only when no plugin is named (AKS page azure-cni-overlay).
    overlay = profile.get("networkPluginMode") == "overlay" or "networkPlugin" not in profile
    body: Body = {
        "networkPlugin": plugin,
        "networkPolicy": "none",
        "networkDataplane": "azure",
        "loadBalancerSku": "standard",
        "outboundType": "loadBalancer",
        "serviceCidr": "10.0.0.0/16",
        "dnsServiceIP": "10.0.0.10",
        "ipFamilies": ["IPv4"],
        **({"networkPluginMode": "overlay"} if plugin == "azure" and overlay else {}),
        **({"podCidr": "10.244.0.0/16"} if overlay or plugin == "kubenet" else {}),
        **profile,
    }
    body["serviceCidrs"] = profile.get("serviceCidrs", [body["serviceCidr"]])
    if "podCidr" in body:
        body["podCidrs"] = profile.get("podCidrs", [body["podCidr"]])
    if body["outboundType"] == "loadBalancer":
        balancer = {"backendPoolType": "nodeIPConfiguration", **profile.get("loadBalancerProfile", {})}
        balancer.setdefault("managedOutboundIPs", {"count": 1})
        body["loadBalancerProfile"] = balancer
    return body


def with_defaults(id: str, body: Body) -> Body:
    """Return a cluster's body with what the service adds at once."""
    name, group, location = azure_ids.last(id), azure_ids.group_name(id), body["location"]
    digest = hashlib.sha256(azure_ids.key(id).encode()).hexdigest()
    prefix = body.get("dnsPrefix") or body.get("fqdnSubdomain")
    version = body.get("kubernetesVersion", azure_catalogue.DEFAULT_VERSION)
    result: Body = {
        "nodeResourceGroup": f"MC_{group}_{name}_{location}",
        "fqdn": f"{prefix}-{digest[:8]}.hcp.{location}.azmk8s.io",
        "azurePortalFQDN": f"{prefix}-{digest[:8]}.portal.hcp.{location}.azmk8s.io",
        "kubernetesVersion": version,
        **type_named(CLUSTER).service,
        **body,
        "name": name,
        "type": "Microsoft.ContainerService/ManagedClusters",
        "maxAgentPools": 100,
        "resourceUID": digest[8:32],
        "networkProfile": _network(body.get("networkProfile", {})),
        "autoUpgradeProfile": {"nodeOSUpgradeChannel": "NodeImage", **body.get("autoUpgradeProfile", {})},
        "storageProfile": merged(
            {driver: {"enabled": True} for driver in ("diskCSIDriver", "fileCSIDriver", "snapshotController")},
            body.get("storageProfile", {}),
        ),
    }
    oidc = {"enabled": False, **body.get("oidcIssuerProfile", {})}
    if oidc["enabled"]:
        issuer = azure_ids.guid("issuer", azure_ids.key(id))
        oidc["issuerURL"] = f"https://{location}.oic.prod-aks.azure.com/{azure_ids.TENANT}/{issuer}/"
    result["oidcIssuerProfile"] = oidc
    if "identity" in result:
        result["servicePrincipalProfile"] = {"clientId": "msi"}
    for profile, secret in (("windowsProfile", "adminPassword"), ("servicePrincipalProfile", "secret")):
        result.get(profile, {}).pop(secret, None)
    current = body.get("currentKubernetesVersion", "")
    # The same alias again starts no upgrade (REST text of kubernetesVersion).
    same_alias = current and azure_catalogue.alias(current) == version
    result["currentKubernetesVersion"] = current if same_alias else azure_catalogue.patch(version)
    return result


def _identity(resources: Resources, id: str, identity: Body) -> Body:
    if identity["type"] == "UserAssigned":
        identities = [assigned(resources, i) for i in identity.get("userAssignedIdentities", [])]
        known = {r.id: {n: r.body[n] for n in ("clientId", "principalId")} for r in identities if r is not None}
        return {"type": "UserAssigned", "userAssignedIdentities": known}
    if identity["type"] == "SystemAssigned":
        principal = azure_ids.guid("cluster principal", azure_ids.key(id))
        return {"type": "SystemAssigned", "principalId": principal, "tenantId": azure_ids.TENANT}
    return {"type": identity["type"]}


def finished(id: str, body: Body) -> Body:
    """Return the body once the cluster is up: the parts that only the final answer has (recording)."""
    group = f"/subscriptions/{id.split('/')[2]}/resourcegroups/{body['nodeResourceGroup']}"
    kubelet = f"{group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{azure_ids.last(id)}-agentpool"
    result = copy.deepcopy(body)
    result["identityProfile"] = {
        "kubeletidentity": {
            "resourceId": kubelet,
            "clientId": azure_ids.guid("client", azure_ids.key(kubelet)),
            "objectId": azure_ids.guid("principal", azure_ids.key(kubelet)),
        },
        **body.get("identityProfile", {}),
    }
    balancer = result["networkProfile"].get("loadBalancerProfile")
    if balancer is not None:
        address = (
            f"{group}/providers/Microsoft.Network/publicIPAddresses/{azure_ids.guid('outbound', azure_ids.key(id))}"
        )
        balancer["effectiveOutboundIPs"] = [{"id": address}]
    result["provisioningState"] = "Succeeded"
    return result


class ManagedCluster(AzureType):
    """`Microsoft.ContainerService/managedClusters`. Its pools are records of their own below it."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        sent = {k: v for k, v in wanted.items() if k != "agentPoolProfiles"}
        laid_over: Body = merged(current or {}, sent)
        request = ClusterRequest(id, wanted, laid_over, current, resources)
        rules.raise_first(azure_cluster_rules.SENT, request)
        body = with_defaults(id, laid_over)
        if "identity" in sent:
            body["identity"] = _identity(resources, id, sent["identity"])
        request.body = body
        rules.raise_first(azure_cluster_rules.RESULT, request)
        self._put_pools(resources, id, body, wanted.get("agentPoolProfiles", []), new=current is None)
        pools = [pool.body for pool in pools_of(resources, id)]
        cluster_pools_rules.check_pools(ClusterPools(body, pools, resources))
        if any(pool["enableAutoScaling"] for pool in pools):
            # Whether sent or not (several pasted `az aks show`). A standalone pool changes nothing here before the cluster's
            # next PUT: what AKS shows then was not seen.
            body["autoScalerProfile"] = azure_cluster_rules.AUTOSCALER_DEFAULTS | body.get("autoScalerProfile", {})
        return body

    @staticmethod
    def _put_pools(resources: Resources, id: str, body: Body, profiles: list[Any], *, new: bool) -> None:
        # A pool that is left out stays (azure-native #1686).
        for index, profile in enumerate(profiles):
            known = resources.get(f"{id}/agentPools/{profile['name']}")
            current = known.body if known else None
            pool = put_pool(resources, body, profile["name"], profile, current, inline=True, first=new and index == 0)
            resources.put(new_record(id, profile["name"], pool))

    def view(self, resources: Resources, record: Record) -> Body:
        body = super().view(resources, record)
        # GET lists every pool, inline and standalone.
        body["agentPoolProfiles"] = [copy.deepcopy(pool.body) for pool in pools_of(resources, record.id)]
        return body
