"""Running operations: their marks, the requests that they block, their end after a kill or a deletion; and the rate of PUTs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.azure.azure_operations import Throttle
from sandbox.cloud.provider import Refused

from .conftest import CLUSTER, CLUSTER_INPUTS, POOL, REGULAR, SPOT, Account, Clock, Props, refusal


def during(account: Account, call: str, act: Callable[[], None]) -> None:
    """Do something while the next call of this name to the runtime is under way."""

    def once(name: str) -> None:
        if name == call:
            account.runtime.before = lambda name: None
            act()

    account.runtime.before = once


def killed_at(account: Account, call: str) -> None:
    def die() -> None:
        raise KeyboardInterrupt

    during(account, call, die)


def state(account: Account, id: str) -> str:
    record = account.cloud.get(id)
    return record["provisioningState"] if record else "gone"


def second(account: Account, act: Callable[[], object]) -> str:
    """The refusal of a second operation."""
    refused = refusal(act)
    assert (refused.status, refused.code) == (409, "OperationNotAllowed")
    return refused.message.partition("(")[2].partition(")")[0]


def test_second_operation_waits_for_nobody(ready: Account) -> None:
    cpu = ready.create(POOL, REGULAR)
    cluster = cpu.id.partition("/agentPools/")[0]
    seen: list[str] = []

    def look() -> None:
        seen.append(state(ready, cpu.id))
        seen.append(second(ready, lambda: ready.update(cpu, {**REGULAR, "count": 4})))
        seen.append(second(ready, lambda: ready.provider.delete(cpu)))
        seen.append(second(ready, lambda: ready.cloud.put(CLUSTER, cluster, {"tags": {"a": "b"}}, create=False)))

    during(ready, "apply_nodes", look)
    changed = ready.update(cpu, {**REGULAR, "count": 3})
    assert seen == ["Updating", "cpu - Updating", "cpu - Updating", "cpu - Updating"]
    assert changed.old_outputs["provisioningState"] == "Succeeded"
    assert ready.update(changed, {**REGULAR, "count": 4}).old_outputs["count"] == 4


def test_deleted_pool_exists_until_its_nodes_are_gone(ready: Account) -> None:
    cpu = ready.create(POOL, REGULAR)
    seen: list[str] = []
    during(ready, "apply_nodes", lambda: seen.append(state(ready, cpu.id)))
    ready.provider.delete(cpu)
    assert seen == ["Deleting"]
    assert ready.provider.read(cpu) is None
    assert len(ready.runtime.names()) == 1


def test_cluster_that_is_deleted_does_not_wait_for_its_pools(ready: Account) -> None:
    cpu = ready.create(POOL, REGULAR)
    cluster = cpu.id.partition("/agentPools/")[0]
    during(ready, "apply_nodes", lambda: ready.cloud.delete(cluster))
    assert refusal(ready.update, cpu, {**REGULAR, "count": 3}).code == "AKSOperationPreemptedByDelete"
    assert ready.cloud.get(cluster) is None


@pytest.mark.parametrize(("kind", "call"), [("pool", "apply_nodes"), ("cluster", "stop"), ("group", "stop")])
def test_what_could_not_be_deleted_can_be_deleted_again(ready: Account, kind: str, call: str) -> None:
    cpu = ready.create(POOL, REGULAR)
    cluster = cpu.id.partition("/agentPools/")[0]
    going = {"pool": cpu.id, "cluster": cluster, "group": cluster.partition("/providers/")[0]}[kind]

    def fail() -> None:
        raise OSError("no route to host")

    during(ready, call, fail)
    with pytest.raises(Refused, match="no route to host"):
        ready.cloud.delete(going)
    assert state(ready, cpu.id if kind == "pool" else cluster) == "Failed"
    ready.cloud.delete(going)
    assert ready.cloud.get(going) is None
    assert len(ready.runtime.names()) == (1 if kind == "pool" else 0)


@pytest.mark.parametrize("changes", [{"count": 3}, {"nodeLabels": {"a": "b"}}])
def test_kill_in_an_update_of_a_pool_blocks_nobody(ready: Account, changes: Props) -> None:
    cpu = ready.create(POOL, REGULAR)
    killed_at(ready, "apply_nodes")
    with pytest.raises(KeyboardInterrupt):
        ready.update(cpu, {**REGULAR, **changes})
    assert state(ready, cpu.id) == "Updating"
    ready.cloud.reconcile()
    assert state(ready, cpu.id) == "Succeeded"
    assert len(ready.runtime.names()) == 1 + changes.get("count", 2)
    ready.update(cpu, {**REGULAR, "count": 1})


def test_kill_in_a_deletion_of_a_pool_is_finished(ready: Account) -> None:
    cpu = ready.create(POOL, REGULAR)
    killed_at(ready, "apply_nodes")
    with pytest.raises(KeyboardInterrupt):
        ready.provider.delete(cpu)
    assert state(ready, cpu.id) == "Deleting"
    ready.cloud.reconcile()
    assert ready.provider.read(cpu) is None
    assert len(ready.runtime.names()) == 1


@pytest.mark.parametrize("moment", ["start", "apply_nodes"])
def test_kill_in_an_update_of_a_cluster_blocks_nobody(account: Account, moment: str) -> None:
    cluster = account.cluster()
    killed_at(account, moment)
    with pytest.raises(KeyboardInterrupt):
        account.update(cluster, {**CLUSTER_INPUTS, "tags": {"a": "b"}})
    assert state(account, cluster.id) == "Updating"
    account.cloud.reconcile()
    assert state(account, cluster.id) == "Succeeded"
    account.create(POOL, REGULAR)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def throttle(clock: Clock) -> Throttle:
    return Throttle(lambda: clock.now, clock.wait)


def test_twenty_are_free_and_then_one_a_minute(throttle: Throttle, clock: Clock) -> None:
    for _ in range(20):
        throttle.admit("/a")
    assert clock.waits == []
    throttle.admit("/a")
    clock.now += 15
    throttle.admit("/a")
    assert clock.waits == [60, 45]


def test_bucket_fills_again_and_never_over(throttle: Throttle, clock: Clock) -> None:
    for _ in range(20):
        throttle.admit("/a")
    clock.now += 24 * 3600
    for _ in range(20):
        throttle.admit("/a")
    assert clock.waits == []
    throttle.admit("/a")
    assert clock.waits == [60]


def test_objects_have_buckets_of_their_own(throttle: Throttle, clock: Clock) -> None:
    for _ in range(20):
        throttle.admit("/a")
        throttle.admit("/B")
    assert clock.waits == []
    throttle.admit("/b")
    assert clock.waits == [60]


def test_requests_that_are_refused_count_and_other_objects_do_not(ready: Account) -> None:
    pool = ready.create(POOL, REGULAR)
    for _ in range(18):
        pool = ready.update(pool, REGULAR)
    with pytest.raises(Exception, match="PropertyChangeNotAllowed"):
        ready.update(pool, {**REGULAR, "maxPods": 30})
    ready.create(POOL, SPOT)
    assert ready.clock.waits == []
    ready.update(pool, REGULAR)
    assert ready.clock.waits == [60]
