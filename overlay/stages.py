"""Stages: rendered objects in the order in which an API server can take them, changed where the
sandbox lacks what they call.

The sandbox's nodes run no containers, so nobody answers a webhook. The API server would ask one all
the same: a pod of a Service has an address there, behind which nothing listens, and each request
would wait for the webhook's timeout (kubernetes.io, page extensible-admission-controllers).
Configurations of webhooks are therefore checked by a dry run and not put in force; conversion by a
webhook becomes `None`, which changes `apiVersion` alone (page
custom-resource-definition-versioning).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]

_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_DEFINITION = "CustomResourceDefinition"


@dataclass(frozen=True)
class Stages:
    """Objects by stage; a stage needs those before it."""

    definitions: list[Object] = field(default_factory=list)
    namespaces: list[Object] = field(default_factory=list)
    others: list[Object] = field(default_factory=list)
    webhooks: list[Object] = field(default_factory=list)
    """For a dry run alone."""
    conversions: int = 0
    """Definitions whose conversion was by a webhook."""

    @property
    def count(self) -> int:
        return len(self.definitions) + len(self.namespaces) + len(self.others) + len(self.webhooks)


def stages(objects: Iterable[Object]) -> Stages:
    """Return the objects by stage, in their own order within each."""
    definitions, namespaces, others, webhooks, conversions = [], [], [], [], 0
    for body in objects:
        if body["kind"] == _DEFINITION:
            converted = (body["spec"].get("conversion") or {}).get("strategy") == "Webhook"
            conversions += converted
            definitions.append(
                {**body, "spec": {**body["spec"], "conversion": {"strategy": "None"}}}
                if converted
                else body
            )
        elif body["kind"] == "Namespace":
            namespaces.append(body)
        elif body["kind"] in _WEBHOOKS:
            webhooks.append(body)
        else:
            others.append(body)
    return Stages(definitions, namespaces, others, webhooks, conversions)
