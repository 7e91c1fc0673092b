"""A faulty file as it reads when its mistakes are mended: pools that a remedy adds, and what only shows then."""

from typing import Any

import pytest
import yaml

from config.stack_file import loader
from tests.config.test_remedies import FILE, POOL, errors, of_pools, written_out

SIZES = ["Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3"]
REQUIREMENTS = [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": SIZES},
]


@pytest.mark.parametrize(
    ("changed", "most", "ends_on_demand"),
    [
        ({"instanceTypes": SIZES, "maxSize": 8}, 8, False),
        ({"machine": SIZES, "maxNodes": 8, "fallback": [{"onDemand": {"maxNodes": 8}}]}, 8, True),
        ({"requirements": REQUIREMENTS, "limits": {"nvidia.com/gpu": 8}}, 2, True),  # 8 among two pools and on demand
    ],
    ids=["eksctl", "a list", "Karpenter"],
)
def test_each_machine_of_several_becomes_a_pool_of_one_chain(
    changed: dict[str, Any], most: int, ends_on_demand: bool
) -> None:
    pool = {"name": "t4", "capacity": "spot", "labels": {"gpu": "true"}, **changed}
    found = written_out(of_pools(FILE["pools"][0], pool))
    (first, second) = (yaml.safe_load(each.text)[0] for each in found)
    steps = [{"pool": "t4b"}, *[{"onDemand": {"maxNodes": most}}] * ends_on_demand]
    common = {"maxNodes": most, "capacity": "spot", "labels": {"gpu": "true"}}
    assert first == {"name": "t4", "machine": SIZES[0], "fallback": steps, **common}
    assert second == {"name": "t4b", "machine": SIZES[1], **common}


def test_a_key_with_dots_takes_the_place_of_the_value_in_the_object() -> None:
    (found,) = written_out({**FILE, "systemPool.maxNodes": "6", "systemPool.minNodes": "2"})
    pool = yaml.safe_load(found.text)["kubeflow-spot:systemPool"]
    assert pool == {"machine": "Standard_D4ds_v5", "minNodes": 2, "maxNodes": 6}


def test_a_taint_that_the_program_sets_is_not_written_out_again() -> None:
    taint = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
    pool = {**POOL, "taints": [taint, "team=a:NoSchedule"], "max_count": 8, "min_count": 0, "node_labels": {"a": "b"}}
    (found,) = written_out(of_pools(FILE["pools"][0], {key: pool[key] for key in pool if key != "maxNodes"}))
    assert yaml.safe_load(found.text)[0]["taints"] == [{"key": "team", "value": "a", "effect": "NoSchedule"}]


def test_what_only_shows_when_the_others_are_mended_is_told_at_once() -> None:
    renamed = {"name": "t4-with-a-long-name", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 2}
    raw = of_pools(FILE["pools"][0], {**POOL, "fallback": [{"pool": renamed["name"]}]}, renamed)
    assert [each.path for each in errors(raw)] == ["pools[2].name"]
    (further,) = loader.mend(raw, errors(raw)).further
    assert (further.path, further.what) == (
        "pools[1].fallback[0].pool",
        "names 't4-with-a-long-name', which gets another name",
    )
    assert loader.mend(FILE, []).further == ()


@pytest.mark.parametrize("wrap", [lambda cloud: cloud, lambda cloud: [cloud]], ids=["an object", "a list"])
def test_a_file_of_another_cloud_throughout_is_told_its_provider(wrap: Any) -> None:
    cloud = {"provider": "azure", "project": "our-ml-project", "location": "europe-west4", "zones": ["europe-west4-a"]}
    pools = [{"name": name, "machine": "n2-standard-8", "maxNodes": 2} for name in ("a", "b")]
    raw = {**FILE, "cloud": wrap(cloud), "systemPool": {"machine": "e2-standard-4", "maxNodes": 2}, "pools": pools}
    found = [each for each in errors(raw) if each.path.endswith("provider")]
    assert [each.remedy for each in found] == ["write `provider: gcp`; or machines of AKS"]
    assert not [each for each in errors(raw) if "project" in each.path or "machine" in each.path]


def test_two_ranges_of_examples_under_a_wrong_key_are_asked_for_once() -> None:
    ranges = "203.0.113.0/24,198.51.100.7/32"
    raw = {**FILE, "cloud": {**FILE["cloud"], "apiServerAuthorizedIpRanges": ranges}}
    (found,) = [each for each in loader.read_stack(raw, accepts_examples=False)[1] if not each.warning]
    assert "203.0.113.0/24 and 198.51.100.7/32 in it" in found.what
    assert found.remedy.count("the public addresses of your callers") == 1


def test_ranges_of_examples_are_asked_for_in_the_same_round_as_their_form() -> None:
    access = {"authorizedRanges": [{"address": "203.0.113.0/26", "note": "office"}]}
    raw = {**FILE, "cloud": {**FILE["cloud"], "access": access}}
    problems = loader.read_stack(raw, accepts_examples=False)[1]
    (further,) = loader.mend(raw, problems, accepts_examples=False).further
    assert further.path == "cloud.access.authorizedRanges[0]"
    assert "203.0.113.0/26 in it, which examples show" in further.what
    assert loader.mend(raw, problems, accepts_examples=True).further == ()
