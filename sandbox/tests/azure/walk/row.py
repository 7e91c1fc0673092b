"""Rows of the walk over the rules of AKS, and the trial of a row."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.resources import azure_cluster_rules, azure_pool_rules, cluster_pools_rules, roles, storage
from sandbox.azure.resources.azure_table import TYPES
from sandbox.cloud.provider import InitFailed, Resource
from sandbox.tests.rule_walk import Rule, marked

from ..conftest import CLUSTER, CLUSTER_INPUTS, POOL, Account, Props

TABLES = [
    (azure_cluster_rules, "SENT"),
    (azure_cluster_rules, "RESULT"),
    (azure_pool_rules, "SENT"),
    (azure_pool_rules, "RESULT"),
    (cluster_pools_rules, "RULES"),
    (cluster_pools_rules, "REMAINING"),
    (storage, "ACCOUNT_RULES"),
    (storage, "BLOB_SERVICE_RULES"),
    (storage, "CONTAINER_RULES"),
    (storage, "POLICY_RULES"),
    (roles, "RULES"),
]
"""The tables of rules."""


@dataclass(frozen=True)
class Put:
    """A PUT of a resource: a create, or an update where it exists."""

    token: str
    inputs: Props

    def __call__(self, account: Account) -> None:
        wanted = Resource(self.token, "it", "urn:it", inputs=account.check(self.token, self.inputs))
        id = TYPES[self.token].id(azure_ids.SUBSCRIPTION, wanted.inputs)
        if account.cloud.get(id) is None:
            account.provider.create(wanted)
        else:
            account.provider.update(dataclasses.replace(wanted, id=id, old_inputs=wanted.inputs))


@dataclass(frozen=True)
class Delete:
    """A DELETE of a pool of the cluster `aks`."""

    pool: str

    def __call__(self, account: Account) -> None:
        account.cloud.delete(id_of(POOL, resourceGroupName="ml", resourceName="aks", agentPoolName=self.pool))


Step = Callable[[Account], object]


@dataclass(frozen=True)
class Row:
    """A request that a rule refuses, and a near neighbour that it takes.

    `source` is the section of the facts about the API, the issue or the page that has the rule; `rule` is the function that
    keeps it. `confirmed` is false where no source shows the cloud's own code and words for this refusal.
    """

    name: str
    source: str
    rule: Rule
    code: str
    text: str
    bad: Step
    good: Step
    given: tuple[Step, ...] = ()
    confirmed: bool = True

    def __str__(self) -> str:
        return self.name


def cluster(**changes: Any) -> Put:
    """A new cluster `two` beside `aks`."""
    return Put(CLUSTER, {**CLUSTER_INPUTS, "resourceName": "two", **changes})


def pool(base: Props, **changes: Any) -> Put:
    return Put(POOL, {**base, **changes})


def id_of(token: str, **parameters: str) -> str:
    return TYPES[token].id(azure_ids.SUBSCRIPTION, parameters)


@dataclass(frozen=True)
class Refusal:
    """A refusal as the walk compares it. `marked`: the line that the user sees ends in the mark."""

    code: str
    message: str
    marked: bool = False


def refusal(account: Account, step: Step) -> Refusal | None:
    """The refusal of a request, at once or later; None when it is taken.

    Without its rule the emulator may stumble over a request instead.
    """
    try:
        step(account)
    except AzureRefused as refused:
        return Refusal(refused.code, refused.message, marked(str(refused)))
    except InitFailed as failed:
        reason = failed.reasons[0]
        if "ResourceOperationFailure" in reason:
            (inner,) = json.loads(reason.partition('Message="')[2][:-1])["details"]
            return Refusal(inner["code"], inner["message"])
        return Refusal("InternalServerError", reason)
    except Exception as crashed:
        return Refusal(type(crashed).__name__, str(crashed))
    return None
