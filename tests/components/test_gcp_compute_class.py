"""The ComputeClass of a stack on GKE, the pods that get it, and the order in the outputs."""

from typing import Any

import pulumi
import pytest

from components.layer import discovery, names
from components.layer.discovery import Contents
from tests.components.google import GENERAL, L4, WITH_TWIN, in_existing, stack
from tests.components.program import Declared, declare

pytestmark = pytest.mark.program

CLASS = "kubernetes:cloud.google.com/v1:ComputeClass"
POLICY = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
BINDING = f"{POLICY}Binding"
MAP = "kubernetes:core/v1:ConfigMap"
BIG = {"name": "l4big", "machine": "g2-standard-16", "capacity": "spot", "maxNodes": 4}
CHAIN = {**L4, "fallback": [{"pool": "l4big"}, {"onDemand": {"maxNodes": 2}}]}
OUTSIDE = {"name": "own", "machine": "g2-standard-4", "maxNodes": 1, "gcp": {"computeClass": False}}
IN_EXISTING = in_existing(WITH_TWIN, fallback={"mode": "compute-class"})


def of_class(declared: Declared) -> dict[str, Any]:
    (resource,) = declared.of(CLASS).values()
    return resource.inputs


def policies(declared: Declared) -> list[str]:
    return [policy.inputs["metadata"]["name"] for policy in declared.of(POLICY).values()]


def test_the_class_has_a_rule_a_pool_in_the_order_of_growth_and_always_says_what_else() -> None:
    declared = declare(stack(GENERAL, CHAIN, BIG))
    compute_class = of_class(declared)
    assert compute_class["metadata"] == {"name": "kubeflow-spot", "labels": names.labels("test")}
    assert compute_class["spec"] == {
        "priorities": [{"nodepools": ["l4"]}, {"nodepools": ["l4big"]}, {"nodepools": ["l4od"]}],
        "whenUnsatisfiable": "DoNotScaleUp",
        "activeMigration": {"optimizeRulePriority": False},
        "nodePoolAutoCreation": {"enabled": False},
    }
    assert declared.outputs["fallbackOrder"] == "guaranteed by ComputeClass kubeflow-spot"
    shown = {"name": "kubeflow-spot", "pools": ["l4", "l4big", "l4od"], "byDefault": True}
    assert declared.outputs["computeClass"] == shown
    # GKE's autoscaler reads none.
    assert declared.of(MAP, "-expander") == {}
    assert declared.outputs["expander"] == []


def test_the_class_is_called_and_behaves_as_the_stack_file_says() -> None:
    fallback = {"className": "gpus", "activeMigration": True, "whenUnsatisfiable": "ScaleUpAnyway"}
    compute_class = of_class(declare(stack(WITH_TWIN, cloud={"fallback": fallback})))
    assert compute_class["metadata"]["name"] == "gpus"
    assert compute_class["spec"]["activeMigration"] == {"optimizeRulePriority": True}
    assert compute_class["spec"]["whenUnsatisfiable"] == "ScaleUpAnyway"


def test_the_time_until_an_unused_node_goes_is_set_changed_and_removed() -> None:
    found = [
        of_class(declare(stack(WITH_TWIN, cloud={"fallback": fallback})))["spec"].get("autoscalingPolicy")
        for fallback in ({"consolidationDelayMinutes": 2}, {"consolidationDelayMinutes": 5}, {})
    ]
    assert found == [{"consolidationDelayMinutes": 2}, {"consolidationDelayMinutes": 5}, None]


def test_a_pool_that_stays_out_is_in_no_rule_and_is_a_choice_of_its_own() -> None:
    declared = declare(stack(WITH_TWIN, OUTSIDE))
    assert of_class(declared)["spec"]["priorities"] == [{"nodepools": ["l4"]}, {"nodepools": ["l4od"]}]
    (policy,) = declared.of(POLICY, "compute-class-policy").values()
    (chosen,) = (c["expression"] for c in policy.inputs["spec"]["matchConditions"] if c["name"] == "has-not-chosen")
    assert '["l4", "l4od"]' in chosen


def test_the_policy_is_for_all_namespaces_but_kube_system_and_comes_after_the_class() -> None:
    declared = declare(stack(WITH_TWIN))
    assert "kubeflow-spot-test-compute-class" in policies(declared)
    (policy,) = declared.of(POLICY, "compute-class-policy").values()
    assert policy.inputs["spec"]["matchConstraints"]["namespaceSelector"] == {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}]
    }
    # Most pods ask for no GPU, and are done with at the first.
    assert policy.inputs["spec"]["matchConditions"][0]["name"] == "asks-for-a-gpu"
    (binding,) = declared.of(BINDING, "compute-class-binding").values()
    assert {urn.split("::")[-1] for urn in binding.options["dependencies"]} >= {
        "lab-compute-class",
        "lab-compute-class-policy",
    }


