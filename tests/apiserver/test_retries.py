"""Retries of pipelines' steps, by Argo's own controller with the defaults in kubeflow/components/retry."""

from time import monotonic, sleep

import pytest

from drill.world.pipelines import TASK, Retry, Task, pipeline
from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes.client import Client, Object
from sandbox.tests.stack import eventually
from tests.apiserver.playing import Play, both, one_step, quick, running, with_defaults
from tests.apiserver.steps import ENDINGS, NAMESPACE, PAUSE, Steps, counted, node, task

pytestmark = [pytest.mark.engine, pytest.mark.tools]


@both
def test_what_the_machine_ends_starts_again_and_what_fails_does_not(
    controller: Steps, request: pytest.FixtureRequest
) -> None:
    defaults = request.node.callspec.id == "defaults"
    plays = {name: Play(controller, one_step(name)) for name in ENDINGS}
    first = {name: play.pod(run=ENDINGS[name].begun) for name, play in plays.items()}
    for name, pod in first.items():
        ENDINGS[name].end(controller, pod)
    found, wanted = {}, {}
    for name, play in plays.items():
        eventually(lambda play=play: play.new() or play.over, f"{name} starts again or fails", 30, PAUSE)  # type: ignore[misc]
        own = node(play.body(), first[name])
        found[name] = (own.get("phase"), own.get("message"), len(play.seen) == 2)
        ending = ENDINGS[name]
        wanted[name] = (ending.phase, ending.message, ending.machine and defaults)
    assert found == wanted


@both
def test_set_retry_means_what_it_does_without_the_defaults_and_survives_machines(
    controller: Steps, request: pytest.FixtureRequest
) -> None:
    """The task's own number counts both: a failure of the step and the loss of its machine."""
    failing, losing = (Play(controller, one_step(name, Retry(1))) for name in ("retry-fails", "retry-evicted"))
    for play, end in ((failing, ENDINGS["fails"]), (losing, ENDINGS["evicted"])):
        pod = play.pod()
        end.end(controller, pod)
    defaults = request.node.callspec.id == "defaults"
    assert (failing.next() is not None, losing.next() is not None) == (True, defaults)


@with_defaults
def test_set_retry_ends_an_hour_after_the_first_start_whatever_the_defaults_say(controller: Steps) -> None:
    """kfp writes an hour at most; here it is a second."""
    play = Play(controller, one_step("retry-long", Retry(5, longest=1)))
    pod = play.pod()
    sleep(1.5)
    controller.evict(pod)
    assert play.next() is None
    messages = [each.get("message") for each in play.body()["status"]["nodes"].values()]
    assert "Max duration limit exceeded" in messages


def two_tasks(name: str, retry: Retry | None = None) -> Object:
    tasks = [Task("prepare"), Task("train", after=["prepare"], retry=retry)]
    return pipeline(name, NAMESPACE, tasks, of_drivers={"piece": TASK}, of_steps={"piece": TASK}, outputs=True)


@with_defaults
def test_a_lost_driver_or_step_starts_again_and_nothing_else_does(controller: Steps) -> None:
    lost = {"root-driver", "train-driver", "train"}
    play = Play(controller, two_tasks("lost"))

    def act(pod: Object, before: int) -> bool:
        if task(pod) in lost and not before:
            controller.evict(pod)
            return True
        return False

    assert play.through(act) == "Succeeded"
    wanted = {"root-driver": 2, "prepare-driver": 1, "prepare": 1, "train-driver": 2, "train": 2}
    assert counted(list(play.seen.values())) == wanted
    images = {task(pod): _image(pod) for pod in play.seen.values()}
    assert images["prepare"] == "work:0"
    # What the second driver returned counts.
    assert images["train"] == "work:1"


def _image(pod: Object) -> str:
    return next(str(each["image"]) for each in pod["spec"]["containers"] if each["name"] == "main")


@with_defaults
def test_a_failed_step_fails_the_pipeline_and_repeats_no_dag(controller: Steps) -> None:
    play = Play(controller, two_tasks("failing", Retry(1)))
    began: list[float] = []

    def act(pod: Object, before: int) -> bool:
        if task(pod) == "train":
            began[:] = [monotonic()]
            controller.fail(pod, 1)
            return True
        return False

    assert play.through(act) == "Failed"
    # The back-off of the three DAGs around the step, a second each: Argo waits before it asks the expression.
    assert monotonic() - began[0] > 2
    wanted = {"root-driver": 1, "prepare-driver": 1, "prepare": 1, "train-driver": 1, "train": 2}
    assert counted(list(play.seen.values())) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("controller", [quick({"limit": "1", "retryPolicy": "OnError"})], indirect=True)
def test_a_policy_without_an_expression_repeats_every_dag_around_a_lost_step(controller: Steps) -> None:
    """The default of Kubeflow Pipelines 2.17 has a limit of 2 and this policy. Argo gives it to each DAG, too."""
    play = Play(controller, two_tasks("upstream"))

    def act(pod: Object, before: int) -> bool:
        if task(pod) == "train":
            controller.evict(pod)
            return True
        return False

    assert play.through(act) == "Error"
    found = counted(list(play.seen.values()))
    # Two attempts in each of two DAGs around both tasks, and for the lost one in its own DAG and template besides.
    assert (found["prepare"], found["train"]) == (4, 16)


@both
def test_a_pod_that_goes_without_a_word_is_made_again_by_argo_itself(controller: Steps) -> None:
    """Of the same name, as the same attempt: the executor has begun to report and not ended, so nothing is decided yet."""
    play = Play(controller, one_step("silent"))
    pod = play.pod()
    # Failed with its node, and gone a moment later: nothing is decided by the first either.
    controller.collect(pod)
    sleep(0.5)
    assert node(play.body(), pod)["phase"] == "Running"
    controller.delete(pod)
    again = play.pod()
    assert again["metadata"]["name"] == pod["metadata"]["name"]


@with_defaults
def test_argo_takes_a_step_that_never_reported_for_done_when_its_node_is_gone(controller: Steps) -> None:
    """A fault of 3.7.3 (argoproj/argo-workflows 15150): docs/workloads.md names it, until Kubeflow has a newer release."""
    silent = Steps(controller.client, reports=False)
    play = Play(silent, one_step("taken-for-done"))
    pod = play.pod()
    silent.collect(pod)
    assert play.next() is None
    assert play.over == "Succeeded"


@pytest.mark.slow
def test_argo_makes_a_silent_pod_again_with_its_own_waits_as_well(
    api_server: ControlPlane, argo_client: Client
) -> None:
    """Ten seconds before it believes that a pod is gone, two and ten minutes for the results of one."""
    with running(api_server, argo_client, None, {}):
        steps = Steps(argo_client)
        play = Play(steps, one_step("own-waits"))
        pod = play.pod()
        sleep(11)
        steps.delete(pod)
        again = play.pod()
        assert again["metadata"]["name"] == pod["metadata"]["name"]
        steps.succeed(again)
        eventually(lambda: play.over, "the Workflow ends")
        assert play.over == "Succeeded"
