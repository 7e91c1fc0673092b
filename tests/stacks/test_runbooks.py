"""Each runbook in the state that it is for: its commands answer what it says, the first row that fits is the cause, its cure heals.

One sandbox for all, in which ten minutes of the autoscaler's profile take five seconds: six minutes on two busy cores.
"""

import json
import re
from collections.abc import Iterator

import pytest

from sandbox.tests.stack import Stack, eventually
from tests.docs import reader
from tests.stacks.on_call import IDLE, MACHINE, T4, TEAM, OnCall, state

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ORDER = ("configmap", "cluster-autoscaler-priority-expander", "-n", "kube-system")
PLUGIN = ("daemonset", "kubeflow-spot-dev-device-plugin", "-n", "kube-system")
LEFT_ALONE = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnCall]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANDBOX_CLOCK_FACTOR", "120")
        folder = tmp_path_factory.mktemp("stack")
        stack = Stack.copy(folder)
        stack.run("up")
        (folder / "programs").mkdir()
        for namespace in (TEAM, "kubeflow"):
            stack.kubectl("create", "namespace", namespace)
        stack.kubectl("label", "namespace", TEAM, "app.kubernetes.io/part-of=kubeflow-profile")
        yield OnCall(stack, reader.install(folder / "programs"))
        stack.run("down", "--force")


@pytest.fixture
def ring(up: OnCall) -> Iterator[OnCall]:
    """Yield the stack without work, as its file is checked in."""
    kept = up.stack.file.read_text()
    yield up
    for namespace in (TEAM, "kubeflow", "default"):
        up.stack.kubectl("delete", "jobs,pods", "--all", "-n", namespace, "--wait=false")
    up.stack.run("capacity", MACHINE, "any")
    if up.stack.file.read_text() != kept:
        up.stack.file.write_text(kept)
        up.stack.run("up")
    up.settles(IDLE)


def spot_is_gone(ring: OnCall, pods: int) -> None:
    ring.stack.run("capacity", MACHINE, "none")
    ring.job(pods)


@state("SpotGone", "SkuNotAvailable", shown=True)
def test_spot_is_sold_out_and_the_twin_gets_room(ring: OnCall) -> None:
    spot_is_gone(ring, 12)
    ring.settles_at({"t4od": 10}, waiting=2)
    page = ring.reads("SpotGone", "SkuNotAvailable")
    page.says("raise `onDemand.maxNodes`")
    ring.edit(twin=12)
    page.runs("pulumi up")
    ring.settles({**IDLE, "t4od": 12})


@state("FallbackLasts", shown=True)
def test_spot_is_back_and_work_moves_there_without_a_failure_of_its_job(ring: OnCall) -> None:
    spot_is_gone(ring, 2)
    ring.settles({**IDLE, "t4od": 2})
    names = {"NODE": ring.node("t4od")}
    page = ring.reads("FallbackLasts", **names)
    ring.gives_spot_again()
    page.runs("kubectl drain")
    eventually(lambda: ring.placed() == {"t4od": 1, "t4": 1}, "one pod of the two is on spot", 60, 0.3)
    assert failures(ring) == 0


def failures(ring: OnCall) -> int:
    """Return the pods that the team's Job counts as failed."""
    job = json.loads(ring.stack.kubectl("get", "job", "train", "-n", TEAM, "-o", "json"))
    return int(job["status"].get("failed", 0))


def test_a_node_that_was_drained_takes_work_again(ring: OnCall) -> None:
    spot_is_gone(ring, 1)
    ring.settles({**IDLE, "t4od": 1})
    page = ring.reads("FallbackLasts", NODE=ring.node("t4od"))
    page.runs("kubectl drain")
    page.runs("kubectl uncordon")
    eventually(lambda: ring.placed() == {"t4od": 1}, "the pod runs on demand again", 60, 0.3)
    page.says("A deleted pod is a failure of its Job")
    ring.stack.kubectl("delete", "pod", "--all", "-n", TEAM)
    eventually(lambda: failures(ring) == 1, "the deleted pod counts", 30, 0.3)


@state("NoSpotForHours", shown=True)
def test_another_size_takes_the_work_of_one_that_is_sold_out(ring: OnCall) -> None:
    spot_is_gone(ring, 12)
    ring.settles_at({"t4od": 10}, waiting=2)
    page = ring.reads("NoSpotForHours")
    page.says("`- pool: t4big`")
    ring.edit(pool={"name": "t4big", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 4})
    page.runs("pulumi up")
    ring.settles({**IDLE, "t4od": 10, "t4big": 2})


@state("GpuBudgetExceeded", "on-demand", shown=True)
def test_work_that_costs_too_much_is_capped_and_stopped(ring: OnCall) -> None:
    spot_is_gone(ring, 10)
    ring.settles({**IDLE, "t4od": 10})
    page = ring.reads("GpuBudgetExceeded", "on-demand", JOB="train", NAMESPACE=TEAM)
    page.says("lower `onDemand.maxNodes`")
    page.runs("kubectl patch job")
    ring.settles(IDLE)
    ring.edit(twin=1)
    page.runs("pulumi up")
    page.runs("kubectl patch job", ("true", "false"))
    eventually(lambda: ring.placed() == {"t4od": 1, "": 9}, "one pod runs", 60, 0.3)


