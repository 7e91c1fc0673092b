"""Applying: rendered objects in stages to a real API server, by server-side apply.

The sandbox's nodes run no containers, so nobody answers a webhook. The API server would ask one all
the same: a pod of a Service has an address there, behind which nothing listens, and each request
would wait for the webhook's timeout (kubernetes.io, page extensible-admission-controllers).
Configurations of webhooks are therefore checked by a dry run and not put in force; conversion by a
webhook becomes `None`, which changes `apiVersion` alone (page
custom-resource-definition-versioning).
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from sandbox.base.notices import Notify
from sandbox.kubernetes.client import ApiError, Client

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


MANAGER = "kubectl"
"""The name under which the documentation's command applies: a second `kubectl apply` finds its own
fields."""

_AT_ONCE = 4
_ROUNDS = 5
_PAUSE = 1.0
"""Seconds before what was refused is tried again: a kind may not be served yet, an account not be
made yet."""
_PATIENCE = 120
"""How often new kinds are looked for. Seventy of them take an API server on a busy machine a
minute."""
_INVALID = 422
_SHOWN = 160
"""Characters of a refusal in a line of progress."""
_STEP = 200
"""Objects between two lines of progress."""


@dataclass(frozen=True)
class Refusal:
    """An object, or a workload's pods, that the API server does not take."""

    what: str
    """Kind, namespace and name."""
    why: str


def name(body: Object) -> str:
    """Return kind, namespace and name of an object, for messages."""
    metadata = body["metadata"]
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{body['kind']} {place}{metadata['name']}"


def apply(
    client: Client, wanted: Stages, notify: Notify, pause: Callable[[float], None] = time.sleep
) -> list[Refusal]:
    """Apply all stages; what is refused is tried again a few times. Returns what stays refused."""
    refused: list[Refusal] = []
    for title, objects, dry in (
        ("definitions", wanted.definitions, False),
        ("namespaces", wanted.namespaces, False),
        ("objects", wanted.others, False),
        ("webhook configurations, as a dry run", wanted.webhooks, True),
    ):
        if objects:
            notify(f"applying {len(objects)} {title}")
            refused += _stage(client, objects, dry, notify, pause)
        if objects is wanted.definitions:
            _await_served(client, objects, notify, pause)
    return refused


def _await_served(
    client: Client, definitions: Sequence[Object], notify: Notify, pause: Callable[[float], None]
) -> None:
    """Return when the kinds are served, or after a while: objects of the others are then refused by
    name."""
    left = list(definitions)
    for _ in range(_PATIENCE):
        left = [body for body in left if not _served(client, body)]
        if not left:
            return
        notify(f"  {len(left)} kinds are not served yet, such as {left[0]['metadata']['name']}")
        pause(_PAUSE)


def _served(client: Client, definition: Object) -> bool:
    live = (
        client.get(definition["apiVersion"], definition["kind"], definition["metadata"]["name"])
        or {}
    )
    conditions = live.get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _stage(
    client: Client,
    objects: Sequence[Object],
    dry: bool,
    notify: Notify,
    pause: Callable[[float], None],
) -> list[Refusal]:
    refused: list[Refusal] = []
    left = list(objects)
    for attempt in range(1, _ROUNDS + 1):
        again: list[tuple[Object, Refusal]] = []
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            answers = pool.map(lambda body: _applied(client, body, dry), left)
            for number, (body, (why, may_help)) in enumerate(zip(left, answers, strict=True), 1):
                refusal = Refusal(name(body), why)
                if why and may_help and attempt < _ROUNDS:
                    again.append((body, refusal))
                elif why:
                    refused.append(refusal)
                if number % _STEP == 0:
                    notify(f"  {number} of {len(left)}")
        if not again:
            break
        first = again[0][1]
        notify(f"  {len(again)} to be tried again, such as {first.what}: {first.why[:_SHOWN]}")
        left = [body for body, _ in again]
        pause(_PAUSE)
    return refused


def _applied(client: Client, body: Object, dry: bool) -> tuple[str, bool]:
    """Apply an object; return why it is refused, or "", and whether a retry may help."""
    try:
        if "namespace" not in body["metadata"] and client.namespaced(body):
            body = {**body, "metadata": {**body["metadata"], "namespace": "default"}}
        client.apply(body, MANAGER, dry_run=dry, force=True)
    except ApiError as refused:
        return str(refused), refused.status != _INVALID
    return "", False
