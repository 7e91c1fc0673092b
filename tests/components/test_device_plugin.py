"""The DaemonSets on GPU nodes: their nodes, GPU sharing, and the effects of a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.layer import names
from components.layer.gpu import dcgm, device_plugin, device_plugin_plan, existing_plugins, mps, plugin_config
from components.layer.gpu.matching import may_run
from config.clouds.azure.azure_traits import Aks
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool
from tests.components.gpu_agents import (
    LABEL,
    environment,
    exporter,
    gpu_pools,
    main_container,
    mps_daemon,
    plugin,
    pod,
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
