"""Interrupted creates: resources that a cloud made for a killed command and the engine's state does not have.

The engine writes "creating" into its state, asks the provider, and writes the resource when the answer comes. After a kill in
between, the next create fails because the resource exists: azure-native answers `cannot create already existing resource`, the
kubernetes provider `already exists`. Of the ways out that Pulumi documents for a real cloud
(https://www.pulumi.com/docs/iac/operations/troubleshooting/interrupted-updates/):

- `pulumi refresh --import-pending-creates URN --import-pending-creates ID`, or the same by dialogue, only drops the entry:
  tried with 3.258.0, the resource is in no state afterwards.
- `pulumi import` reads the resource with no inputs, so that the next update shows every default of the service as a change.
- `pulumi stack export`, move the resource from `pending_operations` to `resources`, `pulumi stack import`
  (https://github.com/pulumi/pulumi/issues/4265) leaves what the engine would have written.

Decided: `up` and `down` do the last before anything else, and report the resources and the steps for a real cloud. An entry
whose resource the cloud does not have is dropped, and the resource is created again. Other pending operations need nothing:
the next refresh shows how they ended.

An engine that outlives its provider, as happens when the sandbox alone is killed, takes the silence for a refusal and drops
the entry. So it does where the cloud's answer is lost on the way, although the resource exists (pulumi-azure-native issues 3200
and 4761, terraform-provider-google issue 4024). The entries are therefore kept here as well, from before the request to the
cloud until it was refused, or until the state of an engine that has ended has the resource.
"""

import itertools
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from pulumi import automation
from pulumi.automation.errors import CommandError

from sandbox.base.checkpoint import Checkpoint, State
from sandbox.base.errors import SandboxError
from sandbox.base.files import ANEW, read_json, write_private
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.cloud.provider import (
    SECRET,
    SIGNATURE,
    CloudProvider,
    Props,
    Provider,
    Refused,
    Resource,
    has_secret,
    is_secret,
)
from sandbox.cluster.kubernetes_provider import KubernetesProvider
from sandbox.engine.command import EngineCommand


class Interrupted:
    """The creates of one stack whose end is unknown."""

    def __init__(self, home: Home, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._kept = home.directory / "creating"
        self._count = itertools.count()
        self._lock = Lock()

    @contextmanager
    def keep(self, urn: str) -> Iterator[None]:
        """Keep the engine's entry for a create that a provider begins; one that is refused has made nothing."""
        self._kept.mkdir(exist_ok=True)
        entries = []
        for state in self._checkpoint.creating():
            if state["urn"] == urn:
                entries.append(self._kept / f"{next(self._count):06}.json")
                write_private(entries[-1], json.dumps(state).encode())
        with self._lock:
            # It has what the entry needs: its parents and its provider.
            self._checkpoint.keep_copy()
        try:
            yield
        except Refused:
            for entry in entries:
                entry.unlink(missing_ok=True)
            raise

    @contextmanager
    def until_the_engine_ends(self) -> Iterator[None]:
        """Yield the time in which the engine runs. Of one that ends by itself, only what its state has not is still in doubt."""
        try:
            yield
        except CommandError:
            self._forget_known()
            raise
        self._forget()
        self._checkpoint.keep_copy()

    def resolve(self, stack: EngineCommand, providers: Mapping[str, Provider], notify: Notify) -> None:
        """Add the resources that a cloud has made to the engine's state, and drop the other entries."""
        kept = list(self._entries().values())
        pending: dict[str, State] = {state["urn"]: state for state in (*kept, *self._checkpoint.creating())}
        if not pending:
            return
        exported = stack.export_stack()
        deployment = dict(exported.deployment or {})
        deployment.pop("pending_operations", None)
        resources: list[State] = list(deployment.get("resources") or ())
        added = []
        for state in pending.values():
            created = _created(state, resources, providers)
            if created is None or any(_is(known, state["urn"], created[0]) for known in resources):
                continue
            resources = [*_without_replaced(resources, state["urn"]), _entry(state, *created)]
            added.append(f"  {state['type']} {state['urn'].rpartition('::')[2]}: {created[0]}")
        try:
            stack.import_stack(automation.Deployment(exported.version, {**deployment, "resources": resources}))
        except CommandError as refused:
            raise SandboxError(
                f"the engine does not take its state with what a killed command made:\n{refused}\n  {ANEW}"
            ) from refused
        self._forget()
        if added:
            notify(
                "an earlier command was killed, or lost the cloud's answer, while it created these; they exist, and are added to"
                " the engine's state:"
            )
            notify("\n".join(added))
            notify(
                "  With a real cloud you do this by hand: `pulumi stack export`, move each from `pending_operations` to"
                " `resources`\n  with its id, `pulumi stack import`."
            )

    def _entries(self) -> dict[Path, State]:
        """Return the kept entries, oldest first."""
        return {path: read_json(path) for path in sorted(self._kept.glob("[0-9]*.json"))}

    def _forget(self) -> None:
        shutil.rmtree(self._kept, ignore_errors=True)

    def _forget_known(self) -> None:
        """Forget the entries of resources that the state has. A state that is cut off, by a full disk for example, has none."""
        with suppress(SandboxError):
            known = {resource["urn"] for resource in self._checkpoint.resources() if resource.get("id")}
            self._checkpoint.keep_copy()
            for path, entry in self._entries().items():
                if entry["urn"] in known:
                    path.unlink()


def _created(state: State, resources: list[State], providers: Mapping[str, Provider]) -> tuple[str, Props] | None:
    """Return the resource of a create, as (id, outputs); None when it is missing. Components have none."""
    package = state["type"].partition(":")[0]
    if package not in providers:
        return None
    resource = Resource(state["type"], state["urn"].rpartition("::")[2], state["urn"], inputs=state["inputs"])
    provider = providers[package]
    urn = state.get("provider", "").rpartition("::")[0]
    for known in resources:
        if known["urn"] == urn:
            provider.configure(_plain(known["inputs"]))
    if isinstance(provider, CloudProvider):
        with suppress(Refused):
            id = provider.id_of(resource.type, resource.inputs)
            body = provider.read(Resource(resource.type, resource.name, resource.urn, id, old_inputs=resource.inputs))
            return (id, body[1]) if body else None
    if isinstance(provider, KubernetesProvider):
        # All clusters of the cloud run by now; a silent one is gone.
        with suppress(Refused):
            return provider.find(resource)
    return None


def _is(known: State, urn: str, id: str) -> bool:
    return (
        known["urn"] == urn and known.get("id") == id and not (known.get("delete") or known.get("pendingReplacement"))
    )


def _without_replaced(resources: list[State], urn: str) -> list[State]:
    """Return the resources as after a replacement: one deleted before is gone, another is still to be deleted."""
    rest = [known for known in resources if not (known["urn"] == urn and known.get("pendingReplacement"))]
    return [{**known, "delete": True} if known["urn"] == urn else known for known in rest]


def _entry(state: State, id: str, outputs: Props) -> State:
    secret = {name for name, value in state["inputs"].items() if has_secret(value)}
    secret |= set(state.get("additionalSecretOutputs") or ())
    shown = {name: _secret(value) if name in secret else value for name, value in outputs.items()}
    return {**state, "id": id, "outputs": shown}


def _secret(value: Any) -> Any:
    return {SIGNATURE: SECRET, "plaintext": json.dumps(value)}


def _plain(inputs: Props) -> Props:
    return {name: json.loads(value["plaintext"]) if is_secret(value) else value for name, value in inputs.items()}
