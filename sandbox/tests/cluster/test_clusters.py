"""Folders and names of emulated clusters: each has a control plane and a name of its own."""

import itertools
import json
from pathlib import Path

import pytest

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.cloud.cluster_runtime import Provisioner
from sandbox.cluster import clusters
from sandbox.cluster.clusters import LocalClusters
from sandbox.cluster.control_plane import ControlPlane, program_flags
from sandbox.cluster.control_plane.plane import PROVISIONER
from sandbox.cluster.control_plane.ports import NAMES
from sandbox.cluster.control_plane.program_flags import Settings
from sandbox.engine import out_of_band
from sandbox.engine.clouds import Clouds
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.tests.azure.conftest import CLUSTER_INPUTS, GROUP, SYSTEM, Account

PROVIDERS = "providers/Microsoft.ContainerService/managedClusters"


def aks(group: str, name: str, subscription: str = "00000000-0000-4000-8000-00000000a2e5") -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{group}/{PROVIDERS}/{name}"


def gke(project: str, location: str, name: str) -> str:
    return f"projects/{project}/locations/{location}/clusters/{name}"


# A separator of two parts may also be inside a part.
ALIKE = [
    aks("ml", "dev-x"),
    aks("ml-dev", "x"),
    aks("ml", "dev_x"),
    aks("ml_dev", "x"),
    aks("ml", "dev-x", "11111111-0000-4000-8000-00000000a2e5"),
    gke("ml", "dev", "x"),
    gke("ml-dev", "europe-west4", "x"),
    gke("ml", "dev-europe-west4", "x"),
    gke("ml", "dev", "europe-west4-x"),
    aks("ml-dev", "europe-west4-x"),
]


def unstarted(directory: Path, cloud: str = "azure") -> LocalClusters:
    def none() -> dict[str, Path]:
        raise SandboxError("no programs")

    return LocalClusters(directory, cloud, none, print, directory / "state.json")


def stopped_at_the_programs(local: LocalClusters, *ids: str) -> None:
    """Start clusters, which have no programs to run."""
    for id in ids:
        with pytest.raises(SandboxError, match="no programs"):
            local.start(id, id.rpartition("/")[2], "1.36", "10.0.0.0/16")


def test_no_two_clusters_share_a_folder(tmp_path: Path) -> None:
    azure, google = unstarted(tmp_path), unstarted(tmp_path, "gcp")
    for id in ALIKE:
        stopped_at_the_programs(azure if id.startswith("/") else google, id)
    folders = [azure.folder(id) for id in ALIKE]
    assert len(set(folders)) == len(ALIKE)
    assert [clusters.cluster_of(folder) for folder in folders] == ALIKE


def test_a_cluster_keeps_its_folder_however_its_id_is_spelled(tmp_path: Path) -> None:
    local = unstarted(tmp_path)
    before = local.folder(aks("ML", "Dev"))
    stopped_at_the_programs(local, aks("ml", "dev"))
    assert local.folder(aks("ML", "Dev")) == local.folder(aks("ml", "dev")) == before


@pytest.mark.parametrize("id", [aks("g" * 90, "c" * 63), gke("p" * 30, "northamerica-northeast1", "c" * 40)])
def test_a_folder_s_name_is_short(id: str) -> None:
    assert len(clusters.folder_name(id)) <= 80


OLD = {"version": "1.36", "cloud": "azure", "service_cidr": "10.0.0.0/16"}


def of_earlier_version(directory: Path, folder: str, id: str) -> Path:
    """Make a control plane under the name of an earlier version, which joined the parts."""
    earlier = directory / folder
    earlier.mkdir(parents=True)
    loops = ["--cloud=azure", f"--state={directory / 'state.json'}", f"--cluster={id}"]
    (earlier / "cluster.json").write_text(json.dumps({**OLD, "loops": loops}))
    return earlier


def test_a_control_plane_of_an_earlier_version_keeps_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = of_earlier_version(tmp_path, "ml-dev-x", aks("ml-dev", "x").lower())
    local = unstarted(tmp_path)
    assert local.folder(aks("ml-dev", "x")) == before
    stopped_at_the_programs(local, aks("ml-dev", "x"))
    assert [plane.directory for plane in clusters.planes(tmp_path)] == [before]
    assert capsys.readouterr().out == ""


def test_two_clusters_with_a_shared_folder_get_one_each_and_up_reports_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = of_earlier_version(tmp_path, "ml-dev-x", aks("ml-dev", "x").lower())
    local = unstarted(tmp_path)
    stopped_at_the_programs(local, aks("ml", "dev-x"))
    assert local.folder(aks("ml", "dev-x")) != before
    lines = capsys.readouterr().out
    assert "cluster ml/dev-x gets a control plane of its own" in lines
    assert "that of ml-dev/x; `up --refresh` makes anew what was declared in it" in lines
    stopped_at_the_programs(local, aks("ml", "dev-x"))
    assert capsys.readouterr().out == ""


