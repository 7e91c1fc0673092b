"""Katib sweeps over Jobs and PyTorchJobs by the models of Katib's SDK; the trials go where the contract says.

KUBEFLOW_SPOT_CONTRACT=contract.json python katib_sdk.py    # creates both in the current kubeconfig's cluster
"""

from typing import Any

from kubeflow_katib_api import models as katib
from kubeflow_spot import Contract, manifests
from kubernetes import client, config

NAMESPACE = "team-a"


def template(container: str) -> dict[str, Any]:
    """Return the pods of a trial. The annotation keeps Istio's sidecar out (../jobs/katib-job.yaml has the reason)."""
    trainer = {
        "name": container,
        "image": "python:3.12.14-slim-bookworm@sha256:0f5b26b9518d002b6173fd61daad821fa340635ebfec5bba471013f9ca114579",
        "command": ["python", "/code/train.py", "--gpu", "--checkpoints", "/tmp/trial"],
        "args": ["--learning-rate", "${trialParameters.learningRate}"],
        # The driver's libraries on GKE (../../docs/workloads.md).
        "env": [{"name": "LD_LIBRARY_PATH", "value": "/usr/local/nvidia/lib64"}],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": "1"}},
        "volumeMounts": [{"name": "code", "mountPath": "/code"}],
    }
    return {
        "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 25,
            "containers": [trainer],
            "volumes": [{"name": "code", "configMap": {"name": "train"}}],
        },
    }


def job_trial() -> dict[str, Any]:
    # A pod that is lost with its node is not counted.
    lost = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    spec = {"backoffLimit": 3, "podFailurePolicy": {"rules": [lost]}, "template": template("train")}
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": spec}


def pytorch_trial() -> dict[str, Any]:
    replica = {"replicas": 1, "restartPolicy": "OnFailure", "template": template("pytorch")}
    # The operator's own restartPolicy of the replica counts.
    replica["template"]["spec"].pop("restartPolicy")
    # What both mean: ../jobs/pytorchjob.yaml.
    policy = {"backoffLimit": 10, "cleanPodPolicy": "Running"}
    spec = {"runPolicy": policy, "pytorchReplicaSpecs": {"Master": replica, "Worker": replica}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": spec}


def experiment(name: str, trial: dict[str, Any], container: str, primary: dict[str, str] | None) -> dict[str, Any]:
    """Return an Experiment as it is sent."""
    learning_rate = katib.V1beta1ParameterSpec(
        name="learningRate", parameterType="double", feasibleSpace=katib.V1beta1FeasibleSpace(min="0.01", max="0.2")
    )
    reference = katib.V1beta1TrialParameterSpec(name="learningRate", reference="learningRate")
    wanted = katib.V1beta1Experiment(
        apiVersion="kubeflow.org/v1beta1",
        kind="Experiment",
        metadata=katib.IoK8sApimachineryPkgApisMetaV1ObjectMeta(name=name, namespace=NAMESPACE),
        spec=katib.V1beta1ExperimentSpec(
            objective=katib.V1beta1ObjectiveSpec(type="minimize", objectiveMetricName="loss"),
            algorithm=katib.V1beta1AlgorithmSpec(algorithmName="random"),
            parallelTrialCount=2,
            maxTrialCount=6,
            maxFailedTrialCount=3,
            parameters=[learning_rate],
            trialTemplate=katib.V1beta1TrialTemplate(
                primaryContainerName=container,
                primaryPodLabels=primary,
                trialParameters=[reference],
                trialSpec=trial,
            ),
        ),
    )
    return wanted.to_dict()


def experiments(contract: Contract) -> list[dict[str, Any]]:
    """Return one by the contract's lines, which also work below Kubernetes 1.36, and one by the label alone."""
    over_jobs = manifests.placed(experiment("sweep-job-sdk", job_trial(), "train", None), contract.lines("prefer-spot"))
    master = {"training.kubeflow.org/job-role": "master"}
    over_pytorch = experiment("sweep-pytorchjob-sdk", pytorch_trial(), "pytorch", master)
    return [over_jobs, manifests.labelled(over_pytorch, contract, "require-spot")]


def main() -> None:
    config.load_kube_config()
    for wanted in experiments(Contract.find()):
        client.CustomObjectsApi().create_namespaced_custom_object(
            "kubeflow.org", "v1beta1", NAMESPACE, "experiments", wanted
        )


if __name__ == "__main__":
    main()
