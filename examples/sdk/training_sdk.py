"""TFJob and PyTorchJob by the Training Operator's SDK: workers on spot by the cluster's contract, the rest on demand.

    KUBEFLOW_SPOT_CONTRACT=contract.json python training_sdk.py    # creates both in the current kubeconfig's cluster

Inside the cluster the variable is not needed. From Kubernetes 1.36 on workers prefer spot without these lines.
"""

from kubeflow.training import (
    KubeflowOrgV1PyTorchJob,
    KubeflowOrgV1PyTorchJobSpec,
    KubeflowOrgV1ReplicaSpec,
    KubeflowOrgV1RunPolicy,
    KubeflowOrgV1TFJob,
    KubeflowOrgV1TFJobSpec,
    TrainingClient,
)
from kubeflow_spot import Contract, Lines, models
from kubernetes.client import (
    V1ConfigMapVolumeSource,
    V1Container,
    V1EnvVar,
    V1ObjectMeta,
    V1PodSpec,
    V1PodTemplateSpec,
    V1ResourceRequirements,
    V1Volume,
    V1VolumeMount,
)

NAMESPACE = "team-a"


def replica(container: str, job: str, lines: Lines, *, gpu: bool = True) -> KubeflowOrgV1ReplicaSpec:
    """Return one replica. Its placement belongs into the pod's spec: V1ReplicaSpec, as in the tutorial, drops it."""
    trainer = V1Container(
        name=container,
        image="python:3.12.14-slim-bookworm@sha256:0f5b26b9518d002b6173fd61daad821fa340635ebfec5bba471013f9ca114579",
        command=["python", "/code/train.py", *(["--gpu"] if gpu else []), "--checkpoints", f"/tmp/{job}"],
        # The driver's libraries on GKE (../../docs/workloads.md).
        env=[V1EnvVar(name="LD_LIBRARY_PATH", value="/usr/local/nvidia/lib64")] if gpu else None,
        resources=V1ResourceRequirements(
            requests={"cpu": "500m", "memory": "1Gi"}, limits={"nvidia.com/gpu": "1"} if gpu else None
        ),
        volume_mounts=[V1VolumeMount(name="code", mount_path="/code")],
    )
    spec = V1PodSpec(
        containers=[trainer],
        volumes=[V1Volume(name="code", config_map=V1ConfigMapVolumeSource(name="train"))],
        tolerations=models.tolerations(lines),
        affinity=models.affinity(lines),
        node_selector=models.node_selector(lines),
    )
    metadata = V1ObjectMeta(annotations={"sidecar.istio.io/inject": "false"})
    template = V1PodTemplateSpec(metadata=metadata, spec=spec)
    return KubeflowOrgV1ReplicaSpec(replicas=1, restart_policy="OnFailure", template=template)


def tf_job(contract: Contract) -> KubeflowOrgV1TFJob:
    """Chief and parameter server on demand, the worker on spot if there is any."""
    return KubeflowOrgV1TFJob(
        api_version="kubeflow.org/v1",
        kind="TFJob",
        metadata=V1ObjectMeta(name="mnist-sdk", namespace=NAMESPACE),
        spec=KubeflowOrgV1TFJobSpec(
            # Why: ../jobs/tfjob.yaml; the line after it: ../jobs/pytorchjob.yaml.
            enable_dynamic_worker=True,
            run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="Running", backoff_limit=50),
            tf_replica_specs={
                "Chief": replica("tensorflow", "mnist", contract.lines("on-demand")),
                "PS": replica("tensorflow", "mnist", contract.lines("on-demand", gpu=False), gpu=False),
                "Worker": replica("tensorflow", "mnist", contract.lines("prefer-spot")),
            },
        ),
    )


def pytorch_job(contract: Contract) -> KubeflowOrgV1PyTorchJob:
    """Return a job with its master on demand, and its worker on spot and nowhere else."""
    return KubeflowOrgV1PyTorchJob(
        api_version="kubeflow.org/v1",
        kind="PyTorchJob",
        metadata=V1ObjectMeta(name="fit-sdk", namespace=NAMESPACE),
        spec=KubeflowOrgV1PyTorchJobSpec(
            run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="Running", backoff_limit=50),
            pytorch_replica_specs={
                "Master": replica("pytorch", "fit", contract.lines("on-demand")),
                "Worker": replica("pytorch", "fit", contract.lines("require-spot")),
            },
        ),
    )


def main() -> None:
    contract, client = Contract.find(), TrainingClient()
    client.create_job(tf_job(contract), namespace=NAMESPACE)
    client.create_job(pytorch_job(contract), namespace=NAMESPACE)


if __name__ == "__main__":
    main()
