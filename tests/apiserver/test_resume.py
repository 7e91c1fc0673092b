"""The training of examples/training under Argo's own controller: what the retry default and the checkpoints do together."""

from pathlib import Path

import pytest

from sandbox.tests.stack import eventually
from tests.apiserver.playing import Play, both, one_step
from tests.apiserver.steps import Steps
from tests.training import PROGRAM, Training, undisturbed

pytestmark = [pytest.mark.engine, pytest.mark.tools]


@both
def test_training_that_loses_three_machines_ends_with_the_numbers_of_one_that_loses_none(
    controller: Steps, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    training, play = Training(tmp_path / "run"), Play(controller, one_step("training"))
    # A drain with time to save, as most programs get it; a pipeline's launcher, which gives none; and no notice at all.
    for after, noticed, forwarded in ((40, True, True), (80, True, False), (120, False, False)):
        pod = play.next()
        if pod is None:
            break
        training.begin()
        code = training.lose(after, noticed=noticed, forwarded=forwarded)
        if noticed:
            controller.fail(pod, code if code > 0 else 128 - code)
        else:
            controller.collect(pod)
        controller.delete(pod)
    if request.node.callspec.id == "without":
        assert play.over in ("Failed", "Error"), "as Argo saw the pod's end, or only that it is gone"
        assert (training.attempts, training.result()) == (1, None)
        return
    pod = play.pod()
    training.begin()
    assert training.finish() == 0
    controller.succeed(pod)
    eventually(lambda: play.over, "the training's Workflow ends")
    assert (play.over, training.attempts) == ("Succeeded", 4)
    assert training.result() == undisturbed(tmp_path / "undisturbed")


BREAKS = {
    "weights are not in it": (
        'return State(**saved["state"])\n    return State(0',
        'return State(saved["state"]["step"], [0.0] * FEATURES, 0.0)\n    return State(0',
    ),
    "a step is left out": (
        'return State(**saved["state"])\n    return State(0',
        'return State(**{**saved["state"], "step": saved["state"]["step"] + 1})\n    return State(0',
    ),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_a_checkpoint_that_lacks_something_ends_with_other_numbers(broken: str, tmp_path: Path) -> None:
    """The comparison above can fail."""
    old, new = BREAKS[broken]
    text = PROGRAM.read_text()
    assert text.count(old) == 1
    (tmp_path / "train.py").write_text(text.replace(old, new))
    training = Training(tmp_path / "run", program=tmp_path / "train.py")
    training.begin()
    training.lose(40)
    training.pace = 0.0
    training.begin()
    assert training.finish() == 0
    assert training.result() != undisturbed(tmp_path / "undisturbed")
