"""Rows of the walk over the rules of Google Cloud, and the trial of a row."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.cloud.provider import InitFailed, Refused, Resource
from sandbox.gcp.resources import bucket, gcp_cluster_rules, gcp_identity, gcp_pool_rules, gcp_subnet_rules, nat_rules
from sandbox.gcp.resources.gcp_resource_type import Settings
from sandbox.gcp.resources.gcp_table import TYPES
from sandbox.tests.engine_side import Props
from sandbox.tests.rule_walk import Rule

from ..conftest import CLUSTER, CLUSTER_INPUTS, POOL, PROJECT, Project, with_config

TABLES = [
    (gcp_cluster_rules, "SENT"),
    (gcp_cluster_rules, "RESULT"),
    (gcp_pool_rules, "SENT"),
    (gcp_pool_rules, "RESULT"),
    (gcp_subnet_rules, "RULES"),
    (nat_rules, "RULES"),
    (gcp_identity, "GRANT_RULES"),
    (bucket, "BUCKET_RULES"),
    (bucket, "MEMBER_RULES"),
    (bucket, "FOLDER_RULES"),
    (bucket, "FOLDER_MEMBER_RULES"),
]
"""The tables of rules."""

Step = Callable[[Project], object]


@dataclass(frozen=True)
class Make:
    """A create of a resource, or an update where it exists."""

    token: str
    inputs: Props

    def __call__(self, project: Project) -> None:
        inputs = project.check(self.token, self.inputs)
        id = id_of(self.token, inputs)
        if project.cloud.get(id) is None or TYPES[self.token].shared:
            project.provider.create(Resource(self.token, "it", "urn:it", inputs=inputs))
            return
        resource = project.refresh(Resource(self.token, "it", "urn:it", id, old_inputs=inputs))
        # The provider's own outputs are not in the cloud; only the pool's cluster stays as it was sent.
        own = TYPES[self.token].virtual - {"cluster"}
        outputs = {name: value for name, value in resource.old_outputs.items() if name not in own}
        project.provider.update(dataclasses.replace(resource, inputs=inputs, old_inputs=inputs, old_outputs=outputs))


_KEY_MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"


def key_granted(key: str, agent: str) -> Make:
    """A service agent's right to encrypt with a key."""
    role = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
    return Make(_KEY_MEMBER, {"cryptoKeyId": key, "role": role, "member": f"serviceAccount:{agent}"})


@dataclass(frozen=True)
class Again:
    """A create of a resource that exists."""

    token: str
    inputs: Props

    def __call__(self, project: Project) -> None:
        project.create(self.token, self.inputs)


@dataclass(frozen=True)
class Delete:
    id: str

    def __call__(self, project: Project) -> None:
        project.cloud.delete(self.id)


@dataclass(frozen=True)
class Row:
    """A request that a rule refuses, and a near neighbour that it takes.

    `source` is the section of the facts about the API, the issue or the page that has the rule; `rule` is the function that
    keeps it. `confirmed` is false where no source shows the cloud's own words for this refusal.
    """

    name: str
    source: str
    rule: Rule
    text: str
    bad: Step
    good: Step
    given: tuple[Step, ...] = ()
    confirmed: bool = True

    def __str__(self) -> str:
        return self.name


def cluster(**changes: Any) -> Make:
    """A new cluster `two` beside `gke`, with a range of its own for Services."""
    policy = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "more-services"}
    inputs = {**CLUSTER_INPUTS, "name": "two", "ipAllocationPolicy": policy, **changes}
    return Make(CLUSTER, {name: value for name, value in inputs.items() if value is not None})


def pool(base: Props, **changes: Any) -> Make:
    inputs = {**base, **changes}
    return Make(POOL, {name: value for name, value in inputs.items() if value is not None})


def nodes(base: Props, **changes: Any) -> Make:
    """A pool with changes of its nodes."""
    return Make(POOL, with_config(base, **changes))


def id_of(token: str, inputs: Props) -> str:
    return TYPES[token].id(inputs, Settings(PROJECT))


def refusal(project: Project, step: Step) -> str | None:
    """The refusal of a request, as the user sees it; None when it is taken.

    Without its rule the emulator may stumble over a request instead.
    """
    try:
        step(project)
    except (Refused, InitFailed) as refused:
        return str(refused)
    except Exception as crashed:
        return f"{type(crashed).__name__}: {crashed}"
    return None
