"""Karpenter's objects on a real API server, against the definitions of Azure's provider and their rules in CEL."""

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.azure import karpenter_objects
from components.azure.karpenter_objects import NODE_CLASS, NODE_POOL
from components.last_update import LastUpdate
from components.target import Stack
from config.clouds import registry
from config.placement import node_pools
from config.stack_file import loader
from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes.client import Client
from sandbox.tests.api import Api, Refused
from sandbox.tests.stack import eventually
from sandbox.toolchain.programs import ensure

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.tools]

SUBNET = "/subscriptions/0/resourceGroups/ml/providers/Microsoft.Network/virtualNetworks/ml/subnets/gpu"
Settings = dict[str, Any]


def stack_file(provisioning: Settings, system: Settings, spot: Settings, cloud: Settings) -> Settings:
    network = {"dataplane": "cilium", "policy": "cilium", "subnets": {"gpu": "10.8.16.0/20"}}
    chain = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 8}
    return {
        "release": "r2026-11",
        "cluster": {"name": "ml-nap", "tags": cloud.pop("tags", {})},
        "cloud": {
            "provider": "azure",
            "location": "westeurope",
            "network": network,
            "nodeProvisioning": provisioning,
            **cloud,
        },
        "systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 4, **system},
        "pools": [{"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 6}, {**chain, **spot}],
    }


PLAIN: tuple[Settings, Settings, Settings, Settings] = ({}, {}, {"fallback": [{"onDemand": {"maxNodes": 2}}]}, {})
FULL: tuple[Settings, Settings, Settings, Settings] = (
    {"consolidateAfter": "30s", "expireAfter": "720h", "disruptionBudget": "2"},
    {"criticalAddonsOnly": True, "maxPods": 64, "zones": ["1", "2"], "osDisk": {"sizeGb": 100}},
    {
        "zones": ["1", "3"],
        "maxPods": 50,
        "subnet": "gpu",
        "osDisk": {"sizeGb": 150, "type": "Ephemeral"},
        "labels": {"example.com/team": "vision"},
        "taints": [{"key": "example.com/team", "value": "vision", "effect": "NoExecute"}],
        "installDriver": False,
        "fallback": [{"onDemand": {"maxNodes": 3}}],
    },
    {"tags": {"team": "ml"}, "encryption": {"atHost": True}},
)
CHANGED: tuple[Settings, Settings, Settings, Settings] = (
    {"consolidateAfter": "10m", "expireAfter": "24h", "disruptionBudget": "20%"},
    {"maxPods": 110, "zones": ["3"], "osDisk": {"sizeGb": 64}},
    {
        "maxNodes": 3,
        "zones": ["2"],
        "maxPods": 110,
        "osDisk": {"sizeGb": 64},
        "labels": {"example.com/team": "speech"},
        "fallback": [{"onDemand": {"maxNodes": 1}}],
    },
    {"tags": {"team": "speech"}},
)


def objects(settings: tuple[Settings, ...]) -> dict[tuple[str, str], Settings]:
    """Return the objects of a stack by kind and name, as they are declared."""
    spec, problems = loader.read_stack(stack_file(*(dict(part) for part in settings)))
    assert spec, problems
    cloud = registry.cloud_of(spec.cloud)
    assert spec.system_pool
    system = node_pools.system_pool(spec.system_pool, cloud)
    stack = Stack(spec, node_pools.node_pools(spec, cloud), system, "test", LastUpdate())
    found = karpenter_objects.of_stack(stack, lambda name: SUBNET if name else None)
    return {
        (each.kind, each.pool): {
            "apiVersion": each.api_version,
            "kind": each.kind,
            "metadata": {"name": each.pool},
            "spec": dict(each.spec),
        }
        for each in found
    }


@pytest.fixture(scope="module")
def api(api_server: ControlPlane) -> Iterator[Api]:
    program = ensure(["karpenter"], print)["karpenter"]
    text = subprocess.run([program, "crds"], capture_output=True, text=True, check=True).stdout
    definitions = [body for body in yaml.safe_load_all(text) if body]
    api = Api(api_server)
    with api.created(*definitions):
        example = objects(PLAIN)[NODE_POOL, "t4"]
        eventually(lambda: not refused(api, example), "the kinds are served")
        yield api
    api.close()


def refused(api: Api, body: Settings) -> str:
    """Return the API server's refusal of a new object; empty where it takes it."""
    try:
        api.create(body, dry_run=True)
    except Refused as refusal:
        return refusal.message
    return ""


@pytest.mark.parametrize("settings", [PLAIN, FULL, CHANGED], ids=["plain", "full", "changed"])
def test_every_object_is_taken_as_it_is(api: Api, settings: tuple[Settings, ...]) -> None:
    for key, body in objects(settings).items():
        held = api.create(body, dry_run=True)["spec"]
        # What the definitions do not know is dropped without a word.
        assert contains(held, body["spec"]), (key, held)
        assert not api.warnings(body), key


def contains(held: Any, sent: Any) -> bool:
    if isinstance(sent, dict):
        return isinstance(held, dict) and all(contains(held.get(key), value) for key, value in sent.items())
    if isinstance(sent, list):
        return len(held) == len(sent) and all(contains(h, s) for h, s in zip(held, sent, strict=True))
    return bool(held == sent)


def test_every_key_is_set_changed_and_removed(api: Api, api_server: ControlPlane) -> None:
    client = Client(api_server.admin_kubeconfig)
    try:
        held: dict[tuple[str, str], Any] = {}
        for settings in (PLAIN, FULL, CHANGED, PLAIN):
            for key, body in objects(settings).items():
                held[key] = client.apply(body, "pulumi", force=True)["spec"]
                assert contains(held[key], body["spec"]), key
        for key, body in objects(PLAIN).items():
            kept = surplus(held[key], body["spec"])
            # The definition's own defaults.
            assert kept <= {"osDiskSizeGB"}, (key, kept)
    finally:
        for kind, name in reversed(objects(PLAIN)):
            version = karpenter_objects.NODE_CLASS_API if kind == NODE_CLASS else karpenter_objects.NODE_POOL_API
            client.delete(version, kind, name)
        client.close()


def surplus(held: Any, sent: Any) -> set[str]:
    """Return the keys that an object has and nobody sent."""
    if isinstance(sent, dict):
        inner = {key for name in sent for key in surplus(held[name], sent[name])}
        return {name for name in held if name not in sent} | inner
    if isinstance(sent, list):
        return {key for h, s in zip(held, sent, strict=True) for key in surplus(h, s)}
    return set()


WRONG = [
    (NODE_POOL, ["weight"], 101, "100"),
    (NODE_POOL, ["limits"], {"nodes": "many"}, "limits.nodes"),
    (
        NODE_POOL,
        ["template", "metadata", "labels"],
        {"karpenter.sh/team": "a"},
        'label domain "karpenter.sh" is restricted',
    ),
    (NODE_POOL, ["template", "metadata", "labels"], {"accelerator": "nvidia"}, 'label "accelerator" is restricted'),
    (NODE_POOL, ["template", "metadata", "labels"], {"kubernetes.azure.com/agentpool": "a"}, "kubernetes.azure.com"),
    (NODE_POOL, ["template", "spec", "expireAfter"], "30d", "expireAfter"),
    (
        NODE_POOL,
        ["template", "spec", "requirements"],
        [{"key": "kubernetes.io/os", "operator": "In", "values": []}],
        "must have a value",
    ),
    (NODE_POOL, ["disruption", "consolidationPolicy"], "WhenIdle", "consolidationPolicy"),
    (NODE_POOL, ["disruption", "budgets"], [{"nodes": "101%"}], "budgets"),
    (NODE_POOL, ["disruption", "budgets"], [{"nodes": "1", "reasons": ["Expired"]}], "reasons"),
    (NODE_CLASS, ["maxPods"], 9, "maxPods"),
    (NODE_CLASS, ["osDiskSizeGB"], 29, "osDiskSizeGB"),
    (NODE_CLASS, ["imageFamily"], "Windows2022", "imageFamily"),
    (NODE_CLASS, ["vnetSubnetID"], "gpu", "vnetSubnetID"),
    (NODE_CLASS, ["tags"], {"a<b": "c"}, "tags keys must not contain"),
    (NODE_CLASS, ["gpu"], {"mode": "Install"}, "gpu.mode"),
]


@pytest.mark.parametrize(("kind", "path", "value", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_value_is_refused(api: Api, kind: str, path: list[str], value: Any, words: str) -> None:
    body = objects(PLAIN)[kind, "t4"]
    *parents, last = path
    place = body["spec"]
    for name in parents:
        place = place[name]
    place[last] = value
    assert words in refused(api, body)
