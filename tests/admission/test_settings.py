"""Settings of the guard in force on a real API server: each is set, changed, and taken out again."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.tests.api import Object, Refused
from sandbox.tests.subjects import DEV
from tests.admission.additions import PREFERRED
from tests.admission.bed import Bed
from tests.admission.corpus import corpus
from tests.admission.escapes import (
    ARGO,
    GPU,
    SETTINGS,
    SPOT,
    TOLERANT,
    WITH_SETTINGS,
    Escape,
    claim,
    claiming,
    pod,
    verdict,
    with_metadata,
)
from tests.admission.neighbours import CRITICAL, affinity
from tests.admission.posting import anew

pytestmark = [
    pytest.mark.engine,
    pytest.mark.usefixtures("editor"),
    # The policies are the same text in both clouds but for the names of taints and labels.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

BY_RULES: dict[str, list[str] | None] = {
    # Left out, as in stack files of before.
    "usual": None,
    "spot": ["tolerates-spot"],
    "named": ["node-name"],
    "neighbours": ["priority", "system-pool", "other-namespaces"],
}
"""The rules of an exception, by the label of its pods."""

_REASON = {"namespace": "team-a", "reason": "a restart costs a minute"}
_EXCEPTIONS = [
    {**_REASON, "selector": {"app": app}, **({"rules": rules} if rules else {})} for app, rules in BY_RULES.items()
]
_FIRST = SETTINGS | {"exceptions": [*SETTINGS["exceptions"], *_EXCEPTIONS]}
_CHANGED = {
    "exceptions": [{**_EXCEPTIONS[0], "rules": ["requires-spot"]}],
    "pipelineNamespaces": ["kubeflow-system"],
    "deviceClasses": ["mig.nvidia.com", "gpu.example.com"],
}


_STAGES: dict[str, dict[str, Any] | None] = {"set": _FIRST, "changed": _CHANGED, "removed": None}


@pytest.fixture(scope="module")
def stage(bed: Bed, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """Yield the cluster with the settings of a stage in force; `removed` comes after the others."""
    guard = _STAGES[request.param]
    if guard is None:
        yield bed
        return
    with bed.otherwise(tmp_path_factory.mktemp(request.param), scheduling={"guard": guard}):
        yield bed


def at(name: str) -> pytest.MarkDecorator:
    """Return the mark that sets the stage of a test."""
    return pytest.mark.parametrize("stage", [name], indirect=True, scope="module")


def breaking(bed: Bed, app: str) -> dict[str, Object]:
    """Return pods with this label by the rules that they break."""
    node = min(bed.pools())
    label = {"app": app}
    spot = {"nodeSelector": {"kubeflow-spot.dev/capacity": "spot"}}
    return {
        "tolerates-spot": pod("a", labels=label, **TOLERANT),
        "requires-spot": pod("b", labels=label, **spot),
        "tolerates-gpu": pod("c", labels=label, tolerations=[GPU]),
        "node-name": pod("d", labels=label, nodeName=node),
        "tolerates-spot, node-name": pod("e", labels=label, nodeName=node, **TOLERANT),
        "priority": pod("f", labels=label, priorityClassName="system-cluster-critical"),
        "system-pool": pod("g", labels=label, tolerations=[CRITICAL]),
        "other-namespaces": pod("h", labels=label, **affinity("podAntiAffinity", namespaceSelector={})),
    }


def refused(bed: Bed, app: str) -> dict[str, str]:
    """Return the rule that refuses, by the rules that a pod breaks; without admitted pods."""
    found = {name: verdict(bed, body) for name, body in breaking(bed, app).items()}
    return {name: rule for name, rule in found.items() if rule}


_USUAL = {name: name for name in ("tolerates-spot", "requires-spot", "tolerates-gpu")}
_NEIGHBOURS = {name: name for name in ("priority", "system-pool", "other-namespaces")}
_ALL = _USUAL | {"node-name": "node-name"} | _NEIGHBOURS
_BOTH = "tolerates-spot, node-name"


@at("set")
@pytest.mark.parametrize(
    ("app", "holding"),
    [
        ("usual", {"node-name": "node-name", _BOTH: "node-name"} | _NEIGHBOURS),
        ("spot", {name: rule for name, rule in _ALL.items() if name != "tolerates-spot"} | {_BOTH: "node-name"}),
        ("named", {name: rule for name, rule in _ALL.items() if name != "node-name"} | {_BOTH: "tolerates-spot"}),
        ("neighbours", _USUAL | {"node-name": "node-name", _BOTH: "tolerates-spot"}),
        ("other", _ALL | {_BOTH: "tolerates-spot"}),
    ],
)
def test_an_exception_lifts_the_rules_that_it_names_and_no_others(
    stage: Bed, app: str, holding: dict[str, str]
) -> None:
    assert refused(stage, app) == holding


def step(**spec: Any) -> Object:
    """Return a step of a single-user Kubeflow Pipelines, with a GPU."""
    golden = corpus()["kfp-executor-single-user"]
    body = anew(golden.object, golden.namespace)
    del body["spec"]["serviceAccountName"]
    return {**body, "spec": body["spec"] | spec}


def movement(bed: Bed, body: Object) -> str:
    """Return the node affinity that a pod of Argo's gets."""
    affinity = bed.api.create(body, user=ARGO, dry_run=True)["spec"].get("affinity", {}).get("nodeAffinity", {})
    return ", ".join(affinity)


