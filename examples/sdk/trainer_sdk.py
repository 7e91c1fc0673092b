"""TrainJob by Kubeflow's SDK, on the runtime of ../jobs/trainjob.yaml: its nodes prefer spot and it resumes from checkpoints.

    python trainer_sdk.py    # creates it in the current kubeconfig's cluster

No placement is written: the cluster's policy knows the nodes of a TrainJob. To choose otherwise, put the lines into a runtime
(kubeflow_spot.manifests.placed), which all versions of Trainer read. The SDK's RuntimePatch needs Trainer 2.2; 26.03 has 2.1.
"""

from kubeflow.common.types import KubernetesBackendConfig
from kubeflow.trainer import CustomTrainerContainer, TrainerClient
from kubeflow.trainer.options import Name, TrainerCommand

NAMESPACE = "team-a"


def main() -> None:
    client = TrainerClient(KubernetesBackendConfig(namespace=NAMESPACE))
    client.train(
        runtime="resuming",
        trainer=CustomTrainerContainer(
            image="python:3.12.14-slim-bookworm@sha256:0f5b26b9518d002b6173fd61daad821fa340635ebfec5bba471013f9ca114579",
            num_nodes=1,
            resources_per_node={"cpu": "500m", "memory": "1Gi", "gpu": 1},
        ),
        options=[
            Name("llm-sdk"),
            TrainerCommand(["python", "/code/train.py", "--gpu", "--checkpoints", "/checkpoints/llm-sdk"]),
        ],
    )


if __name__ == "__main__":
    main()