def test_a_cluster_is_named_by_the_shortest_unique_part_of_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path))
    home = Home.of("dev", tmp_path)
    ids = [aks("ml", "dev-x"), aks("ml-dev", "x"), aks("other", "x"), gke("example", "europe-west4", "ml")]
    for id in ids:
        stopped_at_the_programs(unstarted(home.clusters, "azure" if id.startswith("/") else "gcp"), id)

    def named(name: str) -> str | None:
        return clusters.cluster_of(clusters.of_stack(home, name).directory)

    assert [named(name) for name in ("dev-x", "ml-dev/x", "Other/X", "europe-west4/ml")] == ids
    # A part of a name does not count.
    for name in ("x", "ev-x", "dev/x", "west4/ml"):
        with pytest.raises(SandboxError, match=r"clusters: .*ml-dev/x.*other/x"):
            named(name)


def test_two_pools_of_one_name_are_changed_by_their_clusters_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path))
    home = Home.of("dev", tmp_path)
    account = Account(tmp_path / "azure.json")
    attached = Clouds({"azure-native": account.cloud, "gcp": GcpCloud(tmp_path / "gcp.json", account.runtime)})
    monkeypatch.setattr(out_of_band.clouds, "opened", lambda *_: attached)
    system = {**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 5}
    for group in ("ml", "Other"):
        account.create(GROUP, {"resourceGroupName": group})
        account.cluster(**{**CLUSTER_INPUTS, "resourceGroupName": group, "agentPoolProfiles": [system]})
    with pytest.raises(SandboxError, match=r"more than one pool 'aks/system'; pools: ml/aks/system, other/aks/system"):
        out_of_band.scale(home, "aks/system", 2, print)
    assert out_of_band.scale(home, "Other/aks/system", 3, print) == 1
    out_of_band.edit(home, "ml/aks/system", "{maxCount: 4}", print)
    assert {p.id.split("/")[4]: (p.count, p.most) for p in account.cloud.pools()} == {"ml": (1, 4), "Other": (3, 5)}


def test_a_cluster_gets_the_program_that_makes_its_nodes_with_the_definitions_that_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "karpenter"
    program.write_text('#!/bin/sh\necho "--- {kind: $1}"\n')
    program.chmod(0o755)
    started: list[ControlPlane] = []
    installed: list[object] = []
    monkeypatch.setattr("sandbox.toolchain.programs.ensure", lambda names, _: dict.fromkeys(names, program))
    monkeypatch.setattr("sandbox.cluster.control_plane.start.start", lambda plane, *_: started.append(plane))
    monkeypatch.setattr(clusters.plugins, "install", lambda *arguments: installed.append(arguments[3]))
    monkeypatch.setenv(clusters.CLOCK_FACTOR, "60")
    local = LocalClusters(tmp_path, "azure", dict, print, tmp_path / "state.json")
    provisioner = Provisioner("karpenter", ["--location=westeurope"], {"CLUSTER_NAME": "x"})
    local.start(aks("ml", "x"), "x", "1.36", "10.0.0.0/16", provisioner)
    local.start(aks("ml", "y"), "y", "1.36", "10.0.0.0/16")
    with_it, _ = started
    assert installed == [[{"kind": "crds"}], []]
    assert [PROVISIONER in plane.processes for plane in started] == [True, False]
    assert ["--provisioner" in plane.loops for plane in started] == [True, False]
    settings = Settings(with_it, dict.fromkeys(NAMES, 1), {"karpenter": program}, None, "1.36.2")
    command = program_flags.provisioner(settings, with_it.provisioner or {})
    socket = f"--azure={with_it.directory}/provisioner.sock"
    assert command.arguments == [str(program), "run", socket, "--location=westeurope", "--clock-factor=60"]
    assert command.environment["CLUSTER_NAME"] == "x"
    assert command.environment["KUBECONFIG"] == str(with_it.admin_kubeconfig)


def test_a_stack_named_like_a_lock_of_another_has_a_lock_and_a_folder_of_its_own(tmp_path: Path) -> None:
    homes = [Home.of(stack, tmp_path) for stack in ("dev", "dev.lock", "dev-cloud.lock", "dev-command.lock")]
    places = [place for home in homes for place in (home.directory, home.lock, home.cloud_lock)]
    assert all(first != second for first, second in itertools.combinations(places, 2))
