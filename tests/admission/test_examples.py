"""The pods of the examples land where the golden pods do that they are like, on a real API server and scheduler."""

import pytest
from kubeflow_spot import Contract, ContractError, manifests

from sandbox.tests.subjects import DEV
from tests.admission.bed import Bed
from tests.admission.corpus import STATES, Outcome
from tests.admission.observation import observe
from tests.admission.operators import shell
from tests.admission.posting import named
from tests.docs.pages import DOCS, blocks
from tests.examples.table import goldens

pytestmark = [pytest.mark.engine, pytest.mark.repeats]

GOLDENS = goldens()

OF_THEIR_OWN = {
    "spot-by-default-fit-2",
    "spot-by-hand-required-fit",
    "by-contract-fit",
    "pytorchjob-worker",
    "training-sdk-mnist-sdk-worker",
    "katib-sdk-sweep-job-sdk-trial-pod",
    "kueue-pod",
}
"""One pod of each form that no golden pod has. The others wait for `make test-slow`."""
NAMES = [pytest.param(name, marks=() if name in OF_THEIR_OWN else pytest.mark.slow) for name in GOLDENS]


@pytest.fixture(scope="module")
def outcomes(bed: Bed, request: pytest.FixtureRequest) -> dict[str, Outcome]:
    """Return the outcomes of all pods whose tests this run has on this stack."""
    calls = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    here = {call.params.get("example") for call in calls if call and call.params.get("subject") == bed.subject}
    return observe(bed, [golden for name, golden in goldens(aks=bed.subject == DEV).items() if name in here])


@pytest.mark.parametrize("example", NAMES)
def test_an_examples_pod_lands_as_the_table_says(example: str, outcomes: dict[str, Outcome]) -> None:
    if example not in outcomes:
        pytest.skip("an example for AKS")
    outcome = outcomes[example]
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
        ContractError,
        match=r"ConfigMap kube-public/another: it does not exist\. Check the kubeconfig's current context",
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


def test_the_pages_lines_start_training(bed: Bed) -> None:
    (text,) = [block.text for block in blocks(DOCS / "workloads.md") if "create configmap train" in block.text]
    lines = [line for line in text.splitlines() if line.startswith("kubectl ")]
    assert len(lines) == 2
    try:
        shell(bed, "\n".join([*lines, "kubectl get -n team-a configmap/train job/train pvc/checkpoints"]))
    finally:
        shell(bed, "kubectl delete -n team-a configmap/train job/train pvc/checkpoints")
