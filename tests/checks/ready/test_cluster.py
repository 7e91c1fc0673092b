"""Parts of a cluster as the checks read them: quantities, a pod's requests, the autoscaler's status, clouds that are not known."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from checks import stack as stacks
from checks.check import NotCompared
from checks.findings import State
from checks.ready import autoscaler, intent, judge
from checks.ready.checks.declared import difference
from checks.ready.clouds.gcp import GCP
from checks.ready.cluster import Cluster, minor, requests
from checks.ready.quantities import number
from sandbox.tests.stack import PROJECT
from tests.checks.ready.broken import plain_nodes, set_status
from tests.checks.ready.capture import load
from tests.checks.ready.healthy import TAKEN, initializing
from tests.checks.ready.test_findings import bad


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("250m", 0.25),
        ("2", 2),
        ("1Gi", 2**30),
        ("1.5G", 1.5e9),
        ("129e6", 129e6),
        ("100Ki", 102400),
        ("4x", 0),
        (None, 0),
    ],
)
def test_quantities_are_those_of_kubernetes(text: object, value: float) -> None:
    assert number(text) == pytest.approx(value)


def _container(cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [_container("1"), _container("500m")]}, 1.5),
        ({"containers": [_container("1")], "initContainers": [_container("3"), _container("2")]}, 3),
        ({"containers": [_container("1")], "initContainers": [_container("1", restartPolicy="Always")]}, 2),
        (
            {
                "containers": [_container("1")],
                "initContainers": [_container("1", restartPolicy="Always"), _container("4")],
            },
            5,
        ),
        ({"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}], "overhead": {"cpu": "250m"}}, 2.25),
    ],
)
def test_requests_are_counted_as_the_scheduler_does(spec: Any, cpu: float) -> None:
    assert requests(spec)["cpu"] == pytest.approx(cpu)


def test_versions_of_all_clouds_are_read() -> None:
    assert [minor(text) for text in ("v1.36.2", "v1.36.4-gke.1000000", "1.35", "")] == [
        (1, 36),
        (1, 36),
        (1, 35),
        (0, 0),
    ]


def test_an_old_or_broken_status_of_the_autoscaler_is_refused() -> None:
    for text in ("", "Cluster-autoscaler status at 2026-01-01:\nCluster-wide:", "[", "autoscalerStatus: Initializing"):
        with pytest.raises(ValueError, match="autoscaler"):
            autoscaler.read({"data": {"status": text}})


def test_an_autoscaler_that_starts_for_long_is_stuck() -> None:
    cluster = replace(load("dev"), taken=TAKEN)
    initializing("2026-11-26 01:41:00.5 +0000 UTC")(cluster.parts)
    (found,) = bad(judge.findings(cluster))
    assert (found.check, "says Initializing, for 15 minutes: no pool grows" in found.says) == ("autoscaler", True)
    annotation = {"cluster-autoscaler.kubernetes.io/last-updated": "2026-11-26 01:55:00 +0000 UTC"}
    cluster.parts["autoscaler"]["metadata"]["annotations"] = annotation
    assert bad(judge.findings(cluster)) == []


def _gke_status(pool: str, **group: Any) -> dict[str, Any]:
    """A status as GKE may write it: the name of a group is an address (kubernetes/autoscaler PR 6375)."""
    name = f"https://www.googleapis.com/compute/v1/projects/p/zones/europe-west4-a/instanceGroups/gke-ml-staging-{pool}-40ce0341-grp"
    status = {"autoscalerStatus": "Running", "nodeGroups": [{"name": name, "health": {"status": "Healthy"}, **group}]}
    return {"data": {"status": yaml.safe_dump(status)}}


DRY = {"scaleUp": {"status": "Backoff", "backoffInfo": {"errorCode": "GCE_STOCKOUT"}}}
SICK = {"health": {"status": "Unhealthy"}}


@pytest.mark.parametrize(
    ("pool", "group", "state", "says"),
    [
        (
            "l4",
            DRY,
            State.NOTE,
            "gke-ml-staging-l4-40ce0341-grp is left alone for a while: there is no such spot machine",
        ),
        ("l4", SICK, State.NOTE, "were taken back or stopped"),
        ("l4od", DRY, State.WRONG, "after a failure: GCE_STOCKOUT"),
        ("system", DRY, State.WRONG, "after a failure: GCE_STOCKOUT"),
        ("somebodys", DRY, State.NOTE, "its name does not say which pool it is"),
        ("somebodys", SICK, State.NOTE, "its name does not say which pool it is"),
    ],
)
def test_a_status_of_gke_is_read_by_its_groups_names(pool: str, group: dict[str, Any], state: State, says: str) -> None:
    cluster = load("staging")
    cluster.parts["autoscaler"] = _gke_status(pool, **group)  # type: ignore[index]
    found = [finding for finding in judge.findings(cluster) if finding.check == "autoscaler"]
    assert (found[0].state, says in found[0].says) == (state, True), found
    assert {finding.check for finding in bad(found)} == ({"autoscaler"} if state == State.WRONG else set())


def test_a_group_of_gke_whose_name_fits_two_pools_is_not_known() -> None:
    group = "gke-cluster-big-l4-40ce0341-grp"
    assert [GCP.pool_of(group, pools) for pools in (["l4"], ["big-l4"], ["l4", "big-l4"], ["gpu"])] == [
        "l4",
        "big-l4",
        "",
        "",
    ]


def test_a_status_in_googles_own_way_is_a_note_and_one_of_aks_a_defect() -> None:
    for stack, state in (("staging", State.NOTE), ("dev", State.WRONG)):
        cluster = load(stack)
        cluster.parts["autoscaler"] = {"data": {"status": "Cluster-autoscaler status at 2026-01-01:"}}  # type: ignore[index]
        assert [f.state for f in judge.findings(cluster) if f.check == "autoscaler"] == [state]


def test_a_cluster_of_an_unknown_cloud_has_notes_where_nothing_is_known_and_no_defects() -> None:
    cluster = load("dev")
    for node in cluster.parts["nodes"]:
        node["spec"]["providerID"] = f"aws:///{node['metadata']['name']}"
    cluster.parts["autoscaler"] = None  # type: ignore[index]
    found = judge.findings(cluster)
    assert bad(found) == []
    assert {finding.check for finding in found if finding.state == State.NOTE} >= {"order", "autoscaler"}


def test_room_counts_growth_and_leaves_kubeflows_own_pods_out() -> None:
    cluster = load("dev")
    pods = []
    for node in plain_nodes(cluster.parts):  # type: ignore[arg-type]
        spec = {"nodeName": node["metadata"]["name"], "containers": [_container("3")]}
        pods.append({"metadata": {"namespace": "team-a", "name": "big"}, "spec": spec})
    cluster.parts["pods"].extend(pods)
    assert "when the autoscaler has grown them" in _room(cluster)
    for pod in pods:
        pod["metadata"]["namespace"] = "kubeflow"
    assert "grown" not in _room(cluster)


def test_storage_for_checkpoints_is_named_and_never_tried() -> None:
    cluster = load("dev")
    says = {}
    for url in ("", "gs://lab-checkpoints/"):
        cluster.parts["contracts"][0]["data"]["workloads.json"] = json.dumps(
            {"checkpoints": {"url": url}} if url else {}
        )
        (found,) = (finding for finding in judge.findings(cluster) if finding.check == "checkpoints")
        assert found.state == State.NOTE
        says[url] = found.says
    assert "names no storage" in says[""]
    assert says["gs://lab-checkpoints/"].startswith("checkpoints go to gs://lab-checkpoints/;")


def test_a_cluster_without_nodes_is_not_ready() -> None:
    cluster = load("dev")
    cluster.parts["nodes"] = []  # type: ignore[index]
    assert ("nodes", "the cluster has no node") in {
        (finding.check, finding.says) for finding in bad(judge.findings(cluster))
    }


def test_a_dry_spot_pool_is_a_note_and_no_defect() -> None:
    cluster = load("dev")
    set_status(
        cluster.parts, lambda groups: [g.update(scaleUp={"status": "Backoff"}) for g in groups if "-t4-" in g["name"]]
    )
    found = judge.findings(cluster)
    assert bad(found) == []
    assert any("aks-t4-" in finding.says and finding.state == State.NOTE for finding in found)


def test_the_clouds_own_device_plugins_are_one_however_many_daemon_sets_it_makes_of_it() -> None:
    cluster = load("staging")
    (plugin,) = cluster.parts["daemonSets"]
    cluster.parts["daemonSets"] = []  # type: ignore[index]
    for suffix in ("large-cos", "small-cos", "small-ubuntu"):
        named = plugin["metadata"] | {"name": f"{plugin['metadata']['name']}-{suffix}"}
        cluster.parts["daemonSets"].append(plugin | {"metadata": named})
    assert bad(judge.findings(cluster)) == []


def test_a_cilium_that_says_nothing_of_istio_is_a_note_where_the_cloud_owns_it() -> None:
    cluster = load("staging")
    agent = {
        "metadata": {"namespace": "kube-system", "name": "anetd"},
        "spec": {"template": {"spec": {"containers": []}}},
    }
    cluster.parts["daemonSets"].append(agent)
    cluster.parts["cilium"] = {"data": {"kube-proxy-replacement": "true"}}  # type: ignore[index]
    (found,) = (finding for finding in judge.findings(cluster) if finding.check == "cilium")
    assert (found.state, "does not say whether" in found.says) == (State.NOTE, True)


def _room(cluster: Any) -> str:
    (finding,) = (finding for finding in judge.findings(cluster) if finding.check == "room")
    assert finding.state == State.OK
    return finding.says


def test_a_declared_value_that_the_server_lacks_is_found_and_what_it_added_is_not() -> None:
    declared = {"a": [{"b": 1}, {"c": "x"}]}
    assert difference(declared, {"a": [{"b": 1, "more": 2}, {"c": "x"}], "more": 1}, "spec") == ""
    assert difference(declared, {"a": [{"b": 1}, {"c": "y"}]}, "spec") == "spec.a[1].c"
    assert difference(declared, {"a": [{"b": 1}]}, "spec") == "spec.a"
    assert difference(declared, {"a": None}, "spec") == "spec.a"


def test_of_two_stacks_in_a_cluster_the_stack_file_says_which_is_meant() -> None:
    snapshot = load("dev")
    other = copy.deepcopy(snapshot.parts["contracts"][0])
    other["metadata"].update(name="kubeflow-spot-other", labels={"app.kubernetes.io/instance": "other"})
    other["data"]["pools.json"] = json.dumps([])
    snapshot.parts["contracts"].insert(0, other)
    with pytest.raises(NotCompared, match=r"kubeflow-spot, kubeflow-spot-other"):
        _ = Cluster(snapshot).contract
    assert Cluster(snapshot, intent.of(stacks.read(PROJECT, "dev"))).contract.instance == "dev"
