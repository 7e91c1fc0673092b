"""Long training: copy the data on demand, train on spot with checkpoints in a bucket, serve on demand.

    kfp dsl compile --py long_training.py --output long_training.yaml

The step `train` may lose its node as often as it likes. A retry is a new pod, which reads the newest checkpoint; a step that
has finished answers at once. A lost pod is retried only with the component `retry` over Kubeflow's manifests (docs/workloads.md).
"""

from pathlib import Path

from kfp import dsl
from kubeflow_spot import pipelines

IMAGE = "python:3.12.14-slim-bookworm@sha256:0f5b26b9518d002b6173fd61daad821fa340635ebfec5bba471013f9ca114579"
TRAINING = Path(__file__).resolve().parents[1] / "training"
DRIVERS = ["fsspec>=2026.1", "gcsfs>=2026.1", "adlfs>=2026.1"]
"""Checkpoints at gs://BUCKET/PATH or abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH; a mounted folder needs none."""


@dsl.component(base_image=IMAGE, packages_to_install=DRIVERS)
def copy_data(bucket: str, run: str, seed: int) -> str:
    """Put the data beside the checkpoints, once: a second run finds it. Here it is the seed that makes the data."""
    import json

    import fsspec

    name = f"{bucket}/{run}/data/settings.json"
    files, path = fsspec.core.url_to_fs(name)
    if not files.exists(path):
        # A bucket has no folders, and asking for one asks about the bucket itself.
        if "://" not in bucket:
            files.makedirs(path.rpartition("/")[0], exist_ok=True)
        with files.open(path, "w") as file:
            json.dump({"seed": seed}, file)
    return name


@dsl.component(base_image=IMAGE, packages_to_install=DRIVERS, embedded_artifact_path=str(TRAINING / "train.py"))
def train(
    data: str,
    bucket: str,
    run: str,
    steps: int,
    checkpoint_every: int,
    gpu: bool,
    program: dsl.EmbeddedInput[dsl.Artifact],
) -> str:
    """Train to the end, from the newest checkpoint; where the result is."""
    import json
    import subprocess
    import sys

    import fsspec

    with fsspec.open(data) as file:
        seed = json.load(file)["seed"]
    settings = ["--steps", str(steps), "--seed", str(seed), "--checkpoint-every", str(checkpoint_every)]
    settings += ["--gpu"] if gpu else []
    checkpoints = f"{bucket}/{run}/checkpoints"
    subprocess.run([sys.executable, program.path, *settings, "--checkpoints", checkpoints], check=True)
    return f"{checkpoints}/result.json"


@dsl.component(
    base_image=IMAGE,
    packages_to_install=[*DRIVERS, "kubernetes>=27"],
    embedded_artifact_path=str(TRAINING / "serve.py"),
)
def serve(result: str, name: str, image: str, deploy: bool, program: dsl.EmbeddedInput[dsl.Artifact]) -> str:
    """Return the model as a KServe InferenceService; make it in this profile if `deploy`. Its pods stay on demand.

    None of KServe's runtimes reads train.py's JSON, so the service is a program of its own, serve.py, with the weights beside it.
    """
    import json

    import fsspec

    with fsspec.open(result) as file:
        weights = json.load(file)["state"]["weights"]
    with open(program.path) as file:
        command = ["python", "-c", file.read()]
    container = {
        # The name by which KServe knows the container of the model.
        "name": "kserve-container",
        "image": image,
        "command": command,
        "env": [{"name": "WEIGHTS", "value": json.dumps(weights)}],
        "ports": [{"containerPort": 8080}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": name},
        "spec": {"predictor": {"containers": [container]}},
    }
    if deploy:
        from kubernetes import client, config

        config.load_incluster_config()
        with open("/var/run/secrets/kubernetes.io/serviceaccount/namespace") as file:
            namespace = file.read()
        api = client.CustomObjectsApi()
        kind = ("serving.kserve.io", "v1beta1", namespace, "inferenceservices")
        try:
            api.create_namespaced_custom_object(*kind, service)
        except client.ApiException as error:
            # Made by the attempt before.
            if error.status != 409:
                raise
            api.patch_namespaced_custom_object(*kind, name, service)
    return json.dumps(service)


@dsl.pipeline(name="long-training")
def long_training(
    bucket: str,
    steps: int = 2000,
    checkpoint_every: int = 50,
    name: str = "model",
    deploy: bool = False,
    gpu: bool = True,
) -> str:
    """Train on spot nodes, and serve the model.

    `bucket`: a URL or folder that outlives the node. Each run has a folder of its own in it, which its retries share.

    `gpu`: whether training ends at once where it finds no GPU.
    """
    # A value of its own: KFP's driver fills in a placeholder only where it is the whole value (kubeflow/pipelines,
    # backend/src/v2/driver/resolve.go). Two runs may have the same name; no two have the same id.
    run = dsl.PIPELINE_JOB_ID_PLACEHOLDER
    copied = copy_data(bucket=bucket, run=run, seed=7)
    trained = train(
        data=copied.output,
        bucket=bucket,
        run=run,
        steps=steps,
        checkpoint_every=checkpoint_every,
        gpu=gpu,
    )
    pipelines.find_driver(pipelines.gpus(trained))
    # No `set_retry` here: what kfp writes for it ends an hour after the first start (docs/workloads.md). The cluster's default, the
    # component `retry` over Kubeflow's manifests, starts a step ten times again when its machine is lost.
    served = serve(result=trained.output, name=name, image=IMAGE, deploy=deploy)
    return served.output
