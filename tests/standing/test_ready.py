"""`ready` on a stack that is up: the recorded clusters are like it, and a reader with the documented rights sees all of it."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from checks import stack as stacks
from checks.findings import Exit, State, exit_status
from checks.ready import judge, reader
from checks.ready.checks import declared
from checks.ready.snapshot import PATHS
from sandbox.tests.api import Api, Refused
from sandbox.tests.stack import PROJECT, Standing, until
from sandbox.tests.subjects import Subject
from tests.checks.ready.clusters import load, snapshot
from tests.checks.ready.test_findings import bad

pytestmark = pytest.mark.engine

ROLES = PROJECT / "examples" / "roles"
READER = "system:serviceaccount:default:ready"


@pytest.fixture
def as_reader(stack: Standing) -> Iterator[Any]:
    """Return a client as a user with the rights of the example and no others."""
    role = yaml.safe_load((ROLES / "ready.yaml").read_text())
    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "ready"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role["metadata"]["name"]},
        "subjects": [{"kind": "User", "name": READER, "apiGroup": group}],
    }
    api = Api(stack._plane())
    for body in (role, binding):
        api.create(body)
    reads = config.new_client_from_config(str(stack._plane().admin_kubeconfig))
    reads.set_default_header("Impersonate-User", READER)
    with reads:
        yield reads
    for body in (binding, role):
        api.delete(body)
    api.close()


def test_a_stack_that_is_up_is_ready_and_as_its_file_says(stack: Standing, subject: Subject) -> None:
    more = [declared.declared_check(stacks.read_spec(PROJECT, subject.name), subject.name)]
    # The autoscaler's status follows the nodes within a second.
    assert until(lambda: bad(judge.findings(snapshot(stack), more)) == [])
    found = judge.findings(snapshot(stack), more)
    assert bad(found) == []
    assert exit_status(found) == Exit.READY
    live, recorded = snapshot(stack), load(subject.name)
    for part in ("validatingPolicies", "validatingBindings", "mutatingPolicies", "storageClasses", "daemonSets"):
        names = [{item["metadata"]["name"] for item in taken.parts[part]} for taken in (live, recorded)]
        assert names[0] == names[1], "record anew: python -m tests.checks.ready.clusters"


def test_a_real_defect_is_named_and_nothing_else(stack: Standing) -> None:
    api = Api(stack._plane())
    (node, *_) = (n for n in api.list("v1", "Node") if n["metadata"]["labels"]["kubeflow-spot.dev/pool"] == "general")
    node |= {"apiVersion": "v1", "kind": "Node"}
    label = "kubeflow-spot.dev/capacity"
    api.patch(node, {"metadata": {"labels": {label: "reserved"}}})
    try:
        found = bad(judge.findings(snapshot(stack)))
        assert {(finding.check, finding.state) for finding in found} == {("pools", State.WRONG)}
        assert f"{node['metadata']['name']} of pool general lacks the label {label}=on-demand" in found[0].says
    finally:
        api.patch(node, {"metadata": {"labels": {label: "on-demand"}}})
        api.close()


def test_a_budget_that_allows_no_eviction_and_two_for_one_pod_are_named_as_the_api_server_judges_them(
    stack: Standing,
) -> None:
    api = Api(stack._plane())
    metadata = {"name": "web", "namespace": "default"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata | {"labels": {"app": "web"}}}
    pod["spec"] = {"containers": [{"name": "main", "image": "example.com/web:1"}]}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    budgets: list[dict[str, Any]] = [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}},
        }
        for name, least in (("one", 1), ("other", 0))
    ]

    def evicted() -> int:
        with pytest.raises(Refused) as refused:
            api.request("POST", "/api/v1/namespaces/default/pods/web/eviction", eviction)
        return refused.value.status

    def named(says: str) -> bool:
        found = bad(judge.findings(snapshot(stack)))
        return [(finding.check, says in finding.says) for finding in found][:1] == [("budgets", True)]

    api.create(pod)
    api.create(budgets[0])
    assert until(lambda: named("PodDisruptionBudget default/one (minAvailable: 1) allows no eviction of its 1 pods"))
    assert evicted() == 429
    api.delete(budgets[0])
    for budget, least in zip(budgets, (0, 0), strict=True):
        budget["spec"]["minAvailable"] = least
        api.create(budget)
    assert until(
        lambda: named("default/web: covered by more than one PodDisruptionBudget (default/one, default/other)")
    )
    assert evicted() == 500
    for body in (*budgets, pod):
        api.delete(body)
    api.close()


def test_the_documented_rights_show_everything_and_no_rights_show_nothing(as_reader: Any) -> None:
    assert until(lambda: reader.read_snapshot(as_reader).unseen == {})
    as_reader.set_default_header("Impersonate-User", "system:serviceaccount:default:nobody")
    unseen = reader.read_snapshot(as_reader).unseen
    assert unseen.keys() >= PATHS.keys() - {"version", "admission"}
    assert set(unseen.values()) == {"403 Forbidden"}
    assert isinstance(as_reader, client.ApiClient)


def test_the_readers_role_is_taken(stack: Standing) -> None:
    role = yaml.safe_load((ROLES / "reader.yaml").read_text())
    api = Api(stack._plane())
    api.create(role)
    api.delete(role)
    api.close()
