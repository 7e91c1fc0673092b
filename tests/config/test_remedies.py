"""Whoever writes what a remedy says is not refused for it, and an object that a report writes out is right."""

import copy
import re
from typing import Any

import pytest
import yaml

from config.base.problems import Problem
from config.stack_file import loader
from config.stack_file.followed_remedies import follow, place_of
from config.stack_file.mended_file import MendedObject, leaves
from tests.config.stack_files import ERRORS, replaced
from tests.config.test_at_once import TOLD, switches
from tests.config.test_hints import HINTS
from tests.config.test_mistakes import MISTAKES

FILES = (
    [row.settings() for row in ERRORS]
    + [raw for raw, *_ in (*MISTAKES, *HINTS, *TOLD)]
    + [raw for raw, _ in switches()]
)


PARTLY = re.compile(r"for example \d|` and ")
"""Remedies by example, which no file's other settings choose, and with two keys: they may lead to the next problem."""


def errors(raw: dict[str, Any]) -> list[Problem]:
    return [problem for problem in loader.read_stack(raw)[1] if not problem.warning]


def written_out(raw: dict[str, Any]) -> list[MendedObject]:
    return [*loader.mend(raw, errors(raw)).objects]


def test_no_remedy_is_refused_by_the_next_check() -> None:
    tried, refused = 0, []
    for raw in FILES:
        before = errors(raw)
        for found in before:
            after = copy.deepcopy(raw)
            if follow(after, found, set()):
                tried += 1
                written = {place for place, _ in leaves(after) - leaves(raw)}
                inside = [p for p in errors(after) if any(place_of(p.path)[: len(at)] == at for at in written)]
                other = [] if PARTLY.search(found.remedy) or len(place_of(found.path)) == 1 else inside
                new = [p for p in other if p not in before] + [p for p in errors(after) if p == found]
                refused += [f"{found}\n  => {problem}" for problem in new]

    assert refused == []
    assert tried > 350


def test_what_a_report_writes_out_has_no_error_once_it_stands_in_the_file() -> None:
    shown, wrong = 0, []
    for raw in FILES[::3]:
        for each in written_out(raw):
            read = yaml.safe_load(each.text)
            tops = {} if isinstance(read, list) else {key.removeprefix(loader.PREFIX): read[key] for key in read}
            places = [(top,) for top in tops] or [place_of(each.path)]
            after = {**raw, **tops} if tops else replaced(raw, places[0], read[0])
            shown += len(places)
            left = [p for p in errors(after) if any(place_of(p.path)[: len(at)] == at for at in places)]
            wrong += [f"{each}\n=> {problem}" for problem in left]

    assert wrong == []
    assert shown > 7


