"""The ids of `import-file`, held against the emulated clouds, and the words of a plan that it refuses."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from checks.findings import Exit
from checks.lost_state import import_command, trim_command
from checks.lost_state.plan import UNKNOWN, id_forms
from sandbox.azure.resources.azure_resource_type import TABLE as AZURE
from sandbox.azure.resources.azure_table import TYPES as AZURE_TYPES
from sandbox.gcp.resources.gcp_resource_type import TABLE as GOOGLE
from sandbox.gcp.resources.gcp_table import TYPES as GOOGLE_TYPES

SUBSCRIPTION = "00000000-0000-4000-8000-00000000a2e5"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/ml"
OF_OTHERS = {
    "azure-native:containerregistry:Registry",
    "azure-native:keyvault:Vault",
    "azure-native:compute:DiskEncryptionSet",
    "azure-native:network:RouteTable",
}
"""Types of cloud files, which the program never declares."""
VALUES = {
    "group": GROUP,
    "resourceGroupName": "ml",
    "scope": f"{GROUP}/providers/Microsoft.Network/virtualNetworks/ml",
    "resourceUri": f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/ml",
    "cryptoKeyId": "projects/p/locations/l/keyRings/r/cryptoKeys/k",
    "role": "roles/storage.objectUser",
    "member": "serviceAccount:a@p.iam.gserviceaccount.com",
    "project": "example-project",
    "managedFolder": "team-a/",
}
PREFIX = "urn:pulumi:real::kubeflow-spot::"
WHOLE = "kubeflow-spot:index:KubeflowCluster"


def test_every_type_that_the_program_may_declare_has_a_form() -> None:
    assert id_forms().keys() == (AZURE.keys() | GOOGLE.keys()) - OF_OTHERS


@pytest.mark.parametrize("token", id_forms())
def test_the_emulated_provider_reads_the_values_out_of_an_id(token: str) -> None:
    form = id_forms()[token]
    names = re.findall(r"\{(\w+)\}", form)
    values = {name: VALUES.get(name, f"a{number}") for number, name in enumerate(dict.fromkeys(names))}
    id = re.sub(r"\{(\w+)\}", lambda match: values[match[1]], form)
    if token.endswith(":ManagedFolder"):
        values["name"] = VALUES["managedFolder"]
        id = f"{values['bucket']}/{values['name']}"
    if token in AZURE:
        found = AZURE_TYPES[token].matches(id)
        values = {"resourceGroupName": "ml", **values} if values.pop("group", None) else values
    else:
        found = GOOGLE_TYPES[token].import_parameters(id)
    assert found == values


def step(type: str, name: str, inputs: dict[str, Any], parent: str = "", **more: Any) -> dict[str, Any]:
    urn = f"{PREFIX}{parent}{type}::{name}"
    state = {"urn": urn, "type": type, "custom": not type.startswith("kubeflow-spot:"), "inputs": inputs, **more}
    return {"op": "create", "urn": urn, "newState": state}


STEPS = [
    step(WHOLE, "ml", {}),
    step("azure-native:resources:ResourceGroup", "ml", {"resourceGroupName": "ml"}),
    step(
        "azure-native:containerservice:ManagedCluster",
        "ml",
        {"resourceGroupName": UNKNOWN, "resourceName": "ml"},
        propertyDependencies={"resourceGroupName": [f"{PREFIX}azure-native:resources:ResourceGroup::ml"]},
    ),
    step(
        "azure-native:authorization:RoleAssignment",
        "ml-network",
        {"scope": UNKNOWN, "roleAssignmentName": UNKNOWN},
        propertyDependencies={"scope": [f"{PREFIX}azure-native:containerservice:ManagedCluster::ml"]},
    ),
    step("pulumi:providers:kubernetes", "ml", {"clusterIdentifier": "ml", "kubeconfig": UNKNOWN}),
    step("kubernetes:core/v1:ConfigMap", "ml-map", {"metadata": {"namespace": "kube-system", "name": "map"}}),
]
"""A plan's first round, shortened."""


def fill(folder: Path, steps: list[dict[str, Any]], *options: str, **config: str) -> Result:
    """Run the command on a plan, and on the file that Pulumi writes for it."""
    entries = [
        {
            "type": step["newState"]["type"],
            "name": f"{step['newState']['type']}-{number}",
            "logicalName": step["urn"].rpartition("::")[2],
            "component": not step["newState"]["custom"],
            **({"provider": "pulumi:providers:kubernetes-4"} if "core/v1" in step["urn"] else {}),
        }
        for number, step in enumerate(steps)
    ]
    (folder / "import.json").write_text(json.dumps({"resources": entries}))
    (folder / "plan.json").write_text(json.dumps({"config": config, "steps": steps}))
    arguments = [str(folder / "plan.json"), str(folder / "import.json"), *options]
    return CliRunner().invoke(import_command.main, arguments)


def ids(folder: Path) -> dict[str, str]:
    entries = json.loads((folder / "import.json").read_text())["resources"]
    return {entry["type"]: entry.get("id", "") for entry in entries}


def test_ids_follow_from_resources_that_are_not_in_the_state_yet(tmp_path: Path) -> None:
    done = fill(tmp_path, STEPS, "--account", SUBSCRIPTION)
    assert done.exit_code == Exit.UNSEEN
    assert ids(tmp_path) == {
        WHOLE: "",
        "azure-native:resources:ResourceGroup": GROUP,
        "azure-native:containerservice:ManagedCluster": f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/ml",
    }
    assert "RoleAssignment ml-network: its roleAssignmentName follows" in done.stderr
    assert "providers:kubernetes ml: its kubeconfig follows" in done.stderr
    assert "1 resources of the provider" in done.stderr


