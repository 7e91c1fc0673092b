"""Runs the Python blocks of a page in the environment of the examples: python readme_inside.py PAGE

The last line on stdout is what they made, as JSON.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml


def main(page: str) -> None:
    made: dict[str, Any] = {}
    # kfp reads the sources of its components from a file.
    Path("page.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", Path(page).read_text(), re.DOTALL)))
    exec(compile(Path("page.py").read_text(), "page.py", "exec"), made)
    spec, platform = yaml.safe_load_all(Path("train.yaml").read_text())
    answer = {
        "resources": spec["deploymentSpec"]["executors"]["exec-train"]["container"]["resources"],
        "kubernetes": platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]["exec-train"],
        "gpu limit alone": gpu_limit_alone(made),
        "job": made["job"],
        "patches": made["patches"],
        "sdk": placed_job_of_the_sdk(made),
    }
    print("\n" + json.dumps(answer))


def placed_job_of_the_sdk(made: dict[str, Any]) -> Any:
    """Return a typed PyTorchJob of kubeflow-training with lines in its worker."""
    import training_sdk
    from kubeflow_spot import manifests

    job = training_sdk.pytorch_job(made["contract"])
    worker = job.spec.pytorch_replica_specs["Worker"].template.spec
    worker.tolerations, worker.affinity = None, None
    placed = manifests.placed(job, made["lines"])
    return placed["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["affinity"]


def gpu_limit_alone(made: dict[str, Any]) -> Any:
    @made["dsl"].pipeline(name="limit")
    def limit() -> None:
        made["train"]().set_gpu_limit(1)

    made["compiler"].Compiler().compile(limit, "limit.yaml")
    spec = yaml.safe_load(Path("limit.yaml").read_text())
    return spec["deploymentSpec"]["executors"]["exec-train"]["container"]["resources"]


if __name__ == "__main__":
    main(sys.argv[1])
