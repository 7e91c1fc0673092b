"""Parts of a cluster as the checks read them: quantities, a pod's requests, the autoscaler's status, clouds that are not known."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks import stack as stacks
from checks.check import NotCompared
from checks.findings import State
from checks.ready import autoscaler, intent, judge
from checks.ready.autoscaler import Group, read_status
from checks.ready.checks.declared import difference
from checks.ready.cloud_facts import GCP
from checks.ready.cluster import Cluster, minor, requests
from checks.ready.quantities import number
from sandbox.autoscaler.api import Unanswered
from sandbox.autoscaler.status_map import Status, document
from sandbox.autoscaler.world import Failure
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.tests.autoscaler.objects import group, node, sized
from sandbox.tests.autoscaler.test_loop import Cloud, Scans
from sandbox.tests.stack import PROJECT
from tests.checks.ready.clusters import TAKEN, cluster, load, plain_nodes
from tests.checks.ready.test_findings import bad


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("250m", 0.25), ("2", 2), ("1Gi", 2**30), ("1.5G", 1.5e9), ("129e6", 129e6), ("100Ki", 102400)),
        *(("4x", 0), (None, 0)),
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
            autoscaler.read_config_map({"data": {"status": text}})


def test_an_autoscaler_that_starts_for_long_is_stuck() -> None:
    status = "time: 2026-11-26 01:41:00.5 +0000 UTC\nautoscalerStatus: Initializing\n"
    starting = replace(cluster("dev", {"autoscaler": {"data": {"status": status}}}), taken=TAKEN)
    (found,) = bad(judge.findings(starting))
    assert (found.check, "says Initializing, for 15 minutes: no pool grows" in found.says) == ("autoscaler", True)
    annotation = {"cluster-autoscaler.kubernetes.io/last-updated": "2026-11-26 01:55:00 +0000 UTC"}
    starting.parts["autoscaler"]["metadata"]["annotations"] = annotation
    assert bad(judge.findings(starting)) == []


def _gke_status(pool: str, **group: Any) -> dict[str, Any]:
    """Return a status as GKE may write it: the name of a group is an address (kubernetes/autoscaler PR 6375)."""
    name = f"https://www.googleapis.com/compute/v1/projects/p/zones/europe-west4-a/instanceGroups/gke-ml-staging-{pool}-40ce0341-grp"
    status = {"autoscalerStatus": "Running", "nodeGroups": [{"name": name, "health": {"status": "Healthy"}, **group}]}
    return {"data": {"status": yaml.safe_dump(status)}}


DRY = {"scaleUp": {"status": "Backoff", "backoffInfo": {"errorCode": "GCE_STOCKOUT"}}}
SHORT = {
    "scaleUp": {
        "status": "Backoff",
        "backoffInfo": {
            "errorCode": "cloudProviderError",
            "errorMessage": "failed: PUT https://a\n---\nERROR CODE: OperationNotAllowed\n---\n<truncated>",
        },
    }
}
SILENT = {"scaleUp": {"status": "Backoff"}}
SICK = {"health": {"status": "Unhealthy"}}


@pytest.mark.parametrize(
    ("pool", "group", "state", "says"),
    [
        (
            "l4",
            DRY,
            State.NOTE,
            "gke-ml-staging-l4-40ce0341-grp is left alone for a while: GCE_STOCKOUT",
        ),
        (
            "l4",
            SHORT,
            State.NOTE,
            "for a while, refused for quota as it seems: cloudProviderError OperationNotAllowed",
        ),
        ("l4", SILENT, State.NOTE, "is left alone for a while, and its status does not say why"),
        ("l4", SICK, State.NOTE, "were taken back or stopped"),
        ("l4od", DRY, State.WRONG, "after a failure: GCE_STOCKOUT"),
        ("system", DRY, State.WRONG, "after a failure: GCE_STOCKOUT"),
        ("somebodys", DRY, State.NOTE, "its name does not say which pool it is"),
        ("somebodys", SICK, State.NOTE, "its name does not say which pool it is"),
    ],
)
def test_a_status_of_gke_is_read_by_its_groups_names(pool: str, group: dict[str, Any], state: State, says: str) -> None:
    status = cluster("staging", {"autoscaler": _gke_status(pool, **group)})
    found = [finding for finding in judge.findings(status) if finding.check == "autoscaler"]
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


def test_a_cluster_of_an_unknown_cloud_has_notes_where_nothing_is_known_and_no_defects() -> None:
    unknown = {"nodes": {"each": {"spec": {"providerID": "aws:///node"}}}, "autoscaler": 404}
    found = judge.findings(cluster("dev", unknown))
    assert bad(found) == []
    assert {finding.check for finding in found if finding.state == State.NOTE} >= {"order", "autoscaler"}


def test_room_counts_growth_and_leaves_kubeflows_own_pods_out() -> None:
    def room(namespace: str) -> str:
        crowded = load("dev")
        for index in plain_nodes(crowded):
            spec = {"nodeName": crowded.parts["nodes"][index]["metadata"]["name"], "containers": [_container("3")]}
            crowded.parts["pods"].append({"metadata": {"namespace": namespace, "name": "big"}, "spec": spec})
        (finding,) = (finding for finding in judge.findings(crowded) if finding.check == "room")
        assert finding.state == State.OK
        return finding.says

    assert "when the autoscaler has grown them" in room("team-a")
    assert "grown" not in room("kubeflow")


def test_the_clouds_own_device_plugins_are_one_however_many_daemon_sets_it_makes_of_it() -> None:
    (plugin,) = load("staging").parts["daemonSets"]
    names = (f"{plugin['metadata']['name']}-{suffix}" for suffix in ("large-cos", "small-cos", "small-ubuntu"))
    several = [plugin | {"metadata": plugin["metadata"] | {"name": name}} for name in names]
    assert bad(judge.findings(cluster("staging", {"daemonSets": several}))) == []


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
    assert Cluster(snapshot, intent.intent_of(stacks.read_spec(PROJECT, "dev"))).contract.instance == "dev"


class Server:
    """The API server's ConfigMaps; silent where the test says so."""

    def __init__(self) -> None:
        self.writes: list[str] = []
        self.silent = False

    def create(self, path: str, body: Any) -> None:
        """Let another process' map stay."""

    def patch(self, path: str, body: Any) -> None:
        if self.silent:
            raise Unanswered("no")
        assert path == "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
        self.writes.append(body["data"]["status"])


