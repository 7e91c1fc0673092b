"""The DaemonSets on GPU nodes: their nodes, GPU sharing, and the effects of a change."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_kubernetes.apps.v1 import DaemonSetSpecArgs

from components.layer import names
from components.layer.gpu import dcgm, device_plugin, device_plugin_plan, existing_plugins, mps, plugin_config
from components.layer.gpu.matching import may_run
from components.resources import wire
from config.clouds.azure.azure_traits import Aks
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.placement.node_pools import NodePool
from sandbox.autoscaler import devices
from sandbox.cloud.node_groups import Gpus
from tests.components.gpu_agents import (
    IMAGE,
    LABEL,
    SHARING,
    environment,
    exporter,
    gpu_pools,
    main_container,
    mps_daemon,
    plugin,
    pod,
    replicas,
    spec_of,
    with_,
)
from tests.components.program import PROJECT, stack_config
from tests.config import stack


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


def test_only_a_plugin_with_configurations_gets_a_token(pools: dict[str, NodePool]) -> None:
    assert "automountServiceAccountToken" not in pod(plugin(pools))
    assert pod(plugin({"train": pools["train"]}))["automountServiceAccountToken"] is False


def test_nodes_without_the_label_or_with_one_of_before_have_whole_gpus(pools: dict[str, NodePool]) -> None:
    data = plugin_config.data(list(pools.values()))
    whole = {"version": "v1", "flags": {"migStrategy": "none"}}
    assert yaml.safe_load(data["train"]) == whole
    (init,) = pod(plugin(pools))["initContainers"]
    default = environment(init)["DEFAULT_CONFIG"]
    assert yaml.safe_load(data[default]) == whole
    # A pool of any name has its own configuration.
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


@pytest.mark.parametrize(("name", "privileged"), [("notebooks", False), ("serving", True), ("slices", True)])
def test_only_mig_and_mps_make_the_plugin_privileged(name: str, privileged: bool, pools: dict[str, NodePool]) -> None:
    capabilities = main_container(plugin({name: pools[name]}))["securityContext"]["capabilities"]
    assert capabilities == ({"add": ["SYS_ADMIN"]} if privileged else {"drop": ["ALL"]})


def test_every_agent_runs_on_all_nodes_it_serves_despite_their_taints_and_on_no_others(
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


def test_a_warning_says_that_an_existing_plugin_does_not_share(spec: ClusterSpec, pools: dict[str, NodePool]) -> None:
    reaching = existing_plugins.Plugin("gpu", "theirs", {"tolerations": [{"operator": "Exists"}]})
    decision = device_plugin_plan.plan(spec, Aks(), list(pools.values()), [reaching])
    assert decision.pools == ()
    assert list(decision.warnings)[1:] == [
        "notebooks, serving, servingod, slices: the device plugin there ignores gpuSharing in this stack's file"
    ]


@pytest.mark.parametrize("role", [device_plugin.ROLE, dcgm.ROLE, mps.ROLE])
def test_names_fit_for_every_stack_name(role: str) -> None:
    # The label app.kubernetes.io/name has no instance in it; a Service's name may have 63 characters.
    assert len(names.object_name(names.instance("S" * 100), role)) <= 63


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
    # A changed daemon would restart and end every pod on its nodes.
    assert mps_daemon(other["serving"]) == mps_daemon(pools["serving"])
    # Another order of the same pools restarts nothing.
    assert plugin(dict(reversed(pools.items()))) == plugin(pools)


def cluster_policy(**content: Any) -> dict[str, Any]:
    everywhere = {"tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"name": "cluster-policy"}, "spec": {"daemonsets": everywhere, **content}}


def others_daemon_set(image: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    spec = {"containers": [{"image": image}], "tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"namespace": "gpu", "name": "theirs", "labels": labels}, "spec": {"template": {"spec": spec}}}


@pytest.mark.parametrize(
    ("daemon_sets", "policies", "declared"),
    [
        ([], [], True),
        ([], [cluster_policy()], False),
        ([], [cluster_policy(dcgmExporter={"enabled": False})], True),
        ([], [cluster_policy(devicePlugin={"enabled": False})], False),
        ([others_daemon_set("nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless")], [], False),
        ([others_daemon_set("nvcr.io/nvidia/k8s/dcgm-exporter@sha256:00", names.labels("dev"))], [], True),
        ([others_daemon_set("nvcr.io/nvidia/k8s-device-plugin:v0.20.0")], [], True),
    ],
)
def test_the_exporter_leaves_pools_to_one_that_reaches_them(
    daemon_sets: list[Any], policies: list[Any], declared: bool, spec: ClusterSpec, pools: dict[str, NodePool]
) -> None:
    exporter_plan = dcgm.plan(spec, list(pools.values()), dcgm.exporters(daemon_sets, policies, "dev"))
    assert [pool.name for pool in exporter_plan.pools] == (list(pools) if declared else [])
    assert bool(exporter_plan.warnings) is not declared


def test_the_exporter_is_for_pools_with_the_clouds_driver_and_only_when_asked(spec: ClusterSpec) -> None:
    bare = with_(spec, "train", install_driver=False)
    exporter_plan = dcgm.plan(spec, list(bare.values()))
    assert "train" not in {pool.name for pool in exporter_plan.pools}
    assert exporter_plan.warnings == ("train: no DCGM exporter without the cloud's driver (installDriver: false)",)
    (nothing,) = dcgm.plan(spec, []).warnings
    assert nothing.startswith("dcgmExporter.enabled: ")
    off = spec.model_copy(update={"dcgm_exporter": spec.dcgm_exporter.model_copy(update={"enabled": False})})
    assert dcgm.plan(off, list(bare.values())) == dcgm.ExporterPlan()


def test_the_service_selects_the_exporters_pods_and_their_port(pools: dict[str, NodePool]) -> None:
    service = wire(dcgm.service_spec("dev"))
    assert service["selector"].items() <= exporter(pools)["template"]["metadata"]["labels"].items()
    assert service["clusterIP"] == "None"
    (port,), (container_port,) = service["ports"], main_container(exporter(pools))["ports"]
    assert (port["port"], container_port["containerPort"]) == (9400, 9400)
    assert port["targetPort"] == container_port["name"]


ALL_POOLS = [pool for pool in node_pools.node_pools(spec_of(stack_config(SHARING)), Aks()) if pool.gpus]
T4 = Gpus(1, 16)
A100 = Gpus(1, 80)
SLICES = Gpus(1, 80, profile="MIG1g", instances=7)


def running_pod(daemon_set: DaemonSetSpecArgs) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "kube-system", "name": "pod"},
        "spec": {**wire(daemon_set)["template"]["spec"], "nodeName": "node"},
        "status": {"phase": "Running"},
    }


def reported(pool: NodePool, gpus: Gpus, labels: dict[str, str], daemon: bool = True) -> dict[str, int]:
    node = {"metadata": {"name": "node", "labels": labels}}
    pods = [running_pod(device_plugin.daemon_set_spec(ALL_POOLS, IMAGE, "dev"))]
    if daemon and mps.shared_by_mps(pool):
        pods.append(running_pod(mps.daemon_set_spec(pool, IMAGE, "dev", "kubeflow-spot-dev-device-plugin")))
    data = {("kube-system", "kubeflow-spot-dev-device-plugin"): plugin_config.data(ALL_POOLS)}
    return dict(devices.report(node, pods, gpus, lambda *place: data.get(place)).resources)


@pytest.mark.parametrize(
    ("name", "gpus", "offered"),
    [("notebooks", T4, 4), ("serving", T4, 8), ("servingod", T4, 8), ("slices", SLICES, 14), ("train", A100, 1)],
)
def test_nodes_of_each_pool_offer_what_the_stack_file_says(name: str, gpus: Gpus, offered: int) -> None:
    (pool,) = (pool for pool in ALL_POOLS if pool.name == name)
    assert reported(pool, gpus, dict(pool.labels)) == {"nvidia.com/gpu": offered}


def test_a_node_offers_whole_gpus_until_its_label_has_come_and_mps_nothing_without_its_daemon() -> None:
    (pool,) = (pool for pool in ALL_POOLS if pool.name == "serving")
    assert reported(pool, T4, {}) == {"nvidia.com/gpu": 1}
    assert reported(pool, T4, dict(pool.labels), daemon=False) == {}
