"""Out-of-band changes are detected as the scheduled workflow detects them: `preview --refresh --expect-no-changes`."""

import json

import pytest

from sandbox.tests.killing import stored
from sandbox.tests.stack import PROJECT, Stack, until
from sandbox.tests.subjects import Subject

pytestmark = [pytest.mark.engine, pytest.mark.repeats]

SEARCH = ("preview", "--refresh", "--expect-no-changes")


def drift(stack: Stack) -> list[tuple[str, str, list[str]]]:
    """Return the detected changes: operations, resources, and properties."""
    printed = json.loads(stack.run(*SEARCH, "--json", ok=False).stdout)
    assert printed["errors"][0].startswith("no changes were expected: ")
    return sorted((step["op"], step["name"], step["diff"]) for step in printed["steps"])


def test_changes_by_the_clouds_and_their_autoscalers_are_no_drift(stack: Stack, subject: Subject) -> None:
    stack.kubectl("apply", "-f", str(PROJECT / "examples" / "workloads" / "training.yaml"))
    stack.run("scale", "general", str(subject.at_first["general"] + 1))
    stack.run("scale", "system", "4")
    pool = f"kubeflow-spot.dev/pool={subject.spot}"
    assert until(lambda: stack.get("nodes", "-l", pool)["items"] != [], seconds=60)
    stack.kubectl("label", "configmap", "kubeflow-spot", "-n", "kube-public", "example.com/seen=yes")
    stack.run(*SEARCH)
    stack.kubectl("delete", "namespace", "team-a", "--wait=false")


def test_an_automatic_upgrade_to_a_patch_is_no_drift(stack: Stack, subject: Subject) -> None:
    if subject.class_name:
        pytest.skip("GKE answers with a patch from the beginning")
    (cluster,) = (
        r["id"] for r in stored(stack, "azure.json") if r["id"].lower().endswith(f"clusters/{subject.cluster}")
    )
    for version in ("1.36.2", "1.36"):
        stack.run("edit", cluster, json.dumps({"kubernetesVersion": version}))
        for pool in ("system", "general", subject.spot, subject.twin):
            stack.run("edit", pool, json.dumps({"orchestratorVersion": version}))
        stack.run(*SEARCH)


POLICIES = (
    *("guard-labels", "guard-labels-lasting", "guard-platform", "guard-profiles"),
    *("lost-pods-guard", "lost-pods-notice"),
)


def test_out_of_band_changes_are_detected_and_reverted(stack: Stack, subject: Subject) -> None:
    aks, cluster = not subject.class_name, subject.cluster
    labels = {"gpu": "false", "team": "vision"}
    stack.run("edit", subject.spot, json.dumps({"nodeLabels": labels} if aks else {"nodeConfig": {"labels": labels}}))
    # Autoscaling switched off, with a fixed count.
    undrainable = {"upgradeSettings": {"undrainableNodeBehavior": "Schedule"}}
    off = {"enableAutoScaling": False, "count": 3} | undrainable if aks else {"autoscaling": None, "nodeCount": 2}
    stack.run("edit", "general", json.dumps(off))
    stack.run("scale", "system", "5", "--force")
    stack.run("delete", subject.twin)
    stack.kubectl("delete", "validatingadmissionpolicybinding", "--all")
    bounds = ["enableAutoScaling", "maxCount", "minCount", "upgradeSettings.undrainableNodeBehavior"]
    expected = [
        ("create", f"{cluster}-{subject.twin}", []),
        *(("create", f"{cluster}-{policy}-binding", []) for policy in POLICIES),
        ("update", f"{cluster}-general", bounds if aks else ["autoscaling"]),
        ("update", f"{cluster}-{subject.spot}", [subject.label.format(key=key) for key in sorted(labels)]),
    ]
    if aks:
        # On GKE the program sends no count, so a count beyond the bounds is not compared (docs/adr/0016).
        template = "properties.template"
        changed = [f"{template}.metadata", f"{template}.resources[0].properties.count"]
        expected.append(("update", f"{cluster}-system-pool", changed))
    assert drift(stack) == sorted(expected)
    stack.run("up")
    stack.run(*SEARCH)


def test_a_field_owned_by_another_manager_is_named_and_a_recreated_object_is_unchanged(stack: Stack) -> None:
    contract = ("configmap", "kubeflow-spot", "-n", "kube-public")
    stack.kubectl("patch", *contract, "-p", '{"data": {"release": "r2020-01"}}')
    refused = stack.run(*SEARCH, ok=False).stdout
    for part in ("kube-public/kubeflow-spot", 'conflict with "kubectl-patch"', ".data.release"):
        assert part in refused
    stack.kubectl("delete", *contract)
    assert [(op, name.rpartition("-")[2]) for op, name, _ in drift(stack)] == [("create", "contract")]
    stack.run("up")
    stack.run(*SEARCH)


def test_an_edit_is_a_request_like_any_other(stack: Stack, subject: Subject) -> None:
    typo = stack.run("edit", subject.spot, "{nodeLabel: {team: vision}}", ok=False)
    assert "has no settable property nodeLabel" in typo.stderr
    if subject.class_name:
        beyond = stack.run(
            "edit", subject.spot, "{autoscaling: {totalMinNodeCount: 9, totalMaxNodeCount: 8}}", ok=False
        )
        assert "total_min_node_count must be less than or equal" in beyond.stderr
    else:
        # AKS refuses a count of an autoscaled pool beyond its bounds (CAPZ #5947).
        beyond = stack.run("edit", subject.spot, "{count: 9}", ok=False)
        assert "less than or equal to maxCount:8" in beyond.stderr
    assert f"no pool '{subject.spot}x'" in stack.run("edit", f"{subject.spot}x", "{count: 1}", ok=False).stderr
