"""Golden pods where Karpenter scales the pools: placed, refused and left alone as beside the autoscaler.

The policies are those of a stack with node auto-provisioning; the nodes have the same labels and taints on both engines.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from components.layer.scheduling.kept_pods import DO_NOT_DISRUPT
from sandbox.tests.subjects import DEV
from tests.admission.additions import added, plain
from tests.admission.bed import Bed
from tests.admission.corpus import STATES, Outcome
from tests.admission.observation import observe
from tests.admission.test_golden import ADMITTED, GOLDENS, REFUSED, TRIALS, expected
from tests.admission.webhook import katib
from tests.components.program import PROJECT, stack_config

pytestmark = [
    pytest.mark.engine,
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]


MAY_MOVE = {
    "job-cpu-prefer-spot": "asks for spot, where the stack has no spot pool without GPUs",
    "kfp-executor-prefer-spot-namespace": "its namespace asks for it",
    "spark-executor-prefer-spot": "asks for it",
    "profile-daemonset": "goes with its node",
}
"""Pods of profiles that do not tolerate spot and may be moved all the same."""


def karpenter() -> dict[str, Any]:
    """Return what of the stack file is another with Karpenter."""
    cloud = dict(stack_config(PROJECT / "Pulumi.dev.yaml")["kubeflow-spot:cloud"])
    del cloud["autoscaler"]
    return {"cloud": {**cloud, "network": {"policy": "cilium", "dataplane": "cilium"}, "nodeProvisioning": {}}}


@pytest.fixture(scope="module")
def outcomes(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    with (
        bed.otherwise(tmp_path_factory.mktemp("karpenter"), **karpenter()),
        katib(bed.api, frozenset(TRIALS.values()), tmp_path_factory.mktemp("webhook")),
    ):
        yield observe(bed, GOLDENS.values())


@pytest.mark.parametrize("name", ADMITTED)
def test_a_pod_is_placed_as_beside_the_autoscaler_and_kept_where_it_may_not_move(
    name: str, outcomes: dict[str, Outcome], bed: Bed
) -> None:
    golden, outcome = GOLDENS[name], outcomes[name]
    assert added(plain(outcome.untouched["spec"]), plain(outcome.pod["spec"])) == expected(golden, bed)
    assert plain(outcome.again) == plain(outcome.pod["spec"])
    assert outcome.landed == dict(zip(STATES, golden.expect.lands, strict=True))
    tolerant = any(DEV.taint[0] in str(each) for each in outcome.pod["spec"].get("tolerations", ()))
    kept = outcome.pod["metadata"].get("annotations", {}).get(DO_NOT_DISRUPT) == "true"
    assert kept == (golden.in_profile and not tolerant and name not in MAY_MOVE)


@pytest.mark.parametrize("name", REFUSED)
def test_a_pod_is_refused_as_beside_the_autoscaler(name: str, outcomes: dict[str, Outcome]) -> None:
    assert f"rule {GOLDENS[name].expect.refused}: " in outcomes[name].refused
