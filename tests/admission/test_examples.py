"""The pods of the examples land where the golden pods do that they are like, on a real API server and scheduler."""

from __future__ import annotations

import pytest
from kubeflow_spot import Contract, ContractError, manifests

from tests.admission.bed import Bed
from tests.admission.corpus import STATES
from tests.admission.outcome import Outcome
from tests.admission.posting import named
from tests.examples.table import goldens

pytestmark = [pytest.mark.engine, pytest.mark.repeats]

GOLDENS = goldens()

OF_THEIR_OWN = {
    "base-fetch",
    "spot-by-default-fit",
    "spot-by-default-fit-2",
    "spot-by-hand-required-fit",
    "spot-by-hand-preferred-fit",
    "by-contract-fit",
    "by-contract-fit-2",
    "by-contract-fit-3",
    "train-job-pod",
    "pytorchjob-worker",
    "training-sdk-mnist-sdk-worker",
    "katib-job-trial-pod",
    "katib-sdk-sweep-job-sdk-trial-pod",
    "trainjob-node",
    "kueue-pod",
}
"""Pods of forms that no golden pod has, or that people copy most. The others, of golden pods' forms, wait for `make test-slow`."""
NAMES = [pytest.param(name, marks=() if name in OF_THEIR_OWN else pytest.mark.slow) for name in GOLDENS]


@pytest.mark.parametrize("example", NAMES)
def test_an_examples_pod_lands_as_the_table_says(example: str, outcomes: dict[str, Outcome]) -> None:
    if f"example-{example}" not in outcomes:
        pytest.skip("an example for AKS")
    outcome = outcomes[f"example-{example}"]
    assert outcome.landed == dict(zip(STATES, GOLDENS[example].expect.lands, strict=True))
    if "trial" in example:
        assert outcome.pod["metadata"]["annotations"]["sidecar.istio.io/inject"] == "false"
        assert outcome.pod["spec"]["terminationGracePeriodSeconds"] == 25


def test_the_pods_of_their_own_are_there() -> None:
    assert GOLDENS.keys() >= OF_THEIR_OWN


def test_a_pod_with_the_contracts_lines_can_be_updated_afterwards(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Job's pod that cannot be updated keeps its finalizer, and Argo cannot mark its pod as completed."""
    kubeconfig = str(bed.plane.admin_kubeconfig)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", kubeconfig)
    monkeypatch.delenv("KUBEFLOW_SPOT_CONTRACT", raising=False)
    with pytest.raises(
        ContractError, match=r"ConfigMap kube-public/another: Not Found\. Every service account may read it"
    ):
        Contract.from_cluster("another")
    contract = Contract.find()
    gpu = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"nvidia.com/gpu": "1"}}
    for name, lines in contract.snippets.items():
        if name.startswith("gpu-"):
            spec = manifests.place({"containers": [{"name": "x", "image": "x", "resources": gpu}]}, lines)
            pod = {**named("v1", "Pod", name, "unmatched"), "spec": spec}
            bed.api.create(pod)
            keys = [
                toleration["key"]
                for toleration in bed.api.patch(pod, {"metadata": {"labels": {"a": "b"}}})["spec"]["tolerations"]
            ]
            bed.api.delete(pod)
            assert keys.count("nvidia.com/gpu") == 1
