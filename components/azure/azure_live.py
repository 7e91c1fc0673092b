"""An AKS cluster as its GET shows it now, with each pool's node count, and its kubeconfig.

AKS requires a count in every request and applies it, although the autoscaler owns it
(pulumi-azure-native issue 2943). The count of the last update would remove nodes that were added
since, and `ignore_changes` would send that old count. Decision: docs/adr/0014.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import containerservice

from components.pools import STACK_TAG
from components.removed_pools import LivePool
from components.resources import explain_refusal, wire
from components.target import Outputs
from config.placement.node_pools import POOL_LABEL

_MISSING = ("ResourceNotFound", "ResourceGroupNotFound")
"""ARM's codes for a cluster, or its resource group, that does not exist (yet)."""

RETRIED = "kubeflow-spot-retried"
"""The tag that counts how often an `up` has repeated a request that had failed."""

_ENDED_BADLY = ("Failed", "Canceled")

_LABELS = "nodeLabels"
"""The only map of a pool with the user's own keys: an additional live key is a difference."""


@dataclass(frozen=True)
class LiveCluster:
    """A cluster and all its pools, this stack's and others."""

    profiles: Mapping[str, Mapping[str, Any]]
    """Pools by name, with the names of the wire."""
    answer: Mapping[str, Any] | None = None
    """The GET's whole answer; None when the cluster does not exist."""

    @property
    def entra(self) -> bool:
        """Whether logins go through Microsoft Entra."""
        return bool(((self.answer or {}).get("aadProfile") or {}).get("managed"))

    @property
    def user_pools(self) -> list[LivePool]:
        """All pools but system pools, which the cluster's own request lists."""
        return [
            LivePool(
                name,
                profile.get(_LABELS) or {},
                spot=profile.get("scaleSetPriority") == "Spot",
                nodes=profile.get("count"),
                stack=(profile.get("tags") or {}).get(STACK_TAG),
            )
            for name, profile in sorted(self.profiles.items())
            if profile.get("mode") != "System"
        ]

    def count(self, pool: str, least: int, most: int, label: str = "") -> int:
        """Return the count to send for a pool: its current nodes, within its bounds.

        A new pool gets its minimum. A new generation, which has the same `label` under POOL_LABEL,
        gets as many nodes as the old one, which is deleted next.
        """
        here = [self.profiles[pool]] if pool in self.profiles else self._labelled(label)
        return int(min(max([least, *(profile.get("count") or 0 for profile in here)]), most))

    def version(self, wanted: str, pool: str = "") -> str:
        """Return the Kubernetes version to send for the cluster, or for a pool: `wanted`, such as
        1.36, is any 1.36.* there.

        Automatic upgrades put the patch in place of the minor version (page auto-upgrade-cluster).
        A pool that has another minor version, and a new one, goes to the cluster's.
        """
        cluster = (self.answer or {}).get("kubernetesVersion")
        now = (self.profiles.get(pool, {}).get("orchestratorVersion"), cluster)
        return next(
            (str(version) for version in now if version and f"{version}.".startswith(f"{wanted}.")),
            wanted,
        )

    def _labelled(self, label: str) -> list[Mapping[str, Any]]:
        return [
            p
            for p in self.profiles.values()
            if label and (p.get("nodeLabels") or {}).get(POOL_LABEL) == label
        ]

    def is_as(self, profile: Mapping[str, Any]) -> bool:
        """Return whether the live pool exists and has every property of this profile."""
        return profile["name"] in self.profiles and not self.differences(profile)

    def differences(self, profile: Mapping[str, Any]) -> dict[str, Any]:
        """Return the live values that differ from this profile, and a failed state."""
        live = self.profiles.get(profile["name"])
        if live is None:
            return {}
        state = live.get("provisioningState")
        changed = {
            key: live.get(key)
            for key, value in profile.items()
            if not holds(key, live.get(key), value)
        }
        return changed | ({"provisioningState": state} if state in _ENDED_BADLY else {})


