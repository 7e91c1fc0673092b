"""What the rules for pods of others keep away, shown where no rule holds; and the quotas below them, which hold alone."""

from pathlib import Path
from typing import Any

import pytest

from components.layer.scheduling import quota
from config.model.scheduling import Guard, GuardRule, Profile
from sandbox.tests.api import Object, Refused
from sandbox.tests.stack import eventually
from tests.admission.bed import Bed
from tests.admission.escapes import EDITOR, NAMESPACE, QUOTA, named, pod
from tests.admission.neighbours import (
    CRITICAL,
    FREE,
    OTHER,
    SYSTEM,
    TAINT,
    affinity,
    decided,
    elsewhere,
    gone_afterwards,
    lands,
    limited,
    quota_body,
    system_pool,
)
from tests.admission.operators import present

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("editor")]


def large(name: str, namespace: str, **spec: Any) -> Object:
    """Return a pod for the system pool's nodes; no two of them fit on one."""
    body = elsewhere(pod(name, **SYSTEM, **spec), namespace, name)
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    return body


def attacks() -> dict[str, Object]:
    """Return a pod for each rule that a net lies below."""
    return {
        GuardRule.PRIORITY: pod("attack", restart="Never", priorityClassName="system-cluster-critical"),
        GuardRule.OTHER_NAMESPACES: pod("attack", restart="Never", **affinity("podAntiAffinity", namespaceSelector={})),
    }


def test_a_system_class_takes_the_place_of_another_teams_pod(bed: Bed) -> None:
    nodes = [node for node, pool in bed.pools().items() if pool == "system"]
    others = [large(f"other-{number}", OTHER) for number in range(len(nodes))]
    attacker = large("attack", FREE, priorityClassName="system-cluster-critical")
    with gone_afterwards(bed, attacker, *others):
        assert {lands(bed, body) for body in others} == set(nodes)
        assert decided(bed, large("attack", FREE)) == "pending"
        bed.api.delete(attacker)
        bed.api.create(attacker)
        eventually(lambda: len(_present(bed, others)) < len(others), "a pod of the other team is preempted")


def test_the_system_pools_toleration_takes_room_that_is_for_the_platform(bed: Bed) -> None:
    with system_pool(bed, taints=[TAINT]) as nodes:
        for tolerations, expected in (([], {"pending"}), ([CRITICAL], nodes)):
            body = elsewhere(pod("attack", tolerations=tolerations, **SYSTEM), FREE, "attack")
            with gone_afterwards(bed, body):
                assert decided(bed, body) in expected


def test_an_anti_affinity_to_all_namespaces_keeps_other_teams_off_the_whole_cluster(bed: Bed) -> None:
    attacker = elsewhere(pod("attack", **affinity("podAntiAffinity", namespaceSelector={})), FREE, "attack")
    other = elsewhere(pod("neighbour"), OTHER, "neighbour")
    with gone_afterwards(bed, attacker, other):
        lands(bed, attacker)
        assert decided(bed, other) == "pending"


@pytest.mark.parametrize("rule", attacks())
def test_each_net_holds_without_the_guard(bed: Bed, rule: str) -> None:
    profile = Profile(namespace=FREE)
    nets = [quota_body(body) for _, net, body in quota.nets([profile], Guard(), "net") if net == rule]
    body = elsewhere(attacks()[rule], FREE, "attack")
    bed.api.create(body, dry_run=True)
    with limited(bed, *nets):
        with pytest.raises(Refused) as refused:
            bed.api.create(body, dry_run=True)
        assert named(refused.value) == QUOTA
        assert f"kubeflow-spot-net-{rule}" in refused.value.message
        bed.api.create(elsewhere(pod("plain", restart="Never"), FREE, "plain"), dry_run=True)
    bed.api.create(body, dry_run=True)


@pytest.mark.parametrize("rule", attacks())
def test_the_guard_holds_without_a_net_and_speaks_first_above_one(bed: Bed, tmp_path: Path, rule: str) -> None:
    def refusal() -> str:
        with pytest.raises(Refused) as refused:
            bed.api.create(attacks()[rule], user=EDITOR, dry_run=True)
        return named(refused.value)

    assert not bed.api.list("v1", "ResourceQuota", NAMESPACE)
    assert refusal() == f"guard, rule `{rule}`"
    with bed.otherwise(tmp_path, scheduling={"profiles": [{"namespace": NAMESPACE}]}):
        assert len(bed.api.list("v1", "ResourceQuota", NAMESPACE)) == len(attacks())
        assert refusal() == f"guard, rule `{rule}`"
        bed.api.create(pod("plain"), user=EDITOR, dry_run=True)


def _present(bed: Bed, bodies: list[Object]) -> list[Object]:
    """Return those pods that nobody has deleted."""
    names = {body["metadata"]["name"] for body in bodies}
    return [pod for pod in present(bed, OTHER) if pod["metadata"]["name"] in names]
