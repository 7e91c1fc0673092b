"""The DaemonSets on GPU nodes: where they go, how they share GPUs, and what a change of that touches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.addons import names
from components.addons.gpu import dcgm, device_plugin, device_plugin_plan, existing_plugins, mps, plugin_config
from components.addons.gpu.matching import may_run
from config.clouds.azure.traits import aks
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.placement.node_pools import NodePool
from tests.components.program import PROJECT, Declared, declare, stack_config
from tests.config import stack
from tests.sandbox.stack import Stack

SHARING = PROJECT / "tests" / "configs" / "sharing.happy.yaml"
POOL = "azure-native:containerservice:AgentPool"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0@sha256:00"

LABEL = "nvidia.com/device-plugin.config"
"""As NVIDIA's README has it, not as our code does."""


def spec_of(settings: dict[str, Any]) -> ClusterSpec:
    return stack.spec({key.removeprefix("kubeflow-spot:"): value for key, value in settings.items()})


def gpu_pools(spec: ClusterSpec) -> dict[str, NodePool]:
    return {pool.name: pool for pool in node_pools.node_pools(spec, aks()) if pool.gpus}


@pytest.fixture
def spec() -> ClusterSpec:
    return spec_of(stack_config(SHARING))


@pytest.fixture
def pools(spec: ClusterSpec) -> dict[str, NodePool]:
    return gpu_pools(spec)


def with_(spec: ClusterSpec, name: str, **changed: Any) -> dict[str, NodePool]:
    """The GPU pools after a change of one pool of the file."""
    new = tuple(pool.model_copy(update=changed) if pool.name == name else pool for pool in spec.pools)
    return gpu_pools(spec.model_copy(update={"pools": new}))


def replicas(spec: ClusterSpec, name: str, number: int) -> dict[str, NodePool]:
    (sharing,) = (pool.gpu_sharing for pool in spec.pools if pool.name == name)
    assert sharing
    return with_(spec, name, gpu_sharing=sharing.model_copy(update={"replicas": number}))


def plugin(pools: dict[str, NodePool]) -> dict[str, Any]:
    return device_plugin.daemon_set_spec(list(pools.values()), IMAGE, "dev")


def mps_daemon(pool: NodePool) -> dict[str, Any]:
    return mps.daemon_set_spec(pool, IMAGE, "dev", "configs")


def exporter(pools: dict[str, NodePool]) -> dict[str, Any]:
    return dcgm.daemon_set_spec(list(pools.values()), IMAGE, "dev")


