"""Smoke test: a step sees its GPU and its driver.

    kfp dsl compile --py nvidia_smi.py --output nvidia_smi.yaml

Was a `dsl.ContainerOp` with `set_gpu_limit(1)` and `add_node_selector_constraint(...)`; kfp 2 has no ContainerOp.
"""

from kfp import dsl
from kubeflow_spot import pipelines


@dsl.component(
    base_image="tensorflow/tensorflow:2.18.0-gpu@sha256:1f16fbd9be8bb84891de12533e332bbd500511caeb5cf4db501dbe39d422f9c7"
)
def show(command: list) -> str:
    """Return the output of the command. Fails when it fails, which it does without a GPU or a driver."""
    import subprocess

    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout, done.stderr, flush=True)
    done.check_returncode()
    return done.stdout


@dsl.pipeline(name="nvidia-smi")
def nvidia_smi(command: list = ["nvidia-smi"]) -> str:  # noqa: B006  # kfp reads the default as a value
    shown = show(command=command)
    # A label of a pool of yours, instead of a GPU of any kind: kubernetes.add_node_selector(shown, KEY, VALUE).
    pipelines.gpus(shown)
    shown.set_caching_options(False)
    return shown.output
