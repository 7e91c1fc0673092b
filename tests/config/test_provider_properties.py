"""The names of the clouds' own properties: those of the pinned SDKs, and what stands in the tables about them."""

import json
from typing import Any

import pytest

from config.clouds.provider_properties import derived, edits
from sandbox.azure.resources import azure_pool_rules
from sandbox.azure.resources.azure_table import TYPES as AZURE
from sandbox.gcp.resources.gcp_table import TYPES as GCP
from tests.config import sdk_properties

both_clouds = pytest.mark.parametrize("cloud", ["azure", "gcp"])


@both_clouds
def test_the_file_of_names_is_that_of_the_sdk(cloud: str) -> None:
    """`python -m tests.config.sdk_properties` writes it."""
    assert sdk_properties.file(cloud).read_text() == sdk_properties.written(cloud)


def exists(content: dict[str, Any], shape: Any, path: list[str]) -> bool:
    """Return whether a property path leads somewhere."""
    if not path:
        return True
    if isinstance(shape, dict):
        return exists(content, shape["*"], path[1:])
    if isinstance(shape, list):
        return exists(content, shape[0], path)
    names = {name.removesuffix("!"): inner for name, inner in content["shapes"][shape].items()}
    return path[0] in names and exists(content, names[path[0]], path[1:])


@both_clouds
@pytest.mark.parametrize("of", ["pool", "cluster"])
def test_every_property_of_a_table_exists(cloud: str, of: Any) -> None:
    content = json.loads(sdk_properties.file(cloud).read_text())
    table = derived(cloud, of)
    assert [path for path in table if not exists(content, content["inputs"][of], path.split("."))] == []
    assert all(bool(row.key) != bool(row.why) for row in table.values())


@pytest.mark.parametrize(
    ("cloud", "of", "fixed"),
    [
        ("azure", "pool", {*azure_pool_rules._IMMUTABLE, *AZURE["azure-native:containerservice:AgentPool"].replaces}),
        ("azure", "cluster", AZURE["azure-native:containerservice:ManagedCluster"].replaces),
        ("gcp", "pool", GCP["gcp:container/nodePool:NodePool"].replaces),
        ("gcp", "cluster", GCP["gcp:container/cluster:Cluster"].replaces),
    ],
    ids=["aks pool", "aks cluster", "gke pool", "gke cluster"],
)
def test_what_an_emulated_cloud_never_changes_is_fixed_or_set_by_the_program(
    cloud: str, of: Any, fixed: set[str]
) -> None:
    content = json.loads(sdk_properties.file(cloud).read_text())
    own = {f"{path}." for path in derived(cloud, of)}
    # `nodeConfig` as a whole is added to no pool: every one has it.
    given = {path for path in fixed if "[]" not in path and path != "nodeConfig"}
    given = {path for path in given if not any(f"{path}.".startswith(place) for place in own)}
    assert given
    for path in sorted(given):
        value = "static"
        now: dict[str, Any] = {}
        inside = now
        *parents, last = path.split(".")
        for name in parents:
            inside = inside.setdefault(name, {})
        inside[last] = value
        (edit,) = edits(cloud, of, {}, now)
        partly = any(place.startswith(f"{path}.") for place in own)
        assert edit.fixed or partly or not exists(content, content["inputs"][of], path.split(".")), path