POOL = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 8}
FILE = {
    "release": "r2026-11",
    "cluster": {"name": "ml-dev"},
    "cloud": {"provider": "azure", "location": "westeurope", "network": {"policy": "calico"}},
    "systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 4},
    "pools": [{"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 6}, POOL],
}


def of_pools(*pools: Any) -> dict[str, Any]:
    return {**FILE, "pools": list(pools)}


@pytest.mark.parametrize(
    ("raw", "path", "text"),
    [
        (
            of_pools(
                FILE["pools"][0],
                {
                    "name": "t4",
                    "vmSize": "Standard_NC4as_T4_v3",
                    "autoscaling": {"minCount": 0, "maxCount": 8},
                    "spot": True,
                },
            ),
            "pools[1]",
            "- name: t4\n  machine: Standard_NC4as_T4_v3\n  minNodes: 0\n  maxNodes: 8\n  capacity: spot",
        ),
        (
            of_pools(
                FILE["pools"][0], {**POOL, "labels": {"gpu": "true", "fallback": [{"onDemand": {"maxNodes": 2}}]}}
            ),
            "pools[1]",
            "- name: t4\n  machine: Standard_NC4as_T4_v3\n  maxNodes: 8\n  capacity: spot\n  fallback:\n"
            "  - onDemand: {maxNodes: 2}\n  labels: {gpu: 'true'}",
        ),
        (
            of_pools(FILE["pools"][0], POOL, {"onDemand": {"maxNodes": 2}}),
            "pools[1]",
            "- name: t4\n  machine: Standard_NC4as_T4_v3\n  maxNodes: 8\n  capacity: spot\n  fallback:\n"
            "  - onDemand: {maxNodes: 2}",
        ),
        (
            {**FILE, "cloud": {**FILE["cloud"], "growth": {"acceptedWait": "20m"}}},
            "growth",
            "kubeflow-spot:growth: {acceptedWait: 20m}",
        ),
    ],
)
def test_an_object_with_several_mistakes_is_written_out(raw: dict[str, Any], path: str, text: str) -> None:
    assert {each.path: each.text for each in written_out(raw)} == {path: text}


def test_pools_by_name_are_written_out_as_the_list_that_they_mean() -> None:
    named = {each["name"]: {key: value for key, value in each.items() if key != "name"} for each in FILE["pools"]}
    (found,) = written_out({**FILE, "pools": named})
    assert yaml.safe_load(found.text) == {"kubeflow-spot:pools": FILE["pools"]}


def test_a_system_pool_among_the_others_is_written_out_at_its_place() -> None:
    entry = {"name": "system", "mode": "System", **FILE["systemPool"]}
    raw = {key: value for key, value in of_pools(entry, *FILE["pools"]).items() if key != "systemPool"}
    assert [problem.path for problem in errors(raw)] == ["pools[0]"]
    found = {each.path: yaml.safe_load(each.text) for each in written_out(raw)}
    assert found == {"systemPool": {"kubeflow-spot:systemPool": FILE["systemPool"]}}


def test_an_example_is_called_one_and_what_has_no_place_is_named() -> None:
    pool = {"name": "t4", "capacity": "spot", "max_count": 8, "flavour": "sweet", "labels": {"gpu": True}}
    (found,) = written_out(of_pools(FILE["pools"][0], pool))
    assert (found.examples, found.left_out) == (("machine",), ("flavour",))
    assert "(an example: machine; without flavour)" in str(found)


@pytest.mark.parametrize(
    "raw",
    [
        FILE,
        of_pools(FILE["pools"][0], {**POOL, "maxNodes": "8"}),  # the remedy alone says it
        of_pools(FILE["pools"][0], {**POOL, "minNodes": 9, "labels": "gpu=true,team=a"}),  # which bound is meant?
    ],
    ids=["without an error", "one short change", "a choice"],
)
def test_nothing_is_written_out(raw: dict[str, Any]) -> None:
    assert written_out(raw) == []


def test_no_object_with_a_secret_is_written_out() -> None:
    token = "ghp_" + "a1B2" * 9
    cluster = {"title": "ml-dev", "version": "1.35", "reason": f"ours: {token}", "labels": {"team": "a"}}
    login = {"server": "example.azurecr.io", "user": "ml", "passwd": "geheim", "email": "a@b.de", "namespace": "a"}
    shown = str([str(each) for each in written_out({**FILE, "cluster": cluster, "imagePullSecrets": [login]})])
    assert (token in shown, "geheim" in shown) == (False, False)


def test_an_example_that_a_remedy_shows_is_not_shown_again() -> None:
    assert written_out({**FILE, "pools": "ml-windows"}) == []


def test_what_stands_alone_around_another_tools_settings_goes_with_them() -> None:
    cloud = {
        "provider": "gcp",
        "project": "vision-ml-4711",
        "region": "europe-west4",
        "addonsConfig": {"gkeBackup": True},
        "growth": {},
    }
    pools = [{"name": "general", "machine": "n2-standard-8", "maxNodes": 6}]
    raw = {**FILE, "cloud": cloud, "systemPool": {"machine": "e2-standard-4", "maxNodes": 4}, "pools": pools}
    (found,) = written_out(raw)
    assert yaml.safe_load(found.text)["kubeflow-spot:cloud"] == {
        "provider": "gcp",
        "project": "vision-ml-4711",
        "location": "europe-west4",
    }


def test_settings_in_an_object_of_their_own_are_written_out_with_their_prefix() -> None:
    found = written_out({"kubeflow-spot": FILE})
    read = {key: value for each in found for key, value in yaml.safe_load(each.text).items()}
    assert read == {f"kubeflow-spot:{key}": value for key, value in FILE.items()}


def test_a_key_that_has_a_value_at_its_right_place_keeps_that() -> None:
    pool = {**POOL, "vmSize": "Standard_NC16as_T4_v3", "minCount": 1, "spot": {}, "labels": {"gpu": True}}
    (found,) = written_out(of_pools(FILE["pools"][0], pool))
    assert yaml.safe_load(found.text)[0]["machine"] == POOL["machine"]


def test_what_stands_under_a_wrong_object_is_written_out_only_where_it_is_right_and_no_secret() -> None:
    login = [{"name": "acr", "server": "ml.azurecr.io", "username": "ml", "password": "geheim"}]
    found = written_out({"kubeflow-spot": {**FILE, "imagePullSecrets": login, "growth": {"acceptedWait": "soon"}}})
    (whole,) = (yaml.safe_load(each.text) for each in found)
    assert [*whole] == [f"kubeflow-spot:{key}" for key in FILE]
    existing = {"provider": "existing", "kubeconfig": {"contents": "users: [geheim]"}, "autoscaler": {"kind": "none"}}
    shown = str([str(each) for each in written_out({"kubeflow-spot": {**FILE, "cloud": existing}})])
    assert "geheim" not in shown


def test_a_choice_is_left_to_the_reader() -> None:
    general = {**FILE["pools"][0], "fallback": [{"onDemand": {"maxNodes": 2}}], "minCount": 1, "labels": "general=true"}
    assert written_out(of_pools(general, POOL)) == []  # is it a spot pool, or has it no fallback?


def test_a_machine_is_not_replaced_by_the_first_of_a_list() -> None:
    pool = {**POOL, "instanceTypes": ["Standard_NC8as_T4_v3"], "minCount": 0, "labels": "gpu=true"}
    (found,) = written_out(of_pools(FILE["pools"][0], pool))
    assert yaml.safe_load(found.text)[0]["machine"] == POOL["machine"]


def test_a_list_whose_last_entry_goes_is_gone() -> None:
    own = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    (found,) = written_out(
        of_pools(FILE["pools"][0], {**POOL, "taints": [own], "minCount": 1, "labels": {"gpu": True}})
    )
    assert "taints" not in yaml.safe_load(found.text)[0]


def test_a_remedy_with_a_further_step_is_not_written_out_by_half() -> None:
    pool = {
        **POOL,
        "maxNodes": "eight",
        "gpuType": "t4",
        "size": "Standard_NC4as_T4_v3",
        "disruption": {"consolidateAfter": "5m"},
    }
    assert written_out(of_pools(FILE["pools"][0], pool)) == []