def retries(resource: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the tag that makes an update repeat the request of a failed cluster or pool.

    A PUT of the same content repairs a failure, such as a spot pool beyond its quota (page
    cluster-node-virtual-machine-failed-state, Azure/AKS issue 4674). The engine would repeat it,
    but the preceding refresh hides the failure (pulumi issue 17949).
    """
    live = resource or {}
    before = str((live.get("tags") or {}).get(RETRIED, ""))
    count = (int(before) if before.isdigit() else 0) + (
        live.get("provisioningState") in _ENDED_BADLY
    )
    return {RETRIED: str(count)} if count else {}


def at(profile: Mapping[str, Any], path: str) -> Any:
    """Return the value of a property path; None without."""
    value: Any = profile
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def holds(key: str, live: Any, expected: Any) -> bool:
    """Return whether the live value of a property is, or as an object has, what is expected."""
    if isinstance(expected, dict) and isinstance(live, Mapping) and key != _LABELS:
        # Properties that the service adds to an object do not count.
        return all(holds(name, live.get(name), value) for name, value in expected.items())
    exact = key in (_LABELS, "nodeTaints")
    return bool(plain(live or None, exact=exact) == plain(expected or None, exact=exact))


def plain(value: Any, *, exact: bool = False) -> Any:
    """Return a value to compare, sorted and, unless `exact`, in lower case, as Azure compares."""
    if isinstance(value, str):
        return value if exact else value.lower()
    if isinstance(value, list | tuple):
        return sorted(plain(str(item), exact=exact) for item in value)
    return value


def read_cluster(
    resource_group: str, cluster: str, reading: pulumi.InvokeOptions | None = None
) -> LiveCluster:
    """Read the cluster and its pools; return an empty one if it does not exist yet.

    Raise `pulumi.RunError` if it cannot be read: no login, or no right to.
    """
    what = f"cloud: cluster {cluster!r} in resource group {resource_group!r}"
    with explain_refusal(what, "Microsoft.ContainerService/managedClusters/read"):
        try:
            live = wire(containerservice.get_managed_cluster(resource_group, cluster, opts=reading))
        except Exception as failed:
            if any(code in str(failed) for code in _MISSING):
                return LiveCluster({})
            raise
    return LiveCluster(
        {str(profile["name"]): profile for profile in live.get("agentPoolProfiles") or ()}, live
    )


def access_outputs(name: pulumi.Input[str], group: pulumi.Input[str], entra: bool) -> Outputs:
    """Return the stack's outputs about a cluster in that resource group."""
    command = "az aks get-credentials --resource-group {0} --name {1}"
    if entra:
        command += " && kubelogin convert-kubeconfig -l azurecli"
    return {
        "clusterName": name,
        "resourceGroup": group,
        "kubeconfigCommand": pulumi.Output.format(command, group, name),
    }


def kubeconfig(
    group: pulumi.Input[str], name: pulumi.Input[str], entra: bool, reading: pulumi.InvokeOptions
) -> pulumi.Output[str]:
    """Return the secret kubeconfig of a cluster that this update may create."""
    # The SDK's function for outputs raises errors that cannot be caught.
    read = pulumi.Output.all(group, name).apply(
        lambda known: read_kubeconfig(known[0], known[1], entra, reading)
    )
    return pulumi.Output.secret(read)


def read_kubeconfig(
    group: str, name: str, entra: bool, reading: pulumi.InvokeOptions | None = None
) -> str:
    """Return the secret kubeconfig of a cluster. Raise `pulumi.RunError` if AKS refuses."""
    what = f"cloud: the kubeconfig of cluster {name!r} in resource group {group!r}"
    with explain_refusal(
        what, "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action"
    ):
        answer = containerservice.list_managed_cluster_user_credentials(
            resource_group_name=group,
            resource_name=name,
            # For kubelogin, which a cluster's Entra logins need.
            format="exec" if entra else None,
            opts=reading,
        )
    return base64.b64decode(answer.kubeconfigs[0].value).decode()
