"""The properties that the program sets itself, which a stack file may not name (`derived.csv` of a cloud)."""

from typing import Any

from config.clouds.provider_properties import derived, leaves
from tests.components.program import Declared

RESOURCES = {
    "azure-native:containerservice:AgentPool": ("azure", "pool"),
    "azure-native:containerservice:ManagedCluster": ("azure", "cluster"),
    "gcp:container/nodePool:NodePool": ("gcp", "pool"),
    "gcp:container/cluster:Cluster": ("gcp", "cluster"),
}
OPEN = {
    ("azure", "pool"): {"tags", "upgradeSettings.undrainableNodeBehavior"},
    # Other rules than the stack's may read further labels.
    ("azure", "cluster"): {"azureMonitorProfile.metrics.kubeStateMetrics"},
    ("gcp", "pool"): {"management", "nodeConfig.oauthScopes", "nodeConfig.resourceLabels"},
}
"""The program's own choices that have no key, and the tags of all pools, beside which a pool may have others."""


def not_refused(declared: Declared, settings: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the properties that the program sets, and that a stack file may set as well without an error."""
    given = set(_given(settings))
    return {
        (resource.type, path)
        for resource in declared.resources
        if resource.type in RESOURCES
        for path, _ in leaves(resource.inputs)
        if path not in given
        and not _below(path, {*derived(*RESOURCES[resource.type]), *OPEN.get(RESOURCES[resource.type], ())})  # type: ignore[arg-type]
    }


def _below(path: str, above: set[str]) -> bool:
    return any(f"{path}.".startswith(f"{place}.") for place in above)


def _given(value: Any) -> list[str]:
    """Return the paths of all properties of the provider in a stack file."""
    if isinstance(value, list):
        return [path for item in value for path in _given(item)]
    if not isinstance(value, dict):
        return []
    own = [path for path, _ in leaves(value.get("properties") or {})]
    return own + [path for key, item in value.items() if key != "properties" for path in _given(item)]
