"""The MPS daemon, one DaemonSet a pool."""

from __future__ import annotations

from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool
from tests.components.gpu_agents import LABEL, environment, main_container, mps_daemon, plugin, pod, replicas


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
