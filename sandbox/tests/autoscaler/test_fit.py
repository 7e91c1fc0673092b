"""Taints, node selectors, required affinity, pods' requests, and quantities as Kubernetes' own client reads them."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from sandbox.autoscaler.fit import misfit, tolerates
from sandbox.autoscaler.resources import quantity, requests

LABELS = {"pool": "t4", "gpus": "4"}
TAINT = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "sku", "operator": "Exists"}, True),
        ({"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}, True),
        ({"key": "sku", "value": "gpu"}, True),
        ({"key": "sku", "value": "cpu"}, False),
        ({"key": "sku"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "sku", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"value": "gpu"}, False),
    ],
)
def test_tolerations(toleration: Any, expected: bool) -> None:
    assert tolerates(toleration, TAINT) is expected


def test_a_preference_not_to_schedule_keeps_nobody_away() -> None:
    assert misfit({}, "node", {}, [{**TAINT, "effect": "PreferNoSchedule"}]) == ""
    assert misfit({}, "node", {}, [{**TAINT, "effect": "NoExecute"}]) == "does not tolerate sku=gpu:NoExecute"


def affinity(*terms: Any, soft: bool = False) -> Any:
    if soft:
        preferred = [{"weight": 1, "preference": term} for term in terms]
        return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}
    required = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def requirement(key: str, operator: str, *values: str) -> Any:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def both(first: Any, second: Any) -> Any:
    return {"matchExpressions": first["matchExpressions"] + second["matchExpressions"]}


@pytest.mark.parametrize(
    ("spec", "fits"),
    [
        ({"nodeSelector": {"pool": "t4"}}, True),
        ({"nodeSelector": {"pool": "t4", "zone": "1"}}, False),
        (affinity(requirement("pool", "In", "t4", "a100")), True),
        (affinity(requirement("pool", "NotIn", "t4")), False),
        (affinity(requirement("zone", "NotIn", "1")), True),
        (affinity(requirement("zone", "Exists")), False),
        (affinity(requirement("zone", "DoesNotExist")), True),
        (affinity(requirement("gpus", "Gt", "3")), True),
        (affinity(requirement("gpus", "Lt", "4")), False),
        (affinity(requirement("pool", "Gt", "3")), False),
        (affinity(requirement("zone", "Gt", "3")), False),
        (affinity(requirement("zone", "Exists"), requirement("pool", "Exists")), True),
        (affinity(both(requirement("pool", "Exists"), requirement("gpus", "Exists"))), True),
        (affinity(both(requirement("pool", "Exists"), requirement("zone", "Exists"))), False),
        (affinity({}), False),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node"]}]}), True),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]}), False),
        (affinity(requirement("zone", "Exists"), soft=True), True),
    ],
)  # fmt: skip
def test_selectors_and_affinity(spec: Any, fits: bool) -> None:
    assert (misfit(spec, "node", LABELS, []) == "") is fits


def container(restart: str | None = None, **requests: str) -> Any:
    return {"resources": {"requests": requests}} | ({"restartPolicy": restart} if restart else {})


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container(cpu="1"), container(cpu="500m"), {}]}, "1.5"),
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="3"), container(cpu="2")]}, "3"),
        ({"containers": [container(cpu="1")], "initContainers": [container("Always", cpu="2")]}, "3"),
        # Started after the sidecar, and so beside it.
        (
            {"containers": [container(cpu="1")], "initContainers": [container("Always", cpu="2"), container(cpu="4")]},
            "6",
        ),
        ({"containers": [container(cpu="1")], "overhead": {"cpu": "250m"}}, "1.25"),
        ({"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "2"}}}, "2"),
    ],
)
def test_what_a_pod_occupies(spec: Any, cpu: str) -> None:
    assert requests(spec) == {"cpu": Decimal(cpu), "pods": 1}


SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-2", "e+1"]
NUMBERS = st.one_of(st.integers(-1000, 10**9).map(str), st.decimals(0, 1000, places=3).map(str))


@given(NUMBERS, st.sampled_from(SUFFIXES))
def test_a_quantity_is_what_the_client_library_makes_of_it(number: str, suffix: str) -> None:
    assert quantity(number + suffix) == parse_quantity(number + suffix)


@pytest.mark.parametrize("text", ["", "Gi", "1Xi", "one", "1mm"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        quantity(text)