@state("GpuPodWaitsPoolsFull", shown=True)
def test_full_pools_get_room(ring: OnCall) -> None:
    ring.job(20)
    ring.settles_at({"t4": 8, "t4od": 10}, waiting=2)
    page = ring.reads("GpuPodWaitsPoolsFull")
    page.says("raise `maxNodes` of the spot pool")
    ring.edit(maxNodes=10)
    page.runs("pulumi up")
    ring.settles({**IDLE, "t4": 10, "t4od": 10})


@state("GpuPodWaitsNoCapacity", "affinity/selector")
def test_a_pod_that_no_pool_takes_is_declared_anew(ring: OnCall) -> None:
    ring.job(1, nodeSelector={"kubeflow-spot.dev/pool": "t5"})
    page = ring.reads("GpuPodWaitsNoCapacity", "affinity/selector", POD=ring.waits(), NAMESPACE=TEAM, JOB="train")
    page.runs("kubectl delete job")
    ring.on_spot(1)


@state("GpuPodWaitsNoCapacity", "quota", shown=True)
def test_a_quota_that_is_granted_lets_pods_start(ring: OnCall) -> None:
    ring.quotas({"lowPriorityCores": 0, "standardNCASv3_T4Family": 0})
    try:
        ring.job(2)
        page = ring.reads("GpuPodWaitsNoCapacity", "quota", POD=ring.waits(), NAMESPACE=TEAM)
        assert re.search("(?i)lowPriorityCores|standardNCASv3_T4Family", page.runs("kubectl get events"))
        page.says("[Ask for it](tasks/gpu-quota.md)")
    finally:
        ring.quotas({})
    # On the pool whose back-off ends first.
    eventually(lambda: not ring.placed()[""] and ring.placed().total() == 2, "both pods run", 120, 0.3)


@state("GpuPodFitsNoPool", shown=True)
def test_a_pod_that_is_too_large_is_made_anew_with_fewer_gpus(ring: OnCall) -> None:
    ring.job(1, gpus=8)
    page = ring.reads("GpuPodFitsNoPool", POD=ring.waits(), NAMESPACE=TEAM, JOB="train")
    page.runs("kubectl delete job")
    ring.on_spot(1)


def has_gpu(ring: OnCall) -> bool:
    return [node["status"]["allocatable"].get("nvidia.com/gpu") for node in ring.nodes("t4")] == ["1"]


@state("DevicePluginMissing", "no plugin", shown=True)
def test_a_device_plugin_that_is_gone_is_declared_again(ring: OnCall) -> None:
    ring.stack.kubectl("delete", *PLUGIN)
    ring.job(1, nodeSelector=T4)
    page = ring.reads("DevicePluginMissing", "no plugin", NODE=ring.node("t4"))
    page.runs("pulumi up --refresh")
    eventually(lambda: has_gpu(ring) and ring.placed() == {"t4": 1}, "the pod has its GPU", 60, 0.3)


@state("DevicePluginMissing", "no pod")
def test_a_taint_that_keeps_the_device_plugin_off_is_removed(ring: OnCall) -> None:
    ring.on_spot(1)
    node = ring.node("t4")
    ring.stack.kubectl("taint", "node", node, "maintenance=true:NoExecute")
    page = ring.reads("DevicePluginMissing", "no pod", NODE=node, KEY="maintenance")
    assert "maintenance" in page.answer
    page.runs("kubectl taint")
    eventually(lambda: has_gpu(ring), "the node offers its GPU", 60, 0.3)


def idle_node(ring: OnCall) -> str:
    ring.on_spot(1)
    return ring.node("t4")


@state("GpuNodeIdle", "false", shown=True)
def test_a_forgotten_pod_that_holds_a_gpu_node_is_ended(ring: OnCall) -> None:
    node = idle_node(ring)
    never = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    ring.pod("kube-system", "forgotten", never, tolerations=[{"operator": "Exists"}])
    ring.stack.kubectl("delete", "job", "train", "-n", TEAM)
    page = ring.reads("GpuNodeIdle", "false", NODE=node, POD="forgotten", NAMESPACE="kube-system")
    page.runs("kubectl delete pod")
    ring.settles(IDLE)


@state("GpuNodeIdle", "scale-down-disabled")
def test_a_node_that_is_kept_by_an_annotation_goes_without_it(ring: OnCall) -> None:
    node = idle_node(ring)
    ring.stack.kubectl("annotate", "node", node, f"{LEFT_ALONE}=true")
    ring.stack.kubectl("delete", "job", "train", "-n", TEAM)
    page = ring.reads("GpuNodeIdle", "scale-down-disabled", NODE=node)
    page.runs("kubectl annotate node")
    ring.settles(IDLE)


