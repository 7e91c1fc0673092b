"""Printed refusals: the whole body of AKS, only the message of ARM."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import POOL, REGULAR, SPOT, Account, refusal


def test_aks_error_prints_its_whole_body(ready: Account) -> None:
    refused = refusal(ready.create, POOL, {**SPOT, "count": None})
    prefix = 'Status=400 Code="InvalidParameter" Message="'
    assert str(refused).startswith(prefix)
    body = json.loads(str(refused)[len(prefix) : -1])
    assert body == {
        "code": "InvalidParameter",
        "details": None,
        "message": "Required parameter properties.count is missing (null).",
        "subcode": "",
        "target": "properties.count",
    }


def test_arm_error_prints_its_message(ready: Account) -> None:
    assert str(refusal(ready.create, POOL, {**REGULAR, "resourceGroupName": "no"})) == (
        'Status=404 Code="ResourceGroupNotFound" Message="Resource group \'no\' could not be found."'
    )


@pytest.mark.parametrize(
    ("place", "code"),
    [({"resourceName": "other"}, "ParentResourceNotFound"), ({"resourceGroupName": "no"}, "ResourceGroupNotFound")],
)
def test_pool_needs_its_cluster_and_group(ready: Account, place: dict[str, Any], code: str) -> None:
    assert refusal(ready.create, POOL, {**REGULAR, **place}).code == code
    ready.create(POOL, REGULAR)