@at("set")
@pytest.mark.parametrize(
    ("body", "user", "rule"),
    [
        # The GKE tutorial of 2020 (kubeflow/pipelines, standalone deployment) runs its steps in the namespace `kubeflow`.
        (step(tolerations=[SPOT]), ARGO, ""),
        (step(tolerations=[SPOT], restartPolicy="Always"), ARGO, "tolerates-spot"),
        # Of no workflow.
        (with_metadata(step(tolerations=[SPOT]), labels={}), ARGO, "tolerates-spot"),
        (step(nodeName="aks-t4"), ARGO, "node-name"),
        (claim("gpu.nvidia.com"), None, ""),
        (claim("gpu.nvidia.com", template=True), None, ""),
        (claiming(), None, ""),
        (pod("none", restart="Never", tolerations=[GPU]), None, "tolerates-gpu"),
    ],
)
def test_steps_of_pipelines_and_claims_pass_as_the_stack_file_says(
    stage: Bed, body: Object, user: str | None, rule: str
) -> None:
    assert verdict(stage, body, user) == rule


@at("set")
def test_steps_of_pipelines_in_the_platforms_namespace_prefer_spot(stage: Bed) -> None:
    assert movement(stage, step()) == PREFERRED


@at("set")
@pytest.mark.parametrize("escape", WITH_SETTINGS, ids=lambda escape: escape.name)
def test_every_way_with_settings_is_stopped_or_let_through_for_a_reason(stage: Bed, escape: Escape) -> None:
    assert escape.tries(stage) == escape.by


def test_a_device_class_of_nvidias_asked_for_as_a_resource_is_a_gpu(bed: Bed) -> None:
    body = pod("as-resource", restart="Never", tolerations=[GPU])
    limits = {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": "1"}
    body["spec"]["containers"][0]["resources"] = {"limits": limits}
    assert verdict(bed, body) == ""


@at("changed")
def test_changed_settings_are_in_force(stage: Bed) -> None:
    assert refused(stage, "usual") == {name: rule for name, rule in _ALL.items() if name != "requires-spot"} | {
        _BOTH: "tolerates-spot"
    }
    assert verdict(stage, step(tolerations=[SPOT]), ARGO) == "tolerates-spot"
    assert verdict(stage, anew(step(tolerations=[SPOT]), "kubeflow-system"), ARGO) == ""
    assert movement(stage, step()) == ""
    with pytest.raises(Refused, match=r"mig\.nvidia\.com, gpu\.example\.com"):
        stage.api.create(claim(), dry_run=True)


@at("removed")
def test_without_the_settings_every_rule_holds_again(stage: Bed) -> None:
    assert refused(stage, "usual") == _ALL | {_BOTH: "tolerates-spot"}
    assert verdict(stage, step(tolerations=[SPOT]), ARGO) == "tolerates-spot"
    assert movement(stage, step()) == ""
    assert verdict(stage, claiming()) == "tolerates-gpu"
    assert verdict(stage, claim()) == ""
