"""The engine's side of an emulated cloud: checks inputs, then creates, updates, refreshes or deletes; and a recording runtime."""

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.cloud.cluster_runtime import Endpoint, Provisioner
from sandbox.cloud.provider import Diff, Failure, Provider, Resource

Props = dict[str, Any]


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out flushing, most of a request's time: a test's state need not outlive a power cut."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class RecordingRuntime:
    """A recording runtime; `before` runs ahead of each call and may raise, like a killed process."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.nodes: dict[str, list[Props]] = {}
        self.before: Callable[[str], None] = lambda call: None
        self.provisioner: Provisioner | None = None
        """That of the last start."""

    def start(
        self, cluster_id: str, name: str, version: str, service_cidr: str, provisioner: Provisioner | None = None
    ) -> None:
        self.before("start")
        self.calls.append(("start", cluster_id, name, version, service_cidr))
        self.provisioner = provisioner

    def stop(self, cluster_id: str) -> None:
        self.before("stop")
        self.calls.append(("stop", cluster_id))
        self.nodes.pop(cluster_id, None)

    def user_kubeconfig(self, cluster_id: str) -> str:
        return f"kubeconfig of {cluster_id}"

    def endpoint(self, cluster_id: str) -> Endpoint:
        return Endpoint("127.0.0.1:6443", "Y2VydGlmaWNhdGU=")

    def apply_nodes(self, cluster_id: str, nodes: list[Props]) -> None:
        self.before("apply_nodes")
        self.calls.append(("apply_nodes", cluster_id))
        self.nodes[cluster_id] = nodes

    def during(self, act: Callable[[], object], at: str = "") -> None:
        """Do something ahead of the next call, or of the next one of this name."""

        def once(call: str) -> None:
            if at in ("", call):
                self.before = lambda call: None
                act()

        self.before = once

    def fails(self, error: BaseException, at: str = "") -> None:
        """Raise an error ahead of the next call, or of the next one of this name."""

        def fail() -> None:
            raise error

        self.during(fail, at)

    def names(self) -> list[str]:
        return [node["metadata"]["name"] for nodes in self.nodes.values() for node in nodes]


class CheckFailed(Exception):
    """The provider's Check refused the inputs."""

    def __init__(self, failures: list[Failure]) -> None:
        super().__init__("; ".join(f.reason for f in failures))


class Caller:
    """The engine's requests to a provider, in its order."""

    provider: Provider

    def check(self, token: str, inputs: Props, old: Props | None = None) -> Props:
        name = token.rsplit(":", 1)[1].lower()
        resource = Resource(token, name, f"urn:{name}", inputs=inputs, old_inputs=old or {})
        checked, failures = self.provider.check(resource)
        if failures:
            raise CheckFailed(failures)
        return checked

    def create(self, token: str, inputs: Props) -> Resource:
        resource = Resource(token, "it", "urn:it", inputs=self.check(token, inputs))
        id, outputs = self.provider.create(resource)
        return Resource(token, "it", "urn:it", id, old_inputs=resource.inputs, old_outputs=outputs)

    def update(self, existing: Resource, inputs: Props) -> Resource:
        wanted = dataclasses.replace(existing, inputs=self.check(existing.type, inputs, existing.old_inputs))
        outputs = self.provider.update(wanted)
        return dataclasses.replace(existing, old_inputs=wanted.inputs, old_outputs=outputs)

    def refresh(self, existing: Resource) -> Resource:
        live = self.provider.read(existing)
        assert live is not None
        return dataclasses.replace(existing, old_inputs=live[0], old_outputs=live[1])

    def diff(self, existing: Resource, inputs: Props) -> Diff:
        return self.provider.diff(
            dataclasses.replace(existing, inputs=self.check(existing.type, inputs, existing.old_inputs))
        )
