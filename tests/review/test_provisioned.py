"""The report on a stack whose pools Karpenter scales, through the real engine."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.tests.repository import Repository
from tests.config.stack_files import CONFIGS, settings
from tests.review.test_base import preview

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.tools]

NAP = settings(CONFIGS / "node-provisioning.happy.yaml")


def stack_file(config: dict[str, Any]) -> dict[str, str]:
    named = {f"kubeflow-spot:{key}": value for key, value in config.items()}
    return {"Pulumi.dev.yaml": yaml.safe_dump({"config": named})}


def reported(repository: Repository, folder: Path, *arguments: str, ok: bool = True) -> tuple[Any, str]:
    """Return the report on the stack dev, as data and as a page."""
    done = preview(repository, "--base", "HEAD~1", "--stack", "dev", "--report-dir", str(folder), *arguments)
    assert (done.returncode == 0) == ok, done.stderr
    (stack,) = json.loads((folder / "report.json").read_text())["stacks"]
    return stack, (folder / "report.md").read_text()


def test_edits_of_pools_and_the_ways_to_karpenter_and_back(tmp_path: Path) -> None:
    repository = Repository.of_the_project(tmp_path / "project")
    before, edited = copy.deepcopy(NAP), copy.deepcopy(NAP)
    del before["cloud"]["nodeProvisioning"]
    general, spot = edited["pools"]
    general["maxNodes"] = 9
    spot["machine"] = "Standard_NC8as_T4_v3"
    del spot["fallback"]
    edited["pools"].append({"name": "a100", "machine": "Standard_NC24ads_A100_v4", "capacity": "spot", "maxNodes": 2})

    repository.commit(stack_file(before))
    repository.commit(stack_file(NAP))
    stack, page = reported(repository, tmp_path / "switched")
    assert stack["switches"]
    assert "in three updates" in page
    assert {change["name"] for change in stack["changes"] if change["op"] == "delete"} == {"ml-nap-expander"}

    repository.commit(stack_file(edited))
    stack, page = reported(repository, tmp_path / "edited", "--fail-on", "replace", ok=False)
    changed = {(each["op"], each["name"].removeprefix("ml-nap-pools-")) for each in stack["changes"]}
    assert {pair for pair in changed if pair[1].endswith(("nodepool", "aksnodeclass"))} == {
        *(("create", f"a100-{kind}") for kind in ("nodepool", "aksnodeclass")),
        *(("delete", f"t4od-{kind}") for kind in ("nodepool", "aksnodeclass")),
        *(("update", f"{pool}-nodepool") for pool in ("general", "t4")),
    }
    machine = "spec.template.spec.requirements[0].values[0]"
    assert {pool["pool"]: pool["why"] for pool in stack["replaced_pools"]} == {"t4": [machine], "t4od": []}
    assert "**Replaces the nodes of** <code>ml-nap-pools-t4-nodepool</code>." in page
    priced = {pool["pool"]: (pool["before"] is None, pool["after"] is None) for pool in stack["cost"]["pools"]}
    assert priced == {
        "a100": (True, False),
        "t4od": (False, True),
        **dict.fromkeys(("general", "system", "t4"), (False, False)),
    }
    assert "spot-silent" in stack["drill"]

    repository.commit({**stack_file(NAP), "x": ""})
    repository.commit(stack_file(before))
    stack, _ = reported(repository, tmp_path / "back", ok=False)
    assert "cloud.nodeProvisioning: is gone while the cluster has node auto-provisioning" in "\n".join(stack["errors"])
