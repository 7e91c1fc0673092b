"""`python -m tests.config.sdk_properties` writes the names and types that `config` knows of the SDKs' resources."""

from pathlib import Path

from sandbox.cloud import sdk

CLOUDS = Path(__file__).parents[2] / "config/clouds"
RESOURCES = {
    "azure": (
        "pulumi_azure_native",
        {"pool": "azure-native:containerservice:AgentPool", "cluster": "azure-native:containerservice:ManagedCluster"},
    ),
    "gcp": ("pulumi_gcp", {"pool": "gcp:container/nodePool:NodePool", "cluster": "gcp:container/cluster:Cluster"}),
}


def written(cloud: str) -> str:
    """Return the content of a cloud's file."""
    package, tokens = RESOURCES[cloud]
    return sdk.written({name: sdk.inputs_of(package, token) for name, token in tokens.items()}, {})


def file(cloud: str) -> Path:
    return CLOUDS / cloud / "properties.json"


if __name__ == "__main__":
    for cloud in RESOURCES:
        file(cloud).write_text(written(cloud), encoding="utf-8")