def test_a_second_round_has_the_rest(tmp_path: Path) -> None:
    steps = copy.deepcopy(STEPS)
    steps[3]["newState"]["inputs"]["roleAssignmentName"] = "guid"
    steps[4]["newState"]["inputs"]["kubeconfig"] = "known"
    done = fill(tmp_path, steps, **{"azure-native:subscriptionId": SUBSCRIPTION})
    assert done.exit_code == Exit.READY
    scope = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/ml"
    assert ids(tmp_path)["azure-native:authorization:RoleAssignment"] == (
        f"{scope}/providers/Microsoft.Authorization/roleAssignments/guid"
    )
    assert ids(tmp_path)["kubernetes:core/v1:ConfigMap"] == "kube-system/map"


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (STEPS[1:], "the plan is of kubeflow-spot, which has no kubeflow-spot:index:KubeflowCluster"),
        (STEPS, "the subscription is not known: set ARM_SUBSCRIPTION_ID, or give --account"),
        ([STEPS[0], step("azure-native:web:WebApp", "x", {})], "ids of azure-native:web:WebApp is not known here"),
        ([*STEPS[:1], STEPS[4], step("pulumi:providers:kubernetes", "ml", {}, f"{WHOLE}$")], "more than one resource"),
    ],
)
def test_what_cannot_be_written_is_refused_in_words_and_leaves_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[dict[str, Any]], words: str
) -> None:
    monkeypatch.delenv("ARM_SUBSCRIPTION_ID", raising=False)
    done = fill(tmp_path, steps)
    assert done.exit_code == Exit.UNASKED
    assert words in done.stderr
    assert "id" not in json.loads((tmp_path / "import.json").read_text())["resources"][0]


def test_a_member_with_a_condition_has_its_title_in_the_id(tmp_path: Path) -> None:
    inputs = {"bucket": "b", "role": "r", "member": "m", "condition": {"title": "of team a", "expression": "x"}}
    fill(tmp_path, [STEPS[0], step("gcp:storage/bucketIAMMember:BucketIAMMember", "ml", inputs)])
    assert ids(tmp_path)["gcp:storage/bucketIAMMember:BucketIAMMember"] == "b/b r m of team a"


def test_a_plan_or_a_state_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text("error: no stack selected")
    for command, words in ((import_command.main, [str(plan), str(plan)]), (trim_command.main, [str(plan)])):
        done = CliRunner().invoke(command, words, input='{"deployment": {"resources": []}}')
        assert done.exit_code == Exit.UNASKED
        assert done.stdout == ""
        assert "plan.json: is not the output of `pulumi preview --json`" in done.stderr


def trim(folder: Path, type: str, inputs: dict[str, Any], declared: dict[str, Any], **state: Any) -> dict[str, Any]:
    """Return a resource of a state after the command."""
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"steps": [STEPS[0], step(type, "ml", declared)]}))
    urn = f"{PREFIX}{type}::ml"
    exported = {"deployment": {"resources": [{"urn": urn, "type": type, "custom": True, "inputs": inputs, **state}]}}
    done = CliRunner().invoke(trim_command.main, [str(plan)], input=json.dumps(exported))
    assert done.exit_code == Exit.READY, done.output
    (resource,) = json.loads(done.stdout)["deployment"]["resources"]
    return dict(resource)


def test_a_trimmed_resource_has_the_declared_keys_with_the_clouds_values(tmp_path: Path) -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "x"}
    read = {
        "node": "MC",
        "mode": "b",
        "list": [{"a": 1, "b": 2}],
        "scope": "subscriptions/x",
        "unknown": [1],
        "s": secret,
    }
    declared = {
        "mode": "a",
        "list": [{"a": 0}],
        "scope": "/subscriptions/x",
        "unknown": UNKNOWN,
        "more": 1,
        "s": "plain",
    }
    trimmed = trim(tmp_path, "azure-native:containerservice:ManagedCluster", read, declared)
    assert trimmed["inputs"] == {
        "mode": "b",
        "list": [{"a": 1}],
        "scope": "/subscriptions/x",
        "unknown": [1],
        "s": secret,
    }


def test_an_object_keeps_the_field_manager_that_wrote_it(tmp_path: Path) -> None:
    fields = [
        {"manager": "pulumi-kubernetes-old", "operation": "Apply"},
        {"manager": "kubectl-edit", "operation": "Update"},
    ]
    live = {"metadata": {"managedFields": fields}, "__fieldManager": "pulumi-kubernetes-new"}
    assert trim(tmp_path, "kubernetes:core/v1:ConfigMap", {}, {}, outputs=live)["outputs"]["__fieldManager"] == (
        "pulumi-kubernetes-old"
    )
    # Two of them: nobody knows whose the object is.
    live["metadata"]["managedFields"] = [*fields, {"manager": "pulumi-kubernetes-other", "operation": "Apply"}]
    assert trim(tmp_path, "kubernetes:core/v1:ConfigMap", {}, {}, outputs=live)["outputs"] == live


def test_a_state_without_a_resource_of_the_plan_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"steps": STEPS}))
    other = {"urn": f"{PREFIX.replace('real', 'other')}azure-native:resources:ResourceGroup::ml", "custom": True}
    done = CliRunner().invoke(trim_command.main, [str(plan)], input=json.dumps({"deployment": {"resources": [other]}}))
    assert done.exit_code == Exit.UNASKED
    assert done.stdout == ""
    assert "plan.json: it is another stack's or project's, or nothing is imported yet" in done.stderr


def test_a_file_that_holds_no_object_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, STEPS)
    (tmp_path / "import.json").write_text("[1]")
    done = CliRunner().invoke(import_command.main, [str(tmp_path / "plan.json"), str(tmp_path / "import.json")])
    assert done.exit_code == Exit.UNASKED
    assert "import.json: is not the file of" in done.stderr
