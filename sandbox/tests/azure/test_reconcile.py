"""Killed commands: the state, and how the next command brings the cloud in line."""

from __future__ import annotations

import pytest

from sandbox.cloud.state import Resources, Store

from .conftest import POOL, REGULAR, SPOT, Account


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


def test_reconcile_brings_nodes_in_line_after_a_kill(ready: Account) -> None:
    def die(call: str) -> None:
        if call == "apply_nodes":
            raise KeyboardInterrupt

    ready.runtime.before = die
    with pytest.raises(KeyboardInterrupt):
        ready.create(POOL, REGULAR)
    ready.runtime.before = lambda call: None
    assert len(ready.runtime.names()) == 1
    ready.cloud.reconcile()
    assert len(ready.runtime.names()) == 3


@pytest.mark.parametrize("moment", ["start", "apply_nodes"])
def test_reconcile_takes_back_a_cluster_whose_creation_was_killed(account: Account, moment: str) -> None:
    def die(call: str) -> None:
        if call == moment:
            raise KeyboardInterrupt

    account.group()
    account.runtime.before = die
    with pytest.raises(KeyboardInterrupt):
        account.cluster()
    account.runtime.before = lambda call: None
    account.cloud.reconcile()
    assert account.cloud.pools() == []
    assert account.cluster().old_outputs["provisioningState"] == "Succeeded"


def test_reconcile_finishes_a_killed_deletion(account: Account) -> None:
    cluster = account.cluster()

    def die(call: str) -> None:
        raise KeyboardInterrupt

    account.runtime.before = die
    with pytest.raises(KeyboardInterrupt):
        account.provider.delete(cluster)
    account.runtime.before = lambda call: None
    account.cloud.reconcile()
    assert account.provider.read(cluster) is None
    assert account.runtime.calls[-1][0] == "stop"
