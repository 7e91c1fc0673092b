"""The pods of the examples land where the golden pods do that they are like, on a real API server and scheduler."""

from __future__ import annotations

import pytest
from kubeflow_spot import Contract, manifests
from kubeflow_spot.contract import NAME, NAMESPACE

from tests.admission.bed import Bed
from tests.admission.corpus import STATES
from tests.admission.observation import observe
from tests.admission.outcome import Outcome
from tests.admission.posting import named
from tests.examples.table import goldens
from tests.subjects import DEV

pytestmark = [pytest.mark.engine, pytest.mark.repeats]

GOLDENS = goldens()
AKS_ALONE = GOLDENS.keys() - goldens(aks=False).keys()
"""Pods of examples that have AKS' own words."""


@pytest.fixture(scope="module")
def outcomes(bed: Bed) -> dict[str, Outcome]:
    return observe(bed, [g for name, g in GOLDENS.items() if bed.subject == DEV or name not in AKS_ALONE])


@pytest.mark.parametrize("name", GOLDENS)
def test_an_examples_pod_lands_as_the_table_says(name: str, outcomes: dict[str, Outcome]) -> None:
    if name not in outcomes:
        pytest.skip("an example for AKS")
    assert outcomes[name].landed == dict(zip(STATES, GOLDENS[name].expect.lands, strict=True))


def test_trials_keep_what_they_say_of_sidecar_and_grace(outcomes: dict[str, Outcome]) -> None:
    trials = [outcome.pod for name, outcome in outcomes.items() if "trial" in name]
    assert len(trials) == 6
    for pod in trials:
        assert pod["metadata"]["annotations"]["sidecar.istio.io/inject"] == "false"
        assert pod["spec"]["terminationGracePeriodSeconds"] == 25


def test_a_pod_with_the_contracts_lines_can_be_updated_afterwards(bed: Bed) -> None:
    """A Job's pod that cannot be updated keeps its finalizer, and Argo cannot mark its pod as completed."""
    found = bed.api.get({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "namespace": NAMESPACE}})
    contract = Contract.from_config_map(found)
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