@pytest.mark.parametrize(
    ("pools", "top"),
    [
        ([L4], {}),
        ([WITH_TWIN], {"cloud": {"fallback": {"mode": "affinity"}}}),
        ([WITH_TWIN], {"release": "r2026-09"}),
        ([WITH_TWIN], {"scheduling": {"enabled": False}}),
        ([GENERAL], {"cloud": {"fallback": {"mode": "compute-class"}}}),
    ],
    ids=["no-fallback", "affinity", "before-1.36", "no-policies", "no-gpus"],
)
def test_without_a_class_pools_are_plain_and_the_outputs_say_what_would_make_an_order(
    pools: list[dict[str, Any]], top: dict[str, Any]
) -> None:
    declared = declare(stack(*pools, **top))
    assert not declared.of(CLASS)
    assert "computeClass" not in declared.outputs
    assert not [name for name in policies(declared) if "compute-class" in name]
    assert declared.outputs["fallbackOrder"].startswith("not guaranteed: GKE takes what is cheapest")
    assert not [pool for pool in declared.outputs["pools"] if "cloud.google.com/compute-class" in pool["labels"]]


def test_what_is_published_for_pods_with_gpus_asks_for_the_class() -> None:
    snippets = declare(stack(GENERAL, WITH_TWIN, OUTSIDE)).outputs["contract"]["snippets"]
    selectors = {
        name: lines.get("nodeSelector", {}).get("cloud.google.com/compute-class") for name, lines in snippets.items()
    }
    asking = ("gpu-prefer-spot", "gpu-require-spot", "gpu-on-demand", "pool-l4", "pool-l4od")
    assert selectors == dict.fromkeys(asking, "kubeflow-spot") | {"pool-general": None, "pool-own": None}
    for name in ("gpu-prefer-spot", "pool-l4"):
        keys = [toleration["key"] for toleration in snippets[name]["tolerations"]]
        assert keys == ["cloud.google.com/compute-class", "cloud.google.com/gke-spot", "nvidia.com/gpu"]


def test_our_daemon_sets_tolerate_the_class() -> None:
    declared = declare(stack(WITH_TWIN, dcgmExporter={"enabled": True}, cloud={"monitoring": {"components": []}}))
    (exporter,) = declared.of("kubernetes:apps/v1:DaemonSet").values()
    tolerations = exporter.inputs["spec"]["template"]["spec"]["tolerations"]
    assert "cloud.google.com/compute-class" in [toleration["key"] for toleration in tolerations]


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the objects in the cluster, as fields of `Contents`; to be changed before the run."""
    contents: dict[str, Any] = {"version": "1.36.2-gke.100"}

    def read(kubeconfig: str, what: str, compute_class: str | None = None) -> Contents:
        assert compute_class == "kubeflow-spot"
        return Contents(**contents)

    monkeypatch.setattr(discovery, "read_contents", read)
    return contents


@pytest.mark.parametrize(
    ("labels", "owner"), [({}, "another owner"), (names.labels("blue"), "stack 'blue' of this program")]
)
def test_a_class_of_that_name_that_is_not_ours_is_an_error_with_the_way_out(
    labels: dict[str, str], owner: str, contents: dict[str, Any]
) -> None:
    contents["compute_class"] = {"metadata": {"name": "kubeflow-spot", "labels": labels}}
    with pytest.raises(pulumi.RunError, match=rf"cloud\.fallback\.className: .*made by {owner}\n.*className"):
        declare(IN_EXISTING, live=[])


def test_our_own_class_is_declared_again(contents: dict[str, Any]) -> None:
    contents["compute_class"] = {"metadata": {"name": "kubeflow-spot", "labels": names.labels("test")}}
    declared = declare(IN_EXISTING, live=[])
    assert of_class(declared)["metadata"]["name"] == "kubeflow-spot"
    assert declared.outputs["computeClass"]["byDefault"] is True


def test_a_cluster_below_1_36_has_the_class_and_no_policy_and_says_what_is_lost(
    contents: dict[str, Any], warnings: list[str]
) -> None:
    contents["version"] = "1.35.6-gke.100"
    declared = declare(IN_EXISTING, live=[])
    assert of_class(declared)["spec"]["priorities"]
    assert policies(declared) == []
    assert declared.outputs["computeClass"]["byDefault"] is False
    (lost,) = (text for text in warnings if "asks for ComputeClass" in text)
    assert "nodeSelector cloud.google.com/compute-class: kubeflow-spot" in lost
