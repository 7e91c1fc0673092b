"""A third cloud is one folder and one line of `policy.clouds`: no rule is touched."""

from collections.abc import Iterator

import pytest

from policy import clouds
from policy.cloud import Bounds, Cloud, Pool, Taints
from policy.declared import Declared
from policy.rule import Finding
from policy.rules import RULES


def _pools(declared: Declared) -> Iterator[Pool]:
    if declared.type == "toy:Pool":
        taints = Taints("taints", (), "{key}={value}")
        yield Pool(nvidia_at="size", spot=None, system_at=None, taints=taints, bounds=Bounds("most", None))


def _cluster(declared: Declared) -> Iterator[Finding]:
    if declared.type == "toy:Cluster":
        yield Finding("open", "it is", "close it")


def _open(declared: Declared, most: int) -> Iterator[Finding]:
    if most:
        yield from _cluster(declared)


TOY = Cloud(
    cluster="toy:Cluster",
    tags={"toy:Cluster": "marks"},
    pools=_pools,
    api_server=_open,
    checks=dict.fromkeys(("public-nodes", "local-accounts", "broad-role"), _cluster),
)


def broken(declared: Declared) -> set[str]:
    return {rule.name for rule in RULES if rule.findings(declared)}


def test_the_rules_hold_for_a_cloud_that_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken(Declared("toy:Cluster")) == broken(Declared("toy:Pool")) == set()
    monkeypatch.setattr(clouds, "CLOUDS", (*clouds.CLOUDS, TOY))
    of_cluster = {
        "api-server-open",
        "broad-role",
        "cluster-unprotected",
        "local-accounts",
        "owner-missing",
        "public-nodes",
    }
    assert broken(Declared("toy:Cluster")) == of_cluster
    assert broken(Declared("toy:Pool")) == {"gpu-pool-untainted", "pool-unbounded"}