class Full(Cloud):
    """A cloud whose quota is used up, while `full`."""

    full = True

    def grow(self, pool_id: str, by: int) -> None:
        if self.full:
            raise ScaleRefused("pool full stays at 0 nodes: exceeding approved LowPriorityCores quota")
        super().grow(pool_id, by)


def test_each_change_is_written_once_and_read_as_the_real_ones_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = group("full", 5)
    cloud, server = Full(refusing), Server()
    scans = Scans(cloud, tmp_path, monkeypatch)
    scans._loop._status = Status(server)  # type: ignore[arg-type]
    server.silent = True
    scans.at(0)
    assert server.writes == []
    server.silent = False
    scans.at(1)
    scans.at(2)
    (text,) = server.writes
    why = "cloudProviderError OperationNotAllowed"
    assert read_status(text) == (Group("aks-full-12345678-vmss", "Healthy", "Backoff", why, 0, 5),)
    cloud.full = False
    scans.at(302)
    scans.at(303)
    assert [item.scale_up for item in read_status(server.writes[-1])] == ["InProgress"]


def test_groups_without_autoscaling_are_left_out_and_ready_nodes_counted() -> None:
    of = sized(group("a", 3), 2)
    nodes = [node(of, of.nodes[0]), node(of, of.nodes[1], ready=False)]
    content = yaml.safe_load(yaml.safe_dump(document([of, replace(of, name="fixed", most=None)], nodes, {})))
    (only,) = content["nodeGroups"]
    assert only["health"]["nodeCounts"] == {"registered": {"total": 2, "ready": 1, "notStarted": 1}}
    assert (only["health"]["cloudProviderTarget"], only["scaleUp"]["status"]) == (2, "NoActivity")


def test_a_long_message_of_a_refusal_is_cut_as_the_real_one_cuts_it() -> None:
    of = group("a", 3)
    for length, shown in ((500, "x" * 500), (501, "x" * 489 + "<truncated>")):
        content = document([of], [], {of.name: Failure("timeout", "x" * length)})
        assert content["nodeGroups"][0]["scaleUp"] == {
            "status": "Backoff",
            "backoffInfo": {"errorCode": "timeout", "errorMessage": shown},
        }
