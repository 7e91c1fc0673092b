"""Each rule on plain inputs."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import proxy

from policy.azure import azure_pools as azure
from policy.declared import UNKNOWN, Declared, unversioned
from policy.declared import plain as plain_of
from policy.gcp import gcp_pools as gcp
from policy.rule import Finding, Rule
from policy.rules import RULES
from tests.policy import cases
from tests.policy.cases import BREAKING, CASES, KEEPING, Case

PROJECT = Path(__file__).resolve().parents[2]
BY_NAME = {rule.name: rule for rule in RULES}


def plain(written: Any) -> Any:
    """Return the inputs as a rule sees them: secrets in clear text."""
    if written == cases.UNKNOWN:
        return UNKNOWN
    if isinstance(written, dict):
        return plain(written["secret"]) if set(written) == {"secret"} else {k: plain(v) for k, v in written.items()}
    return [plain(inner) for inner in written] if isinstance(written, list) else written


def declared(case: Case) -> Declared:
    return Declared(case.type, plain(case.inputs), case.protect)


NAMED = {case.name: case for case in CASES}
AUDITED = declared(NAMED["logs-missing-aks"])


def findings(resource: Declared, rule: Rule, **settings: Any) -> list[Finding]:
    """Return the findings in one resource of a stack that keeps the audit logs of its clusters."""
    of_stack = rule.stack_findings([AUDITED, resource], settings)
    return [*rule.findings(resource, settings), *(finding for declared, finding in of_stack if declared is resource)]


def broken_paths(case: Case, rule: Rule, **settings: Any) -> list[str]:
    return [finding.path for finding in findings(declared(case), rule, **settings)]


def names(chosen: tuple[Case, ...]) -> list[str]:
    return [case.name for case in chosen]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_a_resource_breaks_its_rule_by_that_input_and_no_other_rule(case: Case) -> None:
    expected = {case.rule: [case.breaks]} if case.breaks else {}
    assert {rule.name: paths for rule in RULES if (paths := broken_paths(case, rule))} == expected


def test_every_rule_has_a_resource_that_breaks_it_and_one_that_keeps_it() -> None:
    assert {case.rule for case in BREAKING} == {case.rule for case in KEEPING} == set(BY_NAME)
    assert len({case.name for case in CASES}) == len(CASES)


NO_COUNTERPART = {
    "cluster-unprotected-a-pool": "the rule is about clusters",
    "pool-unbounded-aks-fixed": "Karpenter has no pools of constant size",
    "pool-unbounded-aks-fixed-far": "Karpenter has no pools of constant size",
    "public-nodes-aks": "an AKSNodeClass gives no node a public address",
    "public-nodes-aks-private": "an AKSNodeClass gives no node a public address",
}
"""Cases of agent pools that node auto-provisioning has no counterpart of."""


def test_each_case_of_an_agent_pool_has_its_counterpart_of_karpenter_with_the_same_verdict() -> None:
    agent_pools = {case.name: bool(case.breaks) for case in CASES if case.resource == "AgentPool"}
    counterparts = {
        name: NAMED.get(name.replace("-aks", "-nap", 1)) for name in agent_pools if name not in NO_COUNTERPART
    }
    verdicts = {name: case and (case.resource, bool(case.breaks)) for name, case in counterparts.items()}
    kinds = {name: "KarpenterClass" if name.startswith("owner") else "KarpenterPool" for name in counterparts}
    assert verdicts == {name: (kinds[name], agent_pools[name]) for name in counterparts}
    assert NO_COUNTERPART.keys() <= agent_pools.keys()


def test_what_a_preview_does_not_know_arrives_as_unknown() -> None:
    properties = {
        "a": [{"b": proxy.UNKNOWN_STRING_VALUE, "c": 1}, proxy.UNKNOWN_OBJECT_VALUE],
        "d": proxy.UNKNOWN_ARRAY_VALUE,
    }
    assert plain_of(proxy.unknown_checking_proxy(properties)) == {"a": [{"b": UNKNOWN, "c": 1}, UNKNOWN], "d": UNKNOWN}


def each_unknown(value: Any) -> Iterator[Any]:
    """Yield the value with one part after the other not known."""
    yield UNKNOWN
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: other} for other in each_unknown(inner))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in each_unknown(inner))


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_what_is_not_known_breaks_no_rule_that_was_kept_and_no_rule_fails_on_it(case: Case) -> None:
    allowed = {case.rule} if case.breaks else set()
    for inputs in each_unknown(plain(case.inputs)):
        if isinstance(inputs, dict):
            partly = Declared(case.type, inputs, case.protect)
            assert {rule.name for rule in RULES if findings(partly, rule)} <= allowed, inputs


def input_of(case: Case) -> str:
    """Return the name of the input that breaks the rule."""
    return re.split(r"[.\[]", case.breaks or "")[0]


STATED = tuple(case for case in BREAKING if input_of(case) in case.inputs)
"""Those that break a rule by what they say, and not by what they leave out."""


@pytest.mark.parametrize("case", STATED, ids=names(STATED))
def test_an_input_that_is_not_known_is_not_what_breaks_a_rule(case: Case) -> None:
    inputs = {**plain(case.inputs), input_of(case): UNKNOWN}
    assert findings(Declared(case.type, inputs, case.protect), BY_NAME[case.rule]) == []


def test_a_message_repeats_no_value() -> None:
    # The engine gives secrets in clear text and unmarked.
    hidden = NAMED["image-without-digest-hidden"]
    (finding,) = BY_NAME[hidden.rule].findings(declared(hidden))
    assert "b:1" not in str(finding)


@pytest.mark.parametrize(
    ("name", "settings", "paths"),
    [
        ("pool-unbounded-aks-far", {"maxNodes": 101}, []),
        ("pool-unbounded-aks-near", {"maxNodes": 99}, ["maxCount"]),
        ("owner-missing-gke-labels", {"names": ["cost-center"]}, ["nodeConfig.resourceLabels"]),
        # Names without regard to case, as in Azure
        ("owner-missing-gke-labels", {"names": ["Owner"]}, []),
    ],
)
def test_a_rules_settings_are_for_the_packs_user_to_say(name: str, settings: dict[str, Any], paths: list[str]) -> None:
    assert broken_paths(NAMED[name], BY_NAME[NAMED[name].rule], **settings) == paths


def rbac(
    kind: str, name: Any, role: str = "cluster-admin", namespace: str | None = None, of: str = "ClusterRole"
) -> Declared:
    """Return a ClusterRole with every right, or a binding of a role for everybody and for a workload."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    subjects = [{"kind": "Group", "name": "system:authenticated"}, {"kind": "ServiceAccount", "name": "argocd"}]
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    binding = {"roleRef": {"kind": of, "name": role}, "subjects": subjects}
    return Declared(
        f"kubernetes:rbac.authorization.k8s.io/v1:{kind}", {"metadata": metadata, "rules": rules, **binding}
    )