def pod(daemon_set: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = daemon_set["template"]["spec"]
    return found


def main_container(daemon_set: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = pod(daemon_set)["containers"][-1]
    return found


def environment(container: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one.get("value", "") for one in container.get("env", [])}


def test_each_pool_has_the_configuration_that_its_nodes_label_names(pools: dict[str, NodePool]) -> None:
    data = {key: yaml.safe_load(text) for key, text in plugin_config.data(list(pools.values())).items()}
    named = {name: data[pool.labels[LABEL]] for name, pool in pools.items() if LABEL in pool.labels}
    assert sorted(named) == ["notebooks", "serving", "servingod", "slices"]

    def shared(number: int) -> dict[str, Any]:
        return {"failRequestsGreaterThanOne": True, "resources": [{"name": "nvidia.com/gpu", "replicas": number}]}

    assert named["notebooks"] == {
        "version": "v1",
        "flags": {"migStrategy": "none"},
        "sharing": {"timeSlicing": shared(4)},
    }
    assert named["serving"] == named["servingod"]
    assert named["serving"]["sharing"] == {"mps": shared(8)}
    assert named["slices"]["flags"] == {"migStrategy": "single"}
    assert named["slices"]["sharing"] == {"timeSlicing": shared(2)}


def test_nodes_without_the_label_or_with_one_of_before_have_whole_gpus(pools: dict[str, NodePool]) -> None:
    data = plugin_config.data(list(pools.values()))
    whole = {"version": "v1", "flags": {"migStrategy": "none"}}
    assert yaml.safe_load(data["train"]) == whole
    (init,) = pod(plugin(pools))["initContainers"]
    default = environment(init)["DEFAULT_CONFIG"]
    assert yaml.safe_load(data[default]) == whole
    # Whatever a pool is called, its configuration is its own.
    assert default not in {pool.label for pool in gpu_pools(named_default()).values()}


def named_default() -> ClusterSpec:
    pool = {"name": "default", "machine": "Standard_NC4as_T4_v3", "maxNodes": 1}
    return stack.spec(stack.good(pools=[{**pool, "gpuSharing": {"strategy": "mps", "replicas": 2}}]))


def test_a_pool_named_by_its_generation_keeps_its_configuration(spec: ClusterSpec) -> None:
    pools = with_(spec, "notebooks", generation="b")
    assert pools["notebooksb"].labels[LABEL] == "notebooks"
    assert "notebooks" in plugin_config.data(list(pools.values()))
    assert may_run(pod(plugin(pools)), pools["notebooksb"].labels, pools["notebooksb"].taints)


@pytest.mark.parametrize("changed", [{"install_driver": False}, {"gpu_sharing": None}])
def test_the_label_is_only_where_this_stacks_plugin_reads_it(spec: ClusterSpec, changed: dict[str, Any]) -> None:
    assert LABEL not in with_(spec, "notebooks", **changed)["notebooks"].labels


def test_the_label_is_nowhere_when_the_plugin_is_never_installed() -> None:
    settings = stack_config(PROJECT / "tests" / "configs" / "mig.happy.yaml")
    assert LABEL in gpu_pools(spec_of(settings))["slices"].labels
    settings["kubeflow-spot:devicePlugin"] = {"install": "never"}
    assert LABEL not in gpu_pools(spec_of(settings))["slices"].labels


def test_the_manager_links_the_file_that_the_plugin_reads_and_signals_it(pools: dict[str, NodePool]) -> None:
    spec = pod(plugin(pools))
    (init,), (sidecar, main) = spec["initContainers"], spec["containers"]
    assert spec["shareProcessNamespace"] is True
    assert environment(init)["ONESHOT"] == "true"
    followed = environment(sidecar)
    assert (followed["ONESHOT"], followed["SEND_SIGNAL"], followed["SIGNAL"]) == ("false", "true", "1")
    assert followed["PROCESS_TO_SIGNAL"] == main["command"][0]
    assert followed["NODE_LABEL"] == LABEL
    assert followed["CONFIG_FILE_DST"] == environment(main)["CONFIG_FILE"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    for container in (init, sidecar, main):
        mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
        assert mounts[followed["CONFIG_FILE_SRCDIR"]]["configMap"]["name"] == "kubeflow-spot-dev-device-plugin"
        assert "emptyDir" in mounts[str(Path(followed["CONFIG_FILE_DST"]).parent)]
    # The file's settings count for less than the environment's.
    assert "MIG_STRATEGY" not in environment(main)


def test_a_plugin_that_shares_nothing_runs_alone(pools: dict[str, NodePool]) -> None:
    daemon_set = plugin({"train": pools["train"]})
    assert "annotations" not in daemon_set["template"]["metadata"]
    assert {"initContainers", "serviceAccountName", "shareProcessNamespace"}.isdisjoint(pod(daemon_set))
    (container,) = pod(daemon_set)["containers"]
    assert "env" not in container


@pytest.mark.parametrize(("name", "privileged"), [("notebooks", False), ("serving", True), ("slices", True)])
def test_only_mig_and_mps_make_the_plugin_privileged(name: str, privileged: bool, pools: dict[str, NodePool]) -> None:
    capabilities = main_container(plugin({name: pools[name]}))["securityContext"]["capabilities"]
    assert capabilities == ({"add": ["SYS_ADMIN"]} if privileged else {"drop": ["ALL"]})


def test_every_agent_runs_on_all_nodes_it_serves_whatever_their_taints_and_on_no_others(
    pools: dict[str, NodePool],
) -> None:
    taints = {str(taint) for taint in pools["notebooks"].taints}
    assert {"example.com/shared=yes:NoSchedule", "example.com/shared=yes:NoExecute"} < taints
    agents = {
        "plugin": (plugin(pools), set(pools)),
        "exporter": (exporter(pools), set(pools)),
        "one pool's plugin": (plugin({"train": pools["train"]}), {"train"}),
        "mps": (mps_daemon(pools["serving"]), {"serving"}),
        "mps of the twin": (mps_daemon(pools["servingod"]), {"servingod"}),
    }
    for agent, (daemon_set, served) in agents.items():
        reached = {name for name, pool in pools.items() if may_run(pod(daemon_set), pool.labels, pool.taints)}
        assert reached == served, agent
        assert pod(daemon_set)["priorityClassName"] == "system-node-critical"
        assert daemon_set["selector"]["matchLabels"].items() <= daemon_set["template"]["metadata"]["labels"].items()
    selectors = [tuple(sorted(daemon_set["selector"]["matchLabels"].items())) for daemon_set, _ in agents.values()]
    assert len(set(selectors)) == len(agents) - 1  # the two plugins are one, of two stacks


def test_the_mps_daemon_and_the_plugin_meet_where_nvidias_chart_has_them(pools: dict[str, NodePool]) -> None:
    daemon = mps_daemon(pools["serving"])
    assert pod(daemon)["hostPID"] is True
    # A node that does not carry the label yet has a plugin that hands out whole GPUs.
    assert pod(daemon)["nodeSelector"] == {LABEL: "serving"}
    (shm,) = pod(daemon)["initContainers"]
    assert shm["command"] == ["mps-control-daemon", "mount-shm"]
    assert [mount["mountPropagation"] for mount in shm["volumeMounts"]] == ["Bidirectional"]
    for daemon_set in (daemon, plugin(pools)):
        container = main_container(daemon_set)
        paths = {volume["name"]: volume.get("hostPath", {}).get("path") for volume in pod(daemon_set)["volumes"]}
        mounts = {mount["mountPath"]: paths[mount["name"]] for mount in container["volumeMounts"]}
        assert mounts["/mps"] == "/run/nvidia/mps"
        assert mounts["/dev/shm"] == "/run/nvidia/mps/shm"
    assert environment(main_container(plugin(pools)))["MPS_ROOT"] == "/run/nvidia/mps"
    (volume,) = (volume for volume in pod(daemon)["volumes"] if "configMap" in volume)
    (item,) = volume["configMap"]["items"]
    assert item["key"] == pools["serving"].labels[LABEL]
    (mounted,) = (mount for mount in main_container(daemon)["volumeMounts"] if mount["name"] == volume["name"])
    assert environment(main_container(daemon))["CONFIG_FILE"] == f"{mounted['mountPath']}/{item['path']}"


def test_a_changed_setting_rolls_the_plugin_and_no_other_pools_mps_daemon(
    spec: ClusterSpec, pools: dict[str, NodePool]
) -> None:
    changed = replicas(spec, "serving", 4)
    assert {name: pool.labels for name, pool in changed.items()} == {name: pool.labels for name, pool in pools.items()}
    assert plugin(changed)["template"] != plugin(pools)["template"]
    assert mps_daemon(changed["serving"])["template"] != mps_daemon(pools["serving"])["template"]
    other = replicas(spec, "notebooks", 8)
    assert plugin(other)["template"] != plugin(pools)["template"]
    # It would end the work of every pod there.
    assert mps_daemon(other["serving"]) == mps_daemon(pools["serving"])
    # What the kubelet need not read anew rolls nothing.
    assert plugin(dict(reversed(pools.items()))) == plugin(pools)


def test_a_foreign_plugin_is_said_not_to_know_of_sharing(spec: ClusterSpec, pools: dict[str, NodePool]) -> None:
    reaching = existing_plugins.Plugin("gpu", "theirs", {"tolerations": [{"operator": "Exists"}]})
    decision = device_plugin_plan.plan(spec, aks(), list(pools.values()), [reaching])
    assert decision.pools == ()
    assert list(decision.warnings)[1:] == [
        "notebooks, serving, servingod, slices: the device plugin there does not know of gpuSharing in this stack's file"
    ]


def policy(**content: Any) -> dict[str, Any]:
    everywhere = {"tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"name": "cluster-policy"}, "spec": {"daemonsets": everywhere, **content}}


def theirs(image: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    spec = {"containers": [{"image": image}], "tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"namespace": "gpu", "name": "theirs", "labels": labels}, "spec": {"template": {"spec": spec}}}


@pytest.mark.parametrize(
    ("daemon_sets", "policies", "ours"),
    [
        ([], [], True),
        ([], [policy()], False),
        ([], [policy(dcgmExporter={"enabled": False})], True),
        ([], [policy(devicePlugin={"enabled": False})], False),
        ([theirs("nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless")], [], False),
        ([theirs("nvcr.io/nvidia/k8s/dcgm-exporter@sha256:00", names.labels("dev"))], [], True),
        ([theirs("nvcr.io/nvidia/k8s-device-plugin:v0.20.0")], [], True),
    ],
)
def test_the_exporter_leaves_pools_to_one_that_reaches_them(
    daemon_sets: list[Any], policies: list[Any], ours: bool, spec: ClusterSpec, pools: dict[str, NodePool]
) -> None:
    found = dcgm.plan(spec, list(pools.values()), dcgm.exporters(daemon_sets, policies, "dev"))
    assert [pool.name for pool in found.pools] == (list(pools) if ours else [])
    assert bool(found.warnings) is not ours


def test_the_exporter_is_for_pools_with_the_clouds_driver_and_only_when_asked(spec: ClusterSpec) -> None:
    bare = with_(spec, "train", install_driver=False)
    found = dcgm.plan(spec, list(bare.values()))
    assert "train" not in {pool.name for pool in found.pools}
    assert found.warnings == ("train: no DCGM exporter without the cloud's driver (installDriver: false)",)
    (nothing,) = dcgm.plan(spec, []).warnings
    assert nothing.startswith("dcgmExporter.enabled: ")
    off = spec.model_copy(update={"dcgm_exporter": spec.dcgm_exporter.model_copy(update={"enabled": False})})
    assert dcgm.plan(off, list(bare.values())) == dcgm.ExporterPlan()


def test_the_service_selects_the_exporters_pods_and_their_port(pools: dict[str, NodePool]) -> None:
    service = dcgm.service_spec("dev")
    assert service["selector"].items() <= exporter(pools)["template"]["metadata"]["labels"].items()
    assert service["clusterIP"] == "None"
    (port,), (container_port,) = service["ports"], main_container(exporter(pools))["ports"]
    assert (port["port"], container_port["containerPort"]) == (9400, 9400)
    assert port["targetPort"] == container_port["name"]


@pytest.mark.parametrize("role", [device_plugin.ROLE, dcgm.ROLE, mps.ROLE])
def test_names_fit_whatever_the_stack_is_called(role: str) -> None:
    # The label app.kubernetes.io/name has no instance in it; a Service's name may have 63 characters.
    assert len(names.object_name(names.instance("S" * 100), role)) <= 63


@pytest.fixture
def settings() -> dict[str, Any]:
    return stack_config(SHARING)


def inside(declared: Declared) -> dict[str, dict[str, Any]]:
    """The objects of this file in the cluster, as `Kind/name`."""
    kinds = ("DaemonSet", "Service", "ServiceAccount", "ClusterRole", "ClusterRoleBinding")
    found = [r for r in declared.resources if r.type.startswith("kubernetes:")]
    return {
        f"{r.inputs['kind']}/{r.inputs['metadata']['name']}": r.inputs
        for r in found
        if r.inputs["kind"] in kinds or r.inputs["metadata"]["name"] == "kubeflow-spot-test-device-plugin"
    }


@pytest.mark.program
def test_a_stack_that_shares_declares_all_that_its_pods_refer_to(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = declare(settings, monkeypatch)
    objects = inside(declared)
    called = "kubeflow-spot-test-device-plugin"
    assert set(objects) == {
        f"ConfigMap/{called}",
        f"ServiceAccount/{called}",
        f"ClusterRole/{called}",
        f"ClusterRoleBinding/{called}",
        f"DaemonSet/{called}",
        "DaemonSet/kubeflow-spot-test-mps-serving",
        "DaemonSet/kubeflow-spot-test-mps-servingod",
        "DaemonSet/kubeflow-spot-test-dcgm-exporter",
        "Service/kubeflow-spot-test-dcgm-exporter",
    }
    for shown in objects.values():
        spec = shown["spec"]["template"]["spec"] if shown["kind"] == "DaemonSet" else {}
        assert spec.get("serviceAccountName", called) == called
        assert {v["configMap"]["name"] for v in spec.get("volumes", []) if "configMap" in v} <= {called}
        for container in (*spec.get("initContainers", []), *spec.get("containers", [])):
            assert "@sha256:" in container["image"]
    binding = objects[f"ClusterRoleBinding/{called}"]
    assert binding["roleRef"]["name"] == called
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": called, "namespace": "kube-system"}]
    assert objects[f"ClusterRole/{called}"]["rules"] == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}
    ]
    first = {"ConfigMap", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"}
    for daemon_set in declared.of(DAEMON_SET).values():
        waits = {urn.split("::")[2].rpartition(":")[2] for urn in daemon_set.options.get("dependencies", [])}
        sharing = "dcgm" not in daemon_set.name
        assert (first <= waits) is sharing, daemon_set.name


@pytest.mark.program
def test_the_label_is_on_the_pool_itself_and_so_known_before_it_has_a_node(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = declare(settings, monkeypatch)
    data = inside(declared)["ConfigMap/kubeflow-spot-test-device-plugin"]["data"]
    labels = {pool.inputs["agentPoolName"]: pool.inputs["nodeLabels"] for pool in declared.of(POOL).values()}
    assert {name: found.get(LABEL) for name, found in labels.items()} == {
        "general": None,
        "notebooks": "notebooks",
        "serving": "serving",
        "servingod": "servingod",
        "slices": "slices",
        "train": None,
    }
    assert {found[LABEL] for found in labels.values() if LABEL in found} <= set(data)


@pytest.mark.program
def test_another_number_of_replicas_leaves_every_pool_as_it_is(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def declared() -> dict[str, dict[str, Any]]:
        found = declare(settings, monkeypatch).resources
        return {r.name: r.inputs for r in found if r.type.startswith(("azure-native:", "kubernetes:apps"))}

    before = declared()
    settings["kubeflow-spot:pools"][1]["gpuSharing"]["replicas"] = 2
    after = declared()
    assert after.keys() == before.keys()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"ml-sharing-device-plugin"}


@pytest.mark.program
def test_without_sharing_there_is_the_plugin_alone(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    settings["kubeflow-spot:pools"] = [settings["kubeflow-spot:pools"][index] for index in (0, -1)]
    settings["kubeflow-spot:dcgmExporter"] = {"enabled": False}
    assert set(inside(declare(settings, monkeypatch))) == {"DaemonSet/kubeflow-spot-test-device-plugin"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    here = Stack.copy(tmp_path_factory.mktemp("sharing"))
    here.file.write_text(SHARING.read_text())
    here.run("up")
    yield here
    here.run("down")


@pytest.mark.engine
def test_a_real_api_server_takes_it_all_and_a_change_replaces_nothing(running: Stack) -> None:
    assert running.steps() == []
    found = {one["metadata"]["name"] for one in running.get("daemonsets", "-n", "kube-system")["items"]}
    assert found == {
        f"kubeflow-spot-dev-{role}" for role in ("device-plugin", "mps-serving", "mps-servingod", "dcgm-exporter")
    }
    # The manager watches its node as the account that its pod has, and may do nothing else.
    account = "--as=system:serviceaccount:kube-system:kubeflow-spot-dev-device-plugin"
    assert running.kubectl("auth", "can-i", "watch", "nodes", account).strip() == "yes"
    running.kubectl("auth", "can-i", "patch", "nodes", account, ok=False)
    config = running.config
    config["pools"][1]["gpuSharing"]["replicas"] = 2
    config["pools"][4]["gpuSharing"] = {"strategy": "time-slicing", "replicas": 2}
    running.write(config)
    steps = {name: (op, diff) for op, name, diff in running.steps()}
    assert {op for op, _ in steps.values()} == {"update"}
    pools = {
        name: diff for name, (_, diff) in steps.items() if name.startswith("ml-sharing-") and "nodeLabels" in str(diff)
    }
    assert list(pools) == ["ml-sharing-train"]
    assert {"ml-sharing-device-plugin", "ml-sharing-device-plugin-configs"} <= steps.keys()
    assert not {name for name in steps if "mps" in name}
    running.run("up")
