"""A cloud's own properties, and new keys, through the real engine: they are written, changed and taken out again.

`properties.yaml` has the properties of each cloud, and what the cloud has in the end.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.cloud.state import Store
from sandbox.tests.stack import PROJECT, Stack

pytestmark = pytest.mark.engine

TABLE = yaml.safe_load((Path(__file__).parent / "properties.yaml").read_text())
KEPT = ("tags", "resourceLabels")


def laid(into: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a path of keys."""
    *parents, last = path.split(".")
    for key in parents:
        into = into.setdefault(key, {})
    into[last] = value


def written(cloud: str, which: int | None) -> dict[str, Any]:
    """Return the stack file with the first or second value of each row; without them for None."""
    config: dict[str, Any] = copy.deepcopy(TABLE[cloud]["stack"])
    pools = {pool["name"]: pool for pool in config["pools"]} | {"system": config["systemPool"]}
    for row in TABLE[cloud]["rows"] if which is not None else ():
        provider = config["cloud"]["provider"]
        place = config["cloud"] if row["at"] == "cluster" else pools[row["at"]].setdefault(provider, {})
        laid(place.setdefault("properties", {}), row["property"], row["values"][which])
    for row in TABLE[cloud]["keys"] if which is not None else ():
        laid(config["cloud"] if row["at"] == "cluster" else pools[row["at"]], row["key"], row["values"][which])
    return config


def found(stack: Stack, cloud: str, row: dict[str, Any]) -> Any:
    """Return the value that the emulated cloud has; None without."""
    provider = TABLE[cloud]["stack"]["cloud"]["provider"]
    records = Store(stack.home / "own" / "cloud" / f"{provider}.json").read().records.values()
    ends = {"cluster": "/ml-own"}.get(row["at"], f"ools/{row['at']}")
    (value,) = (
        record.body
        for record in records
        if record.id.endswith(ends)
        and record.token.rpartition(":")[2] in ("AgentPool", "NodePool", "ManagedCluster", "Cluster")
    )
    for key in row["property"].split("."):
        if isinstance(value, list):
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(tmp_path, tmp_path / ".sandbox", "own")
    for name in ("Pulumi.yaml", "__main__.py"):
        (tmp_path / name).write_text((PROJECT / name).read_text())
    yield stack
    stack.run("down", "--force")


@pytest.mark.parametrize("cloud", sorted(TABLE))
def test_ten_properties_are_set_changed_and_taken_out_again(cloud: str, stack: Stack) -> None:
    assert len(TABLE[cloud]["rows"]) == 10
    rows = [*TABLE[cloud]["rows"], *TABLE[cloud]["keys"]]
    replaced = {row["at"] for row in rows if row.get("replaced")}
    for which in (0, 1, None):
        stack.write(written(cloud, which))
        steps = stack.up()
        wanted = [row["then"] if which is None else row.get("has", row["values"])[which] for row in rows]
        assert [found(stack, cloud, row) for row in rows] == wanted
        ours = {name.removeprefix("ml-own-"): op for op, name, _ in steps if op == "replace"}
        assert set(ours) == (set() if which == 0 else replaced)
        assert stack.steps() == []
