"""Applying: stages of objects to a real API server, by server-side apply."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sandbox.base.notices import Notify
from sandbox.kubeflow.stages import Object, Stages
from sandbox.kubernetes.client import Client
from sandbox.kubernetes.errors import ApiError

MANAGER = "kubectl"
"""The name under which the documentation's command applies: a second `kubectl apply` finds its own fields."""

_AT_ONCE = 4
_ROUNDS = 5
_PAUSE = 1.0
"""Seconds before what was refused is tried again: a kind may not be served yet, an account not be made yet."""
_STEP = 200
"""Objects between two lines of progress."""


@dataclass(frozen=True)
class Refusal:
    """An object, or a workload's pods, that the API server does not take."""

    what: str
    """Kind, namespace and name."""
    why: str


def name(body: Object) -> str:
    """Kind, namespace and name of an object, for messages."""
    metadata = body["metadata"]
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{body['kind']} {place}{metadata['name']}"


def apply(client: Client, wanted: Stages, notify: Notify, pause: Callable[[float], None] = time.sleep) -> list[Refusal]:
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
    return refused


def _stage(
    client: Client, objects: Sequence[Object], dry: bool, notify: Notify, pause: Callable[[float], None]
) -> list[Refusal]:
    left, why = list(objects), [""] * len(objects)
    for attempt in range(_ROUNDS):
        if attempt:
            notify(f"  {len(left)} refused, such as {name(left[0])}: {why[0]}; trying again")
            pause(_PAUSE)
        failed: list[tuple[Object, str]] = []
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            answers = pool.map(lambda body: _applied(client, body, dry), left)
            for number, (body, answer) in enumerate(zip(left, answers, strict=True), 1):
                if answer:
                    failed.append((body, answer))
                if number % _STEP == 0:
                    notify(f"  {number} of {len(left)}")
        left, why = [body for body, _ in failed], [answer for _, answer in failed]
        if not left:
            return []
    return [Refusal(name(body), answer) for body, answer in zip(left, why, strict=True)]


def _applied(client: Client, body: Object, dry: bool) -> str:
    """Why the API server refuses an object; empty when it has taken it."""
    try:
        if "namespace" not in body["metadata"] and client.namespaced(body):
            body = {**body, "metadata": {**body["metadata"], "namespace": "default"}}
        client.apply(body, MANAGER, dry_run=dry, force=True)
    except ApiError as refused:
        return str(refused)
    return ""
