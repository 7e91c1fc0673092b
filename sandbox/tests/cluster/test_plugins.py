"""The seam of the clouds: a further cloud is a folder with a plugin, and its name in one list."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sandbox.azure.scale_sets import SPOT
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import Bounds, NodeGroup
from sandbox.cloud.plugin import Plugin
from sandbox.cloud.provider import CloudProvider, Failure, Props, Refused, Resource
from sandbox.cloud.quotas import Quotas
from sandbox.cloud.resource_type import ResourceType, Types
from sandbox.cloud.state import Body, Record, Resources, States
from sandbox.cluster import plugins
from sandbox.engine import cloud_file, clouds
from sandbox.engine.cloud_file import CloudFile

CLUSTER = "toy:box:Cluster"


class ToyQuotas(Quotas):
    where, example = "quotas.toy", "{boxes: 4}"

    @classmethod
    def known(cls, region: str) -> set[str]:
        return {"boxes"} if region == "here" else set()

    @classmethod
    def unknown(cls, region: str) -> str:
        return "is no quota"


class ToyCloud(EmulatedCloud):
    """Clusters with one machine, of which nothing is refused."""

    cluster, pool, folder = CLUSTER, "toy:box:Pool", "pools"
    types: Types[Any] = Types([ResourceType(CLUSTER, {"path": "toy/{name}"})])
    states = States("state", "making", "changing", "going", "fine", "broken")
    spot = SPOT
    machines: Any = SimpleNamespace(settle=lambda resources: None, bounds=lambda pool: Bounds(0, 1))
    view: Any = SimpleNamespace(group=NodeGroup, nodes=lambda *_: [], profile=lambda cluster: {})

    def __init__(self, state_file: Path, runtime: Any, quotas: ToyQuotas) -> None:
        super().__init__(state_file, runtime)
        self.quotas = quotas

    def create(self, id: str, body: Body) -> None:
        with self._change() as resources:
            resources.put(Record(CLUSTER, id, body))

    def edit(self, id: str, before: Body, after: Body) -> None:
        raise NotImplementedError

    def _start(self, cluster: Record) -> Callable[[Record], None]:
        return lambda record: None

    def _gone(self, id: str) -> Refused:
        return Refused(id)

    def _not_deleted(self, id: str, error: Exception) -> Refused:
        return Refused(str(error))

    def _not_made(self, record: Record, error: Exception) -> str:
        return str(error)

    def _usage(self, resources: Resources) -> None:
        pass

    def _beyond_quota(self, resources: Resources, before: None) -> str:
        return ""


class ToyProvider(CloudProvider):
    def __init__(self, cloud: ToyCloud) -> None:
        self._cloud = cloud

    def check(self, resource: Resource) -> tuple[Props, list[Failure]]:
        return resource.inputs, []

    def create(self, resource: Resource) -> tuple[str, Props]:
        self._cloud.create(f"toy/{resource.inputs['name']}", resource.inputs)
        return "", {}


PLUGIN = Plugin(
    name="toy",
    package="toy",
    state_file="toy.json",
    quotas=ToyQuotas,
    open=ToyCloud,
    provider=ToyProvider,
    id_of=lambda type, inputs: f"toy/{inputs['name']}",
    naming=lambda type: ["name"],
    objects=lambda version: [],
    admission=(),
    drivers={},
    spot=SPOT,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a home where the toy cloud is a third one, by its name alone."""
    module = ModuleType("sandbox.toy.toy_plugin")
    module.PLUGIN = PLUGIN  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sandbox.toy", ModuleType("sandbox.toy"))
    monkeypatch.setitem(sys.modules, "sandbox.toy.toy_plugin", module)
    monkeypatch.setattr(plugins, "NAMES", (*plugins.NAMES, "toy"))
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path))
    return Home("dev", tmp_path, tmp_path)


def test_a_third_cloud_is_opened_with_its_quotas_and_takes_a_cloud_file(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "cloud.yaml"
    file.write_text(
        "quotas: {westeurope: {cores: 9}, toy: {here: {boxes: 2}}}\nresources: [{type: toy:box:Cluster, inputs: {name: one}}]\n"
    )
    opened = clouds.opened(home, dict, print)
    requested = CloudFile.read(file, opened)
    cloud_file.make(requested, opened, print)
    requested.keep(home.cloud)
    assert opened.holding("toy/one").get("toy/one") == {"name": "one"}
    toy = clouds.opened(home, dict, print).opened["toy"]
    assert isinstance(toy, ToyCloud)
    assert toy.quotas.limit("here", "boxes") == 2
    assert plugins.limits("azure", home.cloud).limits == {"westeurope": {"cores": 9}}


def test_the_quotas_of_a_third_cloud_are_checked_by_path(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "cloud.yaml"
    file.write_text("quotas: {toy: {here: {cans: 2}, there: {boxes: 1}}}\n")
    with pytest.raises(SandboxError) as wrong:
        CloudFile.read(file, clouds.opened(home, dict, print))
    assert "quotas.toy.here.cans: is no quota" in str(wrong.value)
    assert "quotas.toy.there: is not a region" in str(wrong.value)


def test_a_name_of_no_cloud_has_no_plugin() -> None:
    with pytest.raises(KeyError):
        plugins.plugin("toy")
