"""Replacements and refusals of the kubernetes provider, without a cluster (pulumi-kubernetes 4.34, diff.go and DiffConfig)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import grpc
import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from sandbox.cloud.provider import UNKNOWN, Refused, Resource
from sandbox.cloud.servicer import serve
from sandbox.cluster.kubernetes_provider import DELETE_UNREACHABLE, PATCH_FORCE, KubernetesProvider

KUBECONFIG = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d'}}]"


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": data}


def diff(old: dict[str, Any], new: dict[str, Any], **settings: Any) -> Any:
    provider = KubernetesProvider()
    provider.configure(settings)
    return provider.diff(Resource("t", "n", "urn", "n/a", inputs=new, old_inputs=old))


def test_a_changed_config_map_is_replaced_unless_the_provider_lets_it_change() -> None:
    replaced = diff(config_map(a="1"), config_map(a="2"))
    assert (replaced.replaces, replaced.delete_before_replace) == ({"data.a"}, True)
    assert diff(config_map(a="1"), config_map(a="2"), enableConfigMapMutable="true").replaces == set()


def test_an_immutable_config_map_is_replaced_in_any_case() -> None:
    new = {**config_map(a="2"), "immutable": True}
    assert diff(config_map(a="1"), new, enableConfigMapMutable="true").replaces == {"data.a"}


@pytest.mark.parametrize("key", ["name", "namespace"])
def test_a_renamed_object_is_replaced(key: str) -> None:
    new = config_map()
    new["metadata"] = {**new["metadata"], key: "other"}
    assert diff(config_map(), new).replaces == {f"metadata.{key}"}


def test_a_daemon_set_is_replaced_for_its_selector_only() -> None:
    def daemon_set(app: str, image: str) -> dict[str, Any]:
        spec = {"selector": {"matchLabels": {"app": app}}, "template": {"image": image}}
        return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": spec}

    changed = diff(daemon_set("a", "1"), daemon_set("b", "2"))
    assert set(changed.changes) == {"spec.selector.matchLabels.app", "spec.template.image"}
    assert changed.replaces == {"spec.selector.matchLabels.app"}


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [
        ({"kubeconfig": KUBECONFIG % 1}, {"kubeconfig": UNKNOWN}, {"kubeconfig"}),
        ({"kubeconfig": KUBECONFIG % 1}, {"kubeconfig": KUBECONFIG % 2}, {"kubeconfig"}),
        ({"kubeconfig": KUBECONFIG % 1}, {"kubeconfig": KUBECONFIG % 1 + "\n"}, set()),
        (
            {"kubeconfig": KUBECONFIG % 1, "clusterIdentifier": "c"},
            {"kubeconfig": UNKNOWN, "clusterIdentifier": "c"},
            set(),
        ),
        (
            {"kubeconfig": KUBECONFIG % 1, "clusterIdentifier": "c"},
            {"kubeconfig": KUBECONFIG % 1, "clusterIdentifier": "d"},
            {"clusterIdentifier"},
        ),
    ],
)
def test_a_provider_is_replaced_when_its_cluster_may_be_another(
    old: dict[str, Any], new: dict[str, Any], replaces: set[str]
) -> None:
    assert KubernetesProvider().diff_config(old, new).replaces == replaces


def test_an_unknown_provider_setting_is_refused() -> None:
    assert [f.property for f in KubernetesProvider().check_config({"kubeconfg": "x"})] == ["kubeconfg"]


def test_an_object_without_a_name_gets_one_that_stays() -> None:
    provider = KubernetesProvider()
    nameless = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}
    first, failures = provider.check(Resource("t", "web", "urn", inputs=nameless))
    assert failures == []
    assert first["metadata"]["name"].startswith("web-")
    again, _ = provider.check(Resource("t", "web", "urn", inputs=nameless, old_inputs=first))
    assert again["metadata"]["name"] == first["metadata"]["name"]


def test_an_object_without_kind_is_refused() -> None:
    _, failures = KubernetesProvider().check(Resource("t", "n", "urn", inputs={"apiVersion": "v1"}))
    assert [failure.property for failure in failures] == ["kind"]


def test_without_a_reachable_cluster_a_preview_shows_the_inputs_and_an_update_fails() -> None:
    provider = KubernetesProvider()
    provider.configure({"kubeconfig": UNKNOWN})
    assert provider.create(Resource("t", "n", "urn", inputs=config_map(), preview=True)) == ("", config_map())
    with pytest.raises(Refused, match="unreachable"):
        provider.create(Resource("t", "n", "urn", inputs=config_map()))


@pytest.mark.parametrize(
    ("setting", "variable", "leaves"), [({}, "true", True), ({}, "", False), ("false", "true", False)]
)
def test_an_object_of_a_silent_cluster_leaves_the_state_only_where_setting_or_variable_say_so(
    setting: Any, variable: str, leaves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DELETE_UNREACHABLE, variable)
    provider = KubernetesProvider()
    settings = {"kubeconfig": "current-context: none"}
    provider.configure(settings | ({"deleteUnreachable": setting} if setting else {}))
    known = Resource("t", "n", "urn", "n/a", old_inputs=config_map())
    if leaves:
        assert provider.read(known) is None
        provider.delete(known)
    else:
        with pytest.raises(Refused, match=f"unreachable cluster.* {DELETE_UNREACHABLE}"):
            provider.read(known)
        with pytest.raises(Refused, match="unreachable"):
            provider.delete(known)


class Server:
    """An API server with one object of another owner."""

    def __init__(self) -> None:
        self.applied: list[bool] = []

    def namespaced(self, body: dict[str, Any]) -> bool:
        return True

    def get(self, *_: Any) -> dict[str, Any]:
        return config_map(a="theirs")

    def apply(
        self, body: dict[str, Any], manager: str, *, dry_run: bool = False, force: bool = False
    ) -> dict[str, Any]:
        self.applied.append(force)
        return body


@pytest.mark.parametrize("annotation", ["true", "false"])
def test_an_existing_object_is_updated_only_on_request_and_with_force_only_then(
    annotation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server()
    wanted = config_map(a="ours")
    wanted["metadata"] = {**wanted["metadata"], "annotations": {"pulumi.com/patchForce": annotation}}
    provider = KubernetesProvider()
    monkeypatch.setattr(provider, "_client", lambda: server)
    with pytest.raises(Refused, match="already exists in the cluster"):
        provider.create(Resource("t", "n", "urn", inputs=wanted))
    provider.configure({"upsertExistingObjects": "true"})
    provider.create(Resource("t", "n", "urn", inputs=wanted))
    assert server.applied == [annotation == "true"]


@pytest.mark.parametrize(("annotation", "forced"), [(None, True), ("false", False)])
def test_a_variable_forces_every_apply_whose_object_does_not_say_otherwise(
    annotation: str | None, forced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server()
    wanted = config_map(a="ours")
    if annotation:
        wanted["metadata"] = {**wanted["metadata"], "annotations": {"pulumi.com/patchForce": annotation}}
    monkeypatch.setenv(PATCH_FORCE, "true")
    provider = KubernetesProvider()
    monkeypatch.setattr(provider, "_client", lambda: server)
    provider.configure({"upsertExistingObjects": "true"})
    provider.create(Resource("t", "n", "urn", inputs=wanted))
    assert server.applied == [forced]


class Counted:
    """A client that takes a while to connect."""

    instances: ClassVar[list[Counted]] = []

    def __init__(self, kubeconfig: str) -> None:
        time.sleep(0.05)
        self.kubeconfig, self.closed = kubeconfig, False
        self.instances.append(self)

    def get(self, *_: Any) -> dict[str, Any] | None:
        return None

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[Counted]:
    monkeypatch.setattr(Counted, "instances", [])
    monkeypatch.setattr("sandbox.cluster.kubernetes_provider.Client", Counted)
    return Counted.instances


def test_sixteen_simultaneous_first_calls_create_one_client_which_is_closed_at_the_end(clients: list[Counted]) -> None:
    struct = json_format.ParseDict({"kubeconfig": KUBECONFIG % 1}, struct_pb2.Struct())
    inputs = json_format.ParseDict(config_map(), struct_pb2.Struct())
    with (
        serve({"kubernetes": KubernetesProvider}) as attached,
        grpc.insecure_channel(f"127.0.0.1:{attached.partition(':')[2]}") as channel,
    ):
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        stub.Configure(provider_pb2.ConfigureRequest(args=struct))
        read = provider_pb2.ReadRequest(id="n/a", urn="urn:a", type="t", name="a", inputs=inputs)
        with ThreadPoolExecutor(16) as pool:
            assert {answer.id for answer in pool.map(lambda _: stub.Read(read), range(16))} == {""}
        assert [client.closed for client in clients] == [False]
    assert [client.closed for client in clients] == [True]


def test_another_kubeconfig_is_another_client(clients: list[Counted]) -> None:
    provider = KubernetesProvider()
    for port in (1, 2):
        provider.configure({"kubeconfig": KUBECONFIG % port})
        assert provider.read(Resource("t", "n", "urn", "n/a", old_inputs=config_map())) is None
    assert [client.kubeconfig for client in clients] == [KUBECONFIG % 1, KUBECONFIG % 2]
    assert [client.closed for client in clients] == [True, False]


def test_an_unusable_kubeconfig_is_refused() -> None:
    provider = KubernetesProvider()
    provider.configure({"kubeconfig": "current-context: x"})
    with pytest.raises(Refused, match="unable to load Kubernetes client configuration"):
        provider.create(Resource("t", "n", "urn", inputs=config_map()))
