"""The ConfigMap that users' tools read: the effect of its lines on a pod, its name, and its readers."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.layer import names
from components.layer.gpu.matching import may_run
from components.layer.scheduling import contract
from components.resources import wire
from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.model.pool import Capacity
from config.model.scheduling import Placement
from config.placement import node_pools as placement
from config.placement.contract import snippets
from config.placement.node_pools import NodePool
from tests.config.stack import good, spec
from tests.config.test_placement import pool_lists

SPOT, ON_DEMAND = Capacity.SPOT, Capacity.ON_DEMAND

MEANT: dict[str, Callable[[NodePool], bool]] = {
    # Each condition chooses among the pools with GPUs or among those without.
    "gpu-prefer-spot": lambda pool: True,
    "gpu-require-spot": lambda pool: pool.capacity == SPOT,
    "gpu-on-demand": lambda pool: pool.capacity == ON_DEMAND,
    "cpu-prefer-spot": lambda pool: pool.capacity == SPOT,
    "cpu-require-spot": lambda pool: pool.capacity == SPOT,
}


def node_pools(pools: list[dict[str, Any]]) -> tuple[NodePool, ...]:
    return placement.node_pools(spec(good(pools=pools)), Aks())


def described_pools(pools: list[dict[str, Any]]) -> tuple[NodePool, ...]:
    """Return pools in a cluster of any make, where nothing taints spot nodes."""
    cloud = {"provider": "existing", "name": "lab", "kubeconfig": {"file": "x"}}
    plain = [
        {key: value for key, value in pool.items() if key != "fallback"} | {"gpus": int("_NC" in pool["machine"])}
        for pool in pools
    ]
    return placement.node_pools(spec({"release": "r2026-11", "cloud": cloud, "pools": plain}), ExistingCluster())


def check(pools: tuple[NodePool, ...]) -> None:
    by_label = {pool.label: pool for pool in pools}
    for name, lines in snippets(pools).items():
        ran = {label for label, pool in by_label.items() if may_run(lines, pool.labels, pool.taints)}
        if name.startswith("pool-"):
            assert ran == {name.removeprefix("pool-")}
            continue
        # These lines do not check the number of GPUs; the scheduler does.
        gpu = name.startswith("gpu-")
        sort = {label for label, pool in by_label.items() if bool(pool.gpus) == gpu}
        meant = {label for label in sort if MEANT[name](by_label[label])}
        assert meant <= ran
        assert gpu or ran <= sort
        if name == "cpu-prefer-spot":
            # On-demand pools without taints take every pod, and a toleration of a key goes for them as well.
            sort = {label for label in sort if by_label[label].capacity == SPOT}
        assert ran & sort == meant


@given(pool_lists())
def test_the_lines_put_a_pod_on_the_pools_they_are_meant_for_and_on_no_others(pools: list[dict[str, Any]]) -> None:
    check(node_pools(pools))


@given(pool_lists())
def test_snippets_place_pods_without_taints_on_spot_pools(pools: list[dict[str, Any]]) -> None:
    check(described_pools(pools))


LABELS = st.dictionaries(
    st.from_regex(r"[A-Za-z0-9](([a-z0-9.-]{0,250}/)?[A-Za-z0-9_.-]{0,61})?", fullmatch=True),
    st.from_regex(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?", fullmatch=True),
)


@given(LABELS)
def test_libyaml_writes_what_pyyaml_writes(labels: dict[str, str]) -> None:
    content = {"pools": [{"labels": labels, "gpus": 1}, {"labels": labels, "taints": []}], "yes": list(labels)}
    assert contract.as_yaml(content) == yaml.safe_dump(content, sort_keys=False)


@pytest.mark.parametrize("placements", [(), (Placement.PREFER_SPOT,), tuple(Placement)])
def test_yaml_json_and_the_outputs_say_the_same(placements: tuple[Placement, ...]) -> None:
    sweep = {"name": "sweep", "machine": "Standard_D8ds_v5", "capacity": "spot", "maxNodes": 3}
    pools = node_pools([*good()["pools"], sweep])
    data = contract.data("r2026-11", pools, placements)
    assert all(isinstance(value, str) for value in data.values())
    plain = {key: data.pop(key) for key in ("release", "placementLabel")}
    from_yaml = {key.removesuffix(".yaml"): yaml.safe_load(text) for key, text in data.items() if key.endswith(".yaml")}
    from_json = {key.removesuffix(".json"): json.loads(text) for key, text in data.items() if key.endswith(".json")}
    assert len(from_yaml) + len(from_json) == len(data)
    assert from_yaml == from_json
    assert from_yaml["placements"] == [placement.value for placement in placements]
    output = contract.as_output("kubeflow-spot", pools, placements)
    assert output == {
        "namespace": "kube-public",
        "name": "kubeflow-spot",
        "placementLabel": plain["placementLabel"],
        "placements": from_yaml.pop("placements"),
        "pools": from_yaml.pop("pools"),
        "snippets": from_yaml,
    }
    # Neither form uses a feature that the other lacks, such as YAML's aliases.
    assert not [text for text in data.values() if "&" in text]


def published(*names_and_stacks: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"metadata": {"name": name, "labels": names.labels(stack)}} for name, stack in names_and_stacks]


@pytest.mark.parametrize(
    "others",
    [(), (("kubeflow-spot", "prod"),), (("kubeflow-spot-prod", "prod"),)],
    ids=["alone", "another-has-the-short-name", "another-has-its-own"],
)
def test_the_name_in_an_existing_cluster_does_not_depend_on_other_stacks(others: tuple[tuple[str, str], ...]) -> None:
    assert contract.choose_name("dev", None, published(*others)) == "kubeflow-spot-dev"
    assert contract.choose_name("dev", "kubeflow-spot", published(*others)) == "kubeflow-spot"
    assert contract.choose_name("dev", "kubeflow-spot-dev", published(*others)) == "kubeflow-spot-dev"


def test_a_new_cluster_has_the_short_name_and_an_earlier_release_keeps_it() -> None:
    assert contract.choose_name("dev", None, None) == "kubeflow-spot"
    assert contract.choose_name("dev", None, published(("kubeflow-spot", "dev"))) == "kubeflow-spot"


def test_the_rights_are_for_the_name_under_which_it_is_published() -> None:
    role, binding = wire(contract.access("kubeflow-spot-dev", (), "dev"))
    assert role["rules"][0]["resourceNames"] == ["kubeflow-spot-dev"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


def test_its_readers_are_service_accounts_and_the_named_groups_each_once() -> None:
    _, binding = wire(contract.access("kubeflow-spot", ("ml-engineers", "system:serviceaccounts"), "dev"))
    assert [(subject["kind"], subject["name"]) for subject in binding["subjects"]] == [
        ("Group", "ml-engineers"),
        ("Group", "system:serviceaccounts"),
    ]
