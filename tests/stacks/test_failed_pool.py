"""A pool that AKS accepted without machines for it: the next `up` asks again, and the one after that does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from sandbox.tests.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def quota(folder: Path, cores: int) -> str:
    file = folder / f"{cores}.yaml"
    file.write_text(yaml.safe_dump({"quotas": {"westeurope": {"lowPriorityCores": cores}}}))
    return str(file)


def test_a_spot_pool_beyond_its_quota_is_created_by_the_next_up_within_it(tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path, "dev")
    config = stack.config
    next(pool for pool in config["pools"] if pool["name"] == "t4")["minNodes"] = 2
    stack.write(config)

    def state() -> tuple[int, str]:
        resources = json.loads((stack.home / "dev" / "cloud" / "azure.json").read_text())["resources"]
        (body,) = (each["body"] for each in resources if each["id"].endswith("/agentPools/t4"))
        return body["count"], body["provisioningState"]

    try:
        failed = stack.run("up", "--cloud", quota(tmp_path, 4), ok=False)
        assert "exceeding approved LowPriorityCores quota" in failed.stdout
        assert state() == (0, "Failed")
        # The stack file is unchanged, and the quota is still too small.
        assert stack.steps() == [("update", "ml-dev-t4", ['tags["kubeflow-spot-retried"]'])]
        assert "LowPriorityCores quota" in stack.run("up", ok=False).stdout
        stack.run("up", "--cloud", quota(tmp_path, 8))
        assert state() == (2, "Succeeded")
        assert stack.steps() == []
    finally:
        stack.run("down", "--force")