@pytest.mark.parametrize(
    ("resource", "broken"),
    [
        (rbac("ClusterRole", "argocd-server"), {"broad-role"}),
        (rbac("ClusterRoleBinding", "argocd-server"), {"broad-role", "role-for-everybody"}),
        (rbac("ClusterRoleBinding", "argocd-server", "view"), {"role-for-everybody"}),
        (rbac("RoleBinding", "argocd", namespace="kube-system"), {"broad-role", "role-for-everybody"}),
        (rbac("RoleBinding", "view", "view"), {"role-for-everybody"}),
    ],
)
@pytest.mark.parametrize(
    ("allowed", "kept"),
    [
        ([], False),
        (["argocd-*", "kube-system/argocd", "default/view"], True),
        (["other-*", "argocd", "kube-system/a", "cluster-admin", "view"], False),
        # An object of the cluster is in no namespace, and an object of a namespace is none of the cluster.
        (["*/*", "argocd-server/*"], None),
    ],
)
def test_the_names_of_objects_with_broad_rights_are_for_the_packs_user_to_say(
    resource: Declared, broken: set[str], allowed: list[str], kept: bool | None
) -> None:
    if kept is None:
        kept = resource.type.endswith(":RoleBinding")
    rules = [BY_NAME[name] for name in ("broad-role", "role-for-everybody")]
    assert {rule.name for rule in rules if rule.findings(resource, {"allowed": allowed})} == (set() if kept else broken)
    # Removed again
    assert {rule.name for rule in rules if rule.findings(resource)} == broken


