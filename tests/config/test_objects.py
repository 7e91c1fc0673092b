"""A faulty object is checked as far as it can be read, and no secret is ever shown."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from config.base.problems import Problem
from config.stack_file import loader

from tests.config.stack import good, with_pool
from tests.config.stack_files import HAPPY, settings

JUNK: tuple[Any, ...] = (None, 0, 1.5, True, "x", [], [1], {}, {"x": 1}, "\n", -1, "10.0.0.0/8", ["x", {}])
PASSWORD = "hunter2-not-to-be-seen"


def errors(raw: dict[str, Any]) -> list[str]:
    return [problem.path for problem in loader.read(raw)[1] if not problem.warning]


def test_a_pool_without_a_required_key_shows_its_other_mistakes_too() -> None:
    raw = with_pool(machine="Standard_NC6s_v3", labels={"agentpool": "x"}, spot={"maxPrice": 0}, zones=["1", "1"])
    del raw["pools"][1]["maxNodes"]
    raw["pools"][1]["fallback"] = [{"pool": "nosuch"}, {"onDemand": {"maxNodes": 0}}]
    assert errors(raw) == [
        "pools[1].fallback[0].pool",
        "pools[1].fallback[1].onDemand.maxNodes",
        'pools[1].labels["agentpool"]',
        "pools[1].machine",
        "pools[1].maxNodes",
        "pools[1].spot.maxPrice",
        "pools[1].zones",
    ]


def test_a_field_that_cannot_be_read_does_not_make_others_look_wrong() -> None:
    for key, value in {"capacity": "spott", "machine": "", "maxNodes": 0, "name": ["t4"]}.items():
        raw = with_pool(**{key: value})
        # The others lean on it: they fall back to it, fit its machine, are bounded by it.
        raw["pools"][2]["fallback"] = [{"pool": "t5"}] if key == "name" else [{"onDemand": {"maxNodes": 1}}]
        raw["pools"][1] |= {"minNodes": 3, "gpus": 1, "generation": "b"} if key == "capacity" else {"minNodes": 3}
        assert errors(raw) == [f"pools[1].{key}"]


def test_one_bad_entry_leaves_the_rest_of_a_map_or_list_to_be_checked() -> None:
    labels = {"gpu": True, "agentpool": "x"}
    assert errors(with_pool(labels=labels)) == ["pools[1].labels.gpu", 'pools[1].labels["agentpool"]']
    taints = [{"key": "team"}, {"key": "nvidia.com/gpu", "value": "true"}]
    assert errors(with_pool(taints=taints)) == ["pools[1].taints[0].value", "pools[1].taints[1]"]


def test_a_bad_part_of_the_cloud_leaves_the_rest_to_be_checked() -> None:
    network = {"nodeSubnet": 7, "subnets": {"gpu": "10.9.0.0/24"}, "policy": "cilium", "outboundType": "direct"}
    access = {"private": "perhaps", "adminGroups": ["ml"], "authorizedRanges": ["10.0.0.0/8"]}
    raw = good(cloud={"provider": "azure", "network": network, "access": access})
    assert errors(raw) == [
        "cloud.access.adminGroups[0]",
        "cloud.access.authorizedRanges[0]",
        "cloud.access.private",
        "cloud.location",
        "cloud.network.nodeSubnet",
        "cloud.network.outboundType",
        "cloud.network.policy",
        "cloud.network.subnets.gpu",
    ]


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every value inside."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*at, key)
        yield from places(item, (*at, key))


def replaced(raw: dict[str, Any], place: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    changed: Any = copy.deepcopy(raw)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return dict(changed)


def test_any_value_in_any_place_is_a_problem_and_no_crash() -> None:
    seen: set[tuple[str | int, ...]] = set()
    for path in HAPPY:
        raw = settings(path)
        for place in [place for place in places(raw) if place not in seen]:
            junk = JUNK[len(seen) % len(JUNK)]
            seen.add(place)
            for problem in loader.read(replaced(raw, place, junk))[1]:
                assert problem.path, (place, junk, problem)
                assert problem.remedy, (place, junk, problem)
    assert len(seen) > 200


@pytest.mark.parametrize("shape", [PASSWORD, [PASSWORD], {"a": PASSWORD}, {PASSWORD: 1}, [{"password": PASSWORD}]])
@pytest.mark.parametrize(
    "place", [("imagePullSecrets",), ("imagePullSecrets", 0), ("imagePullSecrets", 0, "password"), ("cloud",),
              ("cloud", "kubeconfig"), ("cloud", "kubeconfig", "contents")],
)  # fmt: skip
def test_no_secret_is_shown_wherever_and_however_it_is_written(place: tuple[str | int, ...], shape: Any) -> None:
    raw: dict[str, Any] = {
        "release": "r2026-11",
        "cloud": {"provider": "existing", "name": "there", "kubeconfig": {"contents": "kind: Config"}},
        "imagePullSecrets": [{"name": "acr-auth", "server": "a.azurecr.io", "username": "u", "password": "p"}],
    }
    spec, problems = loader.read(replaced(raw, place, shape))
    keys = [problem for problem in problems if "is not a key" in problem.what]
    assert spec or problems
    assert PASSWORD not in repr(spec)
    # A key is not a value: a password written as a key is shown.
    assert PASSWORD not in "".join(map(str, set(problems) - set(keys)))


def test_a_password_that_yaml_reads_as_a_number_is_not_shown_either() -> None:
    secret = {"name": "acr-auth", "server": "a.azurecr.io", "username": "u", "password": 4242424242}
    (problem,) = loader.read(good(imagePullSecrets=[secret]))[1]
    assert problem == Problem(
        "imagePullSecrets[0].password", "is a number, which YAML does not read as text", "put it in quotes"
    )