@state("SpotNodesLost", "Preempt", shown=True)
def test_a_job_whose_spot_nodes_were_taken_goes_on(ring: OnCall) -> None:
    ring.on_spot(2)
    before = {node["metadata"]["uid"] for node in ring.nodes("t4")}
    ring.stack.run("evict", "t4")
    ring.reads("SpotNodesLost", "Preempt")
    ring.settles({**IDLE, "t4": 2})
    eventually(lambda: ring.placed() == {"t4": 2}, "both pods run", 60, 0.3)
    assert before.isdisjoint(node["metadata"]["uid"] for node in ring.nodes("t4"))


def creates_database(ring: OnCall) -> bool:
    """Create a database of Kubeflow's that tolerates spot; return whether the API server takes it."""
    return ring.pod("kubeflow", "mysql", tolerations=[{"operator": "Exists"}])


def unbind(ring: OnCall) -> None:
    """Delete the guard's bindings, and let a database in."""
    for guard in ("labels", "labels-lasting", "lost-pods", "platform", "profiles"):
        ring.stack.kubectl("delete", "validatingadmissionpolicybinding", f"kubeflow-spot-dev-guard-{guard}")
    # The API server forgets a binding within a second.
    eventually(lambda: creates_database(ring), "the guard is unbound", 30, 0.5)


@state("PlatformPodOnSpot", shown=True)
@state("GuardBypassed", "guard", shown=True)
@state("GuardBypassed")
def test_the_guard_is_bound_again_and_what_came_past_it_goes(ring: OnCall) -> None:
    unbind(ring)
    names = {"POD": "mysql", "NAMESPACE": "kubeflow"}
    bypassed = ring.reads("GuardBypassed", "guard", **names)
    bypassed.runs("pulumi up --refresh")
    eventually(lambda: ring.stack.get("pod", "mysql", "-n", "kubeflow")["spec"].get("nodeName"), "it runs", 60, 0.3)
    on_spot = ring.reads("PlatformPodOnSpot", **names)
    left = ring.reads("GuardBypassed", **names)
    for page in (left, on_spot):
        page.runs("kubectl delete pod")
        assert "mysql" not in ring.stack.kubectl("get", "pods", "-n", "kubeflow")
    assert not creates_database(ring)


@state("UnreadyNodesNearTheStop", "NodeStatusUnknown", shown=True)
@state("UnreadyNodesNearTheStop", "KubeletNotReady")
def test_nodes_without_machines_are_deleted(ring: OnCall) -> None:
    ring.on_spot(2)
    gone, ill = (node["metadata"]["name"] for node in ring.nodes("t4"))
    ring.silence(gone, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
    page = ring.reads("UnreadyNodesNearTheStop", "NodeStatusUnknown", NODE=gone)
    page.runs("kubectl delete node")
    ring.answers_again(gone)
    ring.silence(ill, "False", "KubeletNotReady", "container runtime is down")
    page = ring.reads("UnreadyNodesNearTheStop", "KubeletNotReady", NODE=ill)
    # A kubelet that is silent ends no pod: the drain waits for its whole time.
    page.runs("kubectl drain", ("timeout=5m", "timeout=3s"))
    page.runs("kubectl delete node")
    ring.answers_again(ill)
    eventually(lambda: "NotReady" not in ring.stack.kubectl("get", "nodes"), "all nodes are Ready", 60, 0.3)
    # What a silent kubelet did not end, and the machines of the deleted nodes: nobody waits ten minutes for them.
    ring.stack.kubectl("delete", "jobs,pods", "--all", "-n", TEAM, "--force")
    ring.stack.run("scale", "t4", "0")
    ring.on_spot(1)


@state("GrowthOrderChanged", "manager: kubectl", shown=True)
def test_an_order_edited_by_hand_is_written_anew(ring: OnCall) -> None:
    before = ring.stack.get(*ORDER)["data"]
    ring.stack.kubectl("patch", *ORDER, "--type=merge", "-p", json.dumps({"data": {"priorities": "10: ['.*']\n"}}))
    page = ring.reads("GrowthOrderChanged", "manager: kubectl")
    page.runs("PULUMI_K8S_ENABLE_PATCH_FORCE=true pulumi up")
    assert ring.stack.get(*ORDER)["data"] == before


@state("GrowthOrderChanged", "NotFound")
def test_an_order_that_was_deleted_is_declared_again(ring: OnCall) -> None:
    before = ring.stack.get(*ORDER)["data"]
    ring.stack.kubectl("delete", *ORDER)
    page = ring.reads("GrowthOrderChanged", "NotFound")
    page.runs("pulumi up --refresh")
    assert ring.stack.get(*ORDER)["data"] == before


@state("KubernetesSupportEnds", shown=True)
def test_the_nodes_show_their_version(ring: OnCall) -> None:
    ring.reads("KubernetesSupportEnds").says("upgrade-kubernetes.md")
