"""Running operations: their marks, the requests that they block, their end after a kill or a deletion; and the rate of PUTs.

`sandbox/tests/cloud/test_emulated_cloud.py` has deletions that fail or are killed.
"""

from collections.abc import Callable

import pytest

from sandbox.azure.azure_operations import Throttle
from sandbox.cloud.state import Resources, Store

from .conftest import CLUSTER, CLUSTER_INPUTS, POOL, REGULAR, SPOT, Account, Clock, Props, refusal


def state(account: Account, id: str) -> str:
    record = account.cloud.get(id)
    return record["provisioningState"] if record else "gone"


def second(account: Account, act: Callable[[], object]) -> str:
    """Return the operation that the refusal of a second one names."""
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

    ready.runtime.during(look, "apply_nodes")
    changed = ready.update(cpu, {**REGULAR, "count": 3})
    assert seen == ["Updating", "cpu - Updating", "cpu - Updating", "cpu - Updating"]
    assert changed.old_outputs["provisioningState"] == "Succeeded"
    assert ready.update(changed, {**REGULAR, "count": 4}).old_outputs["count"] == 4


def test_deleted_pool_exists_until_its_nodes_are_gone(ready: Account) -> None:
    cpu = ready.create(POOL, REGULAR)
    seen: list[str] = []
    ready.runtime.during(lambda: seen.append(state(ready, cpu.id)), "apply_nodes")
    ready.provider.delete(cpu)
    assert seen == ["Deleting"]
    assert ready.provider.read(cpu) is None
    assert len(ready.runtime.names()) == 1


def test_cluster_that_is_deleted_does_not_wait_for_its_pools(ready: Account) -> None:
    cpu = ready.create(POOL, REGULAR)
    cluster = cpu.id.partition("/agentPools/")[0]
    ready.runtime.during(lambda: ready.cloud.delete(cluster), "apply_nodes")
    assert refusal(ready.update, cpu, {**REGULAR, "count": 3}).code == "AKSOperationPreemptedByDelete"
    assert ready.cloud.get(cluster) is None


def test_state_survives_an_interrupted_write(ready: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ready.cloud.pools()

    def die(store: Store, resources: Resources) -> None:
        store._path.with_name("azure.json.new").write_text('{"format": 1, "resour')
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "_write", die)
        with pytest.raises(KeyboardInterrupt):
            ready.create(POOL, SPOT)
    assert ready.cloud.pools() == before
    ready.create(POOL, SPOT)
    assert len(ready.cloud.pools()) == 2


@pytest.mark.parametrize("moment", ["start", "apply_nodes"])
def test_a_cluster_whose_creation_was_killed_is_taken_back(account: Account, moment: str) -> None:
    account.group()
    account.runtime.fails(KeyboardInterrupt(), moment)
    with pytest.raises(KeyboardInterrupt):
        account.cluster()
    account.cloud.reconcile()
    assert account.cloud.pools() == []
    assert account.cluster().old_outputs["provisioningState"] == "Succeeded"


@pytest.mark.parametrize("changes", [{"count": 3}, {"nodeLabels": {"a": "b"}}])
def test_kill_in_an_update_of_a_pool_blocks_nobody(ready: Account, changes: Props) -> None:
    cpu = ready.create(POOL, REGULAR)
    ready.runtime.fails(KeyboardInterrupt(), "apply_nodes")
    with pytest.raises(KeyboardInterrupt):
        ready.update(cpu, {**REGULAR, **changes})
    assert state(ready, cpu.id) == "Updating"
    ready.cloud.reconcile()
    assert state(ready, cpu.id) == "Succeeded"
    assert len(ready.runtime.names()) == 1 + changes.get("count", 2)
    ready.update(cpu, {**REGULAR, "count": 1})


@pytest.mark.parametrize("moment", ["start", "apply_nodes"])
def test_kill_in_an_update_of_a_cluster_blocks_nobody(account: Account, moment: str) -> None:
    cluster = account.cluster()
    account.runtime.fails(KeyboardInterrupt(), moment)
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