def test_a_name_that_is_not_known_may_be_one_of_those_allowed() -> None:
    for rule in ("broad-role", "role-for-everybody"):
        for resource in (
            rbac("ClusterRoleBinding", UNKNOWN),
            rbac("RoleBinding", UNKNOWN, namespace="kube-system"),
        ):
            assert BY_NAME[rule].findings(resource)
            assert BY_NAME[rule].findings(resource, {"allowed": ["argocd-*"]}) == []


ISSUER = "system:service-account-issuer-discovery"


@pytest.mark.parametrize(
    ("resource", "settings", "kept"),
    [
        (rbac("ClusterRoleBinding", "a", ISSUER), {}, True),
        (rbac("RoleBinding", "a", ISSUER), {}, True),
        # The role counts, not the binding's name; and a namespace may have a Role of that name.
        (rbac("ClusterRoleBinding", ISSUER, "view"), {}, False),
        (rbac("RoleBinding", "a", ISSUER, of="Role"), {}, False),
        (rbac("ClusterRoleBinding", "a", ISSUER), {"roles": []}, False),
        (rbac("ClusterRoleBinding", "a", ISSUER), {"roles": ["system:public-*"]}, False),
        (rbac("ClusterRoleBinding", "a", "system:public-info-viewer"), {"roles": ["system:public-*"]}, True),
    ],
)
def test_the_roles_that_everybody_may_have_are_for_the_packs_user_to_say(
    resource: Declared, settings: dict[str, Any], kept: bool
) -> None:
    assert (BY_NAME["role-for-everybody"].findings(resource, settings) == []) is kept
    assert BY_NAME["broad-role"].findings(rbac("ClusterRoleBinding", "a"), {"roles": ["*"]})


def machines(cloud: str) -> list[dict[str, str]]:
    with (PROJECT / "config" / "clouds" / cloud / "machines.csv").open() as file:
        return list(csv.DictReader(file))


def test_names_of_machines_show_nvidia_gpus() -> None:
    # The names are read, and the catalogue is a list of sizes from elsewhere.
    sizes = {row["size"]: row["gpu_model"].startswith("nvidia") for row in machines("azure")}
    assert {size: azure.has_nvidia(size) for size in sizes} == sizes
    types = {row["machine_type"]: bool(row["gpus_fixed"]) for row in machines("gcp")}
    assert {name: gcp.has_nvidia({"machineType": name}) is not None for name in types} == types


def test_a_resource_of_any_version_of_azures_api_is_read() -> None:
    for version in ("", "/v20250901"):
        assert unversioned(f"azure-native:containerservice{version}:AgentPool") == azure.POOL
    assert unversioned("azure-native_containerservice_v20260501:containerservice:AgentPool") == azure.POOL


AKS = Declared(cases.TYPES["ManagedCluster"], plain(cases.good("ManagedCluster")), urn="first")


@pytest.mark.parametrize(
    ("log", "needs", "kept"),
    [
        ({"category": "kube-audit", "enabled": True}, [], True),
        ({"category": "Kube-Audit-Admin", "enabled": True}, ["first"], True),
        ({"categoryGroup": "allLogs", "enabled": True}, [], True),
        (UNKNOWN, [], True),
        ({"category": "kube-audit", "enabled": False}, [], False),
        # In a preview the provider does not know what was not declared.
        ({"category": "guard", "categoryGroup": UNKNOWN, "enabled": True}, [], False),
        ({"category": UNKNOWN, "categoryGroup": "audit", "enabled": True}, [], True),
        # Of another cluster
        ({"category": "kube-audit", "enabled": True}, ["second"], False),
    ],
)
def test_the_audit_log_of_an_aks_cluster_is_kept_by_its_diagnostic_setting(
    log: Any, needs: list[str], kept: bool
) -> None:
    second = Declared(cases.TYPES["ManagedCluster"], urn="second")
    setting = Declared(cases.TYPES["DiagnosticSetting"], {"logs": [log]}, needs=frozenset(["a group", *needs]))
    broken = BY_NAME["logs-missing"].stack_findings([setting, second, AKS])
    assert ("first" not in {declared.urn for declared, _ in broken}) is kept
    assert [declared.urn for declared, _ in BY_NAME["logs-missing"].stack_findings([AKS])] == ["first"]
