"""The expectations about public projects' manifests, judged by the real controllers.

Kubernetes' Jobs, Training Operator, Trainer with JobSet, and Argo: their pods are those of the
stand-ins, and what should prefer spot by default starts a lost pod again, while the rest ends with
it. No kubelet runs here: the test writes what one says.
"""

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import sleep

import pytest

from drill.world import argo
from sandbox.cluster.control_plane.process import stop_all
from sandbox.kubernetes.client import Client
from sandbox.tests.api import Object, Refused
from sandbox.tests.stack import eventually
from sandbox.tests.subjects import DEV
from tests.admission import webhook
from tests.admission.bed import Bed
from tests.admission.growing import count, unscheduled
from tests.admission.operators import GONE, conditions, phase, present, running, strictly, unfinalized
from tests.admission.posting import SETTLED, owners
from tests.admission.projects import GPU, Manifest, corpus
from tests.admission.stand_ins import leaves
from tests.examples import crds

pytestmark = [
    pytest.mark.engine,
    pytest.mark.restless,
    pytest.mark.slow,
    # The controllers are the same on both clouds.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

_SERVED = {"batch/v1", "jobset.x-k8s.io/v1alpha2", "kubeflow.org/v1", "trainer.kubeflow.org/v1alpha1"}


def _prepared(body: Object) -> Object:
    """Return an object for the namespace that no policy selects: only controllers decide there."""
    wanted: Object = unscheduled(body)
    for replicated in _replicated(wanted):
        # No pod ends here that another could wait for.
        replicated.pop("dependsOn", None)
    if "namespace" in wanted["metadata"]:
        wanted["metadata"]["namespace"] = SETTLED
    return wanted


def _replicated(body: Object) -> list[Object]:
    spec = body["spec"].get("template", {}).get("spec", body["spec"])
    found: list[Object] = spec.get("replicatedJobs", [])
    return found


def _empty(bed: Bed) -> None:
    bed.api.clear("batch/v1", "Job", SETTLED)
    for pod in bed.api.list("v1", "Pod", SETTLED):
        unfinalized(bed, {"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]})
    eventually(lambda: not bed.api.list("v1", "Pod", SETTLED), "the pods are gone")


def _manifests(versions: set[str]) -> dict[str, Manifest]:
    return {n: m for n, m in corpus().items() if m.objects[-1]["apiVersion"] in versions}


def _below(bed: Bed, body: Object) -> list[Object]:
    """Return the pods of an object, or of a Job or JobSet that it controls."""
    names = {body["metadata"]["uid"]}
    for version, kind in (("jobset.x-k8s.io/v1alpha2", "JobSet"), ("batch/v1", "Job")):
        names |= {o["metadata"]["uid"] for o in bed.api.list(version, kind, SETTLED) if names & set(owners(o))}
    return [pod for pod in present(bed, SETTLED) if names & set(owners(pod))]


def _role(pod: Object) -> str:
    labels = pod["metadata"].get("labels", {})
    keys = ("jobset.sigs.k8s.io/replicatedjob-name", "training.kubeflow.org/replica-type")
    return next((labels[key] for key in keys if key in labels), "pod")


def _failed(bed: Bed, body: Object) -> bool:
    return "Failed" in conditions(bed, body)


def _lose(bed: Bed, pod: Object, first: str) -> None:
    """Let a running pod go with its node: deleted at once, or failed before it is deleted."""
    target = {"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]}
    own = pod["metadata"].get("finalizers", [])
    bed.api.patch(target, {"metadata": {"finalizers": [*own, "example.com/grace"]}})
    if first == "deleted":
        bed.api.delete(target)
    if first == "failed" or own:
        # A pod of a Job is not counted before it has failed, if the Job has rules for that.
        phase(bed, pod, "Failed", code=143, conditions=GONE)
    # A kubelet and an unreachable node leave more time than this.
    sleep(0.5)
    if first == "failed":
        bed.api.delete(target)


@pytest.fixture(scope="module")
def served(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Serve the real definitions, and run Training Operator, Trainer and JobSet."""
    groups = {version.partition("/")[0] for version in _SERVED}
    wanted = [definition for definition in crds.definitions() if definition["spec"]["group"] in groups]
    crds.install(bed.api, wanted)
    with ExitStack() as stack:
        stack.callback(crds.remove, bed.api, wanted)
        stack.enter_context(running(bed, tmp_path_factory.mktemp("training"), "training"))
        folder = tmp_path_factory.mktemp("trainer")
        options = stack.enter_context(webhook.job_set(bed.api, folder))
        stack.enter_context(running(bed, folder, "trainer", *options))
        eventually(lambda: _answers(bed), "JobSet's webhook answers")
        yield


def _answers(bed: Bed) -> bool:
    probe = next(m.objects[0] for m in corpus().values() if m.objects[0]["kind"] == "JobSet")
    try:
        return bool(bed.api.create(_prepared(probe), dry_run=True))
    except Refused as refused:
        # 503: a policy waits for the new definition.
        if refused.status not in (500, 503):
            raise
        return False


@pytest.fixture
def posted(bed: Bed, served: None, name: str) -> Iterator[Object]:
    """Yield the manifest's own object, with all its pods running."""
    manifest = corpus()[name]
    bodies = [strictly(bed, _prepared(body)) for body in manifest.objects]
    kinds = [{"apiVersion": b["apiVersion"], "kind": b["kind"]} for b in manifest.objects]
    stored = bodies[-1] | kinds[-1]
    wanted = sum(map(count, _leaves(manifest, stored).values()))
    try:
        found = eventually(
            lambda: pods if len(pods := _below(bed, stored)) >= wanted else [], f"{wanted} pods of {name}"
        )
        for pod in found:
            phase(bed, pod, "Running")
        yield stored
    finally:
        for kind, body in zip(kinds, bodies, strict=True):
            unfinalized(bed, {**kind, "metadata": body["metadata"]})
        for job_set in bed.api.list("jobset.x-k8s.io/v1alpha2", "JobSet", SETTLED):
            unfinalized(bed, {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", **job_set})
        _empty(bed)


LOST = _manifests(_SERVED - {"batch/v1"}) | {
    n: m for n, m in _manifests({"batch/v1"}).items() if m.objects[-1]["kind"] == "Job"
}


@pytest.mark.parametrize("name", LOST)
def test_what_prefers_spot_outlives_a_lost_pod_and_what_ends_with_one_does_not(
    name: str, posted: Object, bed: Bed
) -> None:
    manifest = LOST[name]
    # Kubernetes' Jobs do not tell the two apart, and some allow one loss only.
    losses = ("failed", "deleted") if posted["apiVersion"] == "kubeflow.org/v1" else ("failed",)
    for role in sorted({_role(pod) for pod in _below(bed, posted)}):
        word, why = manifest.lands(role, "staging"), manifest.reason(role)
        if word in ("cpu", "pending") or why == "leads" or role in ("leader", "driver"):
            continue
        # Of several replicas the last leads none.
        for first in losses:
            known = {pod["metadata"]["uid"] for pod in _below(bed, posted)}
            pod = max((p for p in _below(bed, posted) if _role(p) == role), key=_number)
            phase(bed, pod, "Running")
            _lose(bed, pod, first)
            again = _made_again(bed, posted, role, known, pod)
            condition = f"{name}: {role} is made again, or all ends"
            eventually(lambda again=again: again() or _failed(bed, posted), condition)
            if ended := _failed(bed, posted):
                break
        assert ended == (word != "spot"), (role, first)


ONE_OF_EACH = (
    *("mnist-nccl", "elastic-imagenet", "jaxjob", "multi-worker", "with-summaries", "paddle-gpu"),
    *("xgboostjob", "mpi-tensorflow", "coordinator", "multi-step", "deepspeed"),
)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_the_stand_ins_make_the_pods_of_the_real_controllers(name: str, posted: Object, bed: Bed) -> None:
    found = _below(bed, posted)
    expected = _leaves(corpus()[name], posted)
    assert {_maker(pod) for pod in found} == expected.keys()
    for pod in found:
        leaf = expected[_maker(pod)]
        wanted = leaf if leaf["kind"] == "Pod" else leaf["spec"]["template"]
        assert wanted["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
        assert pod["spec"]["restartPolicy"] == wanted["spec"]["restartPolicy"]
        for container, other in zip(pod["spec"]["containers"], wanted["spec"]["containers"], strict=True):
            assert container["name"] == other["name"]
            environment = {item["name"]: item.get("value") for item in container.get("env", ())}
            assert {item["name"]: item["value"] for item in other.get("env", ())}.items() <= environment.items()
            asked = container.get("resources", {}).get("limits", {}).get(GPU)
            assert asked == other.get("resources", {}).get("limits", {}).get(GPU)


def _leaves(manifest: Manifest, posted: Object) -> dict[str, Object]:
    """Return the pods and Jobs that stand-ins make of a stored object, by name."""
    made = leaves(copy.deepcopy(posted), manifest)
    return {str(leaf["metadata"]["name"]): leaf for _, leaf, _ in made}


def _maker(pod: Object) -> str:
    """Return the name of a pod's Job, or its own."""
    labels = pod["metadata"]["labels"]
    return str(labels.get("batch.kubernetes.io/job-name", pod["metadata"]["name"]))


def test_the_stand_in_names_the_nodes_of_argos_workflows(bed: Bed) -> None:
    """Argo starts what waits for nothing: each of its pods is one of the stand-in's."""
    client = Client(bed.plane.admin_kubeconfig)
    workflows = [m for m in corpus().values() if m.objects[-1]["kind"] == "Workflow"]
    process = argo.start_controller(bed.plane, client, print)
    try:
        for retried in (False, True):
            argo.configure(client, argo.workflow_defaults() if retried else None)
            for manifest in (m for m in workflows if m.retried == retried):
                body = strictly(bed, _prepared(manifest.objects[-1]))
                stored = body | {"kind": "Workflow", "apiVersion": argo.VERSION}
                uid = body["metadata"]["uid"]
                pods = eventually(
                    lambda uid=uid: [p for p in present(bed, SETTLED) if uid in owners(p)], f"pods of {manifest.name}"
                )
                expected = {_node(pod): pod for pod in _leaves(manifest, stored).values()}
                for pod in pods:
                    wanted = expected[_node(pod)]
                    assert wanted["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
                    for key in ("initContainers", "containers"):
                        names = [[c["name"] for c in each["spec"][key]] for each in (pod, wanted)]
                        assert names[0] == names[1]
                unfinalized(bed, {**stored, "metadata": body["metadata"]})
    finally:
        stop_all([process])
        _empty(bed)
        crds.remove(bed.api, argo.definitions(print))
        client.close()


def _node(pod: Object) -> str:
    return str(pod["metadata"]["annotations"]["workflows.argoproj.io/node-name"])


def _number(pod: Object) -> tuple[int, str]:
    labels = pod["metadata"].get("labels", {})
    keys = ("training.kubeflow.org/replica-index", "batch.kubernetes.io/job-completion-index")
    return next((int(labels[key]) for key in keys if key in labels), 0), pod["metadata"]["name"]


def _made_again(bed: Bed, body: Object, role: str, known: set[str], lost: Object) -> Callable[[], bool]:
    target = {"apiVersion": "v1", "kind": "Pod", "metadata": lost["metadata"]}

    def made_again() -> bool:
        # The node is gone, and the grace with it.
        current = {p["metadata"]["uid"]: p for p in bed.api.list("v1", "Pod", SETTLED)}
        if pod := current.get(lost["metadata"]["uid"]):
            left = [f for f in pod["metadata"].get("finalizers", ()) if f != "example.com/grace"]
            try:
                bed.api.patch(target, {"metadata": {"finalizers": left or None}})
            except Refused as refused:
                # Its own controller may be the last to let it go.
                if refused.status != 404:
                    raise
        new = [p for p in _below(bed, body) if p["metadata"]["uid"] not in known]
        return any(_role(pod) == role for pod in new)

    return made_again
