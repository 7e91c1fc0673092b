"""The names of the clouds' own properties: those of the pinned SDKs, and what stands in the tables about them."""

import json
from typing import Any

import pytest

from config.clouds.provider_properties import derived
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
