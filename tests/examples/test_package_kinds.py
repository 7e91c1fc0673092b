"""Where the package puts lines and labels, kind by kind, and in the objects of SDKs."""

import copy
import functools
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from kubeflow_spot import Contract, ContractError, manifests
from kubernetes import client

from tests.examples.contracts import config_map

DEV = Contract.from_config_map(config_map("dev"))
LINES = DEV.lines("require-spot")
CONTAINER = {"name": "main", "image": "x"}

PATHS = {
    ("v1", "Pod"): "spec",
    ("batch/v1", "Job"): "spec.template.spec",
    ("batch/v1", "CronJob"): "spec.jobTemplate.spec.template.spec",
    ("apps/v1", "Deployment"): "spec.template.spec",
    ("apps/v1", "StatefulSet"): "spec.template.spec",
    ("kubeflow.org/v1", "PyTorchJob"): "spec.pytorchReplicaSpecs.Worker.template.spec",
    ("kubeflow.org/v1", "TFJob"): "spec.tfReplicaSpecs.Worker.template.spec",
    ("kubeflow.org/v2beta1", "MPIJob"): "spec.mpiReplicaSpecs.Worker.template.spec",
    ("kubeflow.org/v1", "XGBoostJob"): "spec.xgbReplicaSpecs.Worker.template.spec",
    ("ray.io/v1", "RayCluster"): "spec.workerGroupSpecs.0.template.spec",
    ("ray.io/v1", "RayJob"): "spec.rayClusterSpec.workerGroupSpecs.0.template.spec",
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"): "spec.executor",
    (
        "trainer.kubeflow.org/v1alpha1",
        "TrainingRuntime",
    ): "spec.template.spec.replicatedJobs.0.template.spec.template.spec",
    ("argoproj.io/v1alpha1", "Workflow"): "spec.templates.0",
    ("argoproj.io/v1alpha1", "WorkflowTemplate"): "spec.templates.0",
    ("argoproj.io/v1alpha1", "ClusterWorkflowTemplate"): "spec.templates.0",
    ("argoproj.io/v1alpha1", "CronWorkflow"): "spec.workflowSpec.templates.0",
}
"""The path of a pod's spec, by apiVersion and kind."""


def _nested(path: str, leaf: Any) -> Any:
    for step in reversed(path.split(".")):
        leaf = [leaf] if step == "0" else {step: leaf}
    return leaf


def _at(manifest: Any, path: str) -> Any:
    return functools.reduce(lambda part, step: part[int(step) if step == "0" else step], path.split("."), manifest)


@pytest.mark.parametrize(("kind", "path"), PATHS.items(), ids=[kind for _, kind in PATHS])
def test_the_pods_of_a_kind_are_found(kind: tuple[str, str], path: str) -> None:
    spec = {"containers": [CONTAINER], "container": CONTAINER}
    manifest = {"apiVersion": kind[0], "kind": kind[1], **_nested(path, spec)}
    before = copy.deepcopy(manifest)
    assert _at(manifests.placed(manifest, LINES), path) == spec | LINES.as_spec()
    owner = path.removesuffix("spec").rstrip(".")
    labelled = manifests.labelled(manifest, DEV, "require-spot")
    labelled = _at(labelled, owner) if owner else labelled
    labels = labelled if kind[1] == "SparkApplication" else labelled["metadata"]
    assert labels["labels"] == {"kubeflow-spot.dev/placement": "require-spot"}
    assert manifest == before


WORKFLOW: dict[str, Any] = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Workflow",
    "metadata": {"name": "etl"},
    "spec": {
        "tolerations": [{"key": "team", "operator": "Exists"}],
        "nodeSelector": {"disk": "hdd"},
        "templateDefaults": {"nodeSelector": {"disk": "ssd"}},
        "templates": [
            {"name": "main", "dag": {"tasks": []}},
            {"name": "fetch", "container": CONTAINER},
            {"name": "train", "script": CONTAINER},
        ],
    },
}


def test_a_step_of_a_workflow_keeps_what_all_its_steps_have() -> None:
    placed = manifests.placed(WORKFLOW, LINES, roles=["train"])
    *others, train = placed["spec"]["templates"]
    assert others == WORKFLOW["spec"]["templates"][:2]
    assert [each["key"] for each in train["tolerations"]] == ["team", *(each["key"] for each in LINES.tolerations)]
    assert train["nodeSelector"] == {"disk": "ssd"}
    (train,) = manifests.labelled(WORKFLOW, DEV, "on-demand", roles=["train"])["spec"]["templates"][2:]
    assert train.keys() == {"name", "script", "metadata"}


def test_of_several_steps_users_choose() -> None:
    with pytest.raises(ContractError, match=r"Workflow etl has several .*roles=\[...\]; there is: fetch, train"):
        manifests.placed(WORKFLOW, LINES)


POD = client.V1PodSpec(containers=[client.V1Container(name="main")])
TEMPLATE = client.V1PodTemplateSpec(spec=POD)


class KubeflowOrgV1PyTorchJob:
    """An object of a generated SDK, such as kubeflow-training's."""

    attribute_map = {"kind": "kind", "spec": "spec"}  # noqa: RUF012
    kind = None
    spec = {"pytorchReplicaSpecs": {"Worker": {"template": TEMPLATE}}}  # noqa: RUF012


PYDANTIC = SimpleNamespace(
    kind="Job", model_dump=lambda **options: {"kind": "Job", "spec": {"template": {"spec": {"containers": []}}}}
)


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        (client.V1Pod(spec=POD), "spec"),
        (client.V1Job(spec=client.V1JobSpec(template=TEMPLATE)), "spec.template.spec"),
        (client.V1Deployment(spec=client.V1DeploymentSpec(selector={}, template=TEMPLATE)), "spec.template.spec"),
        (KubeflowOrgV1PyTorchJob(), "spec.pytorchReplicaSpecs.Worker.template.spec"),
        ({"kind": "Job", "spec": client.V1JobSpec(template=TEMPLATE)}, "spec.template.spec"),
        (PYDANTIC, "spec.template.spec"),
    ],
)
def test_objects_of_sdks_are_placed_as_plain_ones(typed: Any, path: str) -> None:
    placed = manifests.placed(typed, LINES)
    assert _at(placed, path).items() >= LINES.as_spec().items()
    assert POD.tolerations is None
    assert client.ApiClient().sanitize_for_serialization(placed) == placed


def test_a_time_in_a_typed_object_is_written_as_yaml_has_it() -> None:
    made = client.V1ObjectMeta(creation_timestamp=datetime(2026, 11, 27, tzinfo=UTC))
    placed = manifests.placed(client.V1Pod(metadata=made, spec=POD), LINES)
    assert placed["metadata"] == {"creationTimestamp": "2026-11-27T00:00:00+00:00"}


def test_a_typed_pods_spec_is_placed() -> None:
    assert manifests.place(POD, LINES) == {"containers": [{"name": "main"}]} | LINES.as_spec()
