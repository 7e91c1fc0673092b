"""Rights of profiles on AKS through the real engine: in one `up`, though Azure does not know at once what is new; and anew after an
identity that somebody deleted.

The program declares a profile's storage and rights alone: no cluster has to come up.
"""

import json
from pathlib import Path

import pytest
import yaml

from sandbox.azure import azure_access, azure_ids
from sandbox.azure.resources.azure_identity import IDENTITY
from sandbox.cloud.state import Store
from sandbox.tests.stack import Stack

pytestmark = pytest.mark.engine

PROGRAM = """\
from components.azure.azure_checkpoints import Checkpoints
from components.azure.placed import Placed
from config.model.workloads import Workloads

workloads = Workloads.model_validate({"checkpoints": {"name": "labcheckpoints"}, "profiles": [{"namespace": "team-a"}]})
placed = Placed("lab", "lab", "westeurope", {})
Checkpoints("lab", workloads, placed, group="lab", keep_group=True, issuer="https://example.com/issuer/")
"""
PROJECT = {"name": "tiny", "runtime": "python", "options": {"refresh": "always"}}
GROUP = f"/subscriptions/{azure_ids.SUBSCRIPTION}/resourceGroups/lab"
CLOUD = {
    "resources": [
        {
            "type": "azure-native:resources:ResourceGroup",
            "inputs": {"resourceGroupName": "lab", "location": "westeurope"},
        }
    ]
}
IDENTITY_ID = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/lab-team-a"


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    (tmp_path / "__main__.py").write_text(PROGRAM)
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump(PROJECT))
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "cloud.yaml").write_text(yaml.safe_dump(CLOUD))
    # Without a cluster nothing of it runs on.
    return Stack(tmp_path, tmp_path / ".sandbox", "dev")


def store(stack: Stack) -> Store:
    return Store(stack.home / "dev" / "cloud" / "azure.json")


def reads_its_prefix(stack: Stack) -> bool:
    known = store(stack).read()
    (identity,) = known.of_type(IDENTITY)
    account = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/labcheckpoints"
    attempt = azure_access.Attempt("Get Blob", account, "checkpoints", "team-a/run/1.ckpt")
    return azure_access.allowed(known, identity.body["principalId"], attempt)


def test_one_up_gives_a_profile_its_rights_and_the_next_one_those_of_an_identity_that_was_deleted(stack: Stack) -> None:
    first = stack.run("up", "--cloud", str(stack.project / "cloud.yaml"))
    assert "retrying create due to on-error hook request (2/" in first.stdout
    assert reads_its_prefix(stack)
    with store(stack).change() as known:
        known.remove(IDENTITY_ID)
    done = json.loads(stack.run("up", "--json").stdout)
    assert reads_its_prefix(stack)
    steps = {(step["op"], step["name"]) for step in done["steps"]}
    assert ("replace", "lab-team-a-checkpoints") in steps
    assert ("create", "lab-team-a") in steps
