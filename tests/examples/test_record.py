"""Pipelines compile, and run to their end with kfp's local runner; SDKs send what is recorded; the page shows what is tested."""

import ast
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.admission.table import DOCS, written
from tests.docs.pages import blocks
from tests.examples import contracts
from tests.examples.environment import EXAMPLES, PACKAGE, inside, python
from tests.examples.record import documents, make, recorded
from tests.examples.table import COMMAND, Example, bodies, goldens, table
from tests.examples.table import EXAMPLES as EVERY

BLOCKS = list(blocks(DOCS / "workloads.md"))
RUNS: dict[str, dict[str, Any]] = {
    "long_training:long_training": {"steps": 200, "checkpoint_every": 20, "gpu": False},
    # No GPU here: another command.
    "nvidia_smi:nvidia_smi": {"command": ["echo", "a GPU"]},
}
"""Arguments of pipelines' runs; of others none."""


def test_the_table_of_examples_is_up_to_date() -> None:
    assert written((DOCS / "workloads.md").read_text(), COMMAND) == table(), f"run: {COMMAND}"


def test_every_file_of_work_is_in_the_table() -> None:
    folders = ("jobs", "pipelines", "sdk")
    files = {
        str(path.relative_to(EXAMPLES))
        for folder in folders
        for path in (EXAMPLES / folder).iterdir()
        if path.is_file()
    }
    # The claim and the program of the others.
    assert files - {example.file for example in EVERY} == {"jobs/checkpoints.yaml"}
    assert len(goldens()) == sum(len(example.pods) for example in EVERY)


def test_only_what_kubernetes_serves_needs_nothing() -> None:
    plain = {example.file for example in EVERY if example.needs == "nothing"}
    assert plain == {"jobs/nvidia-smi.yaml", "jobs/train-job.yaml"}
    assert {body["apiVersion"] for file in plain for body in documents(file)} == {"batch/v1"}


def test_the_retry_is_five_times_after_five_minutes_each() -> None:
    retries = {
        (pipeline, name): facts["retry"]
        for pipeline, tasks in recorded()["pipelines"].items()
        for name, facts in tasks.items()
        if "retry" in facts
    }
    five = {"maxRetryCount": 5, "backoffDuration": "300s", "backoffFactor": 1.0, "backoffMaxDuration": "3600s"}
    # Training that may take days has none: it would end an hour after the first start.
    assert {pipeline for pipeline, _ in retries}.isdisjoint({"long_training:long_training"})
    assert len(retries) == 6
    assert set(map(str, retries.values())) == {str(dict(sorted(five.items())))}


def test_the_base_pipeline_says_nothing_about_nodes() -> None:
    for facts in recorded()["pipelines"]["base:base_pipeline"].values():
        assert facts.keys() <= {"image", "after"}


def test_trials_keep_their_annotation_and_grace() -> None:
    trials = [golden for name, golden in goldens().items() if "trial" in name]
    assert len(trials) == 6
    for golden in trials:
        body = golden.object if golden.object["kind"] == "Pod" else golden.object["spec"]["template"]
        assert body["metadata"]["annotations"]["sidecar.istio.io/inject"] == "false"
        assert golden.spec["terminationGracePeriodSeconds"] == 25


@pytest.mark.slow
@pytest.mark.process
def test_kfp_and_the_sdks_still_make_what_is_recorded() -> None:
    """The record, and the same with a GKE stack's contract: only placement differs."""
    assert json.loads(json.dumps(make())) == recorded(), "run: python -m tests.examples.record"
    on_gke = make("staging")
    placed = on_gke["pipelines"]["by_contract:by_contract"]["fit"]["kubernetes"]
    assert {t["key"] for t in placed["tolerations"]} >= {"cloud.google.com/gke-spot", "nvidia.com/gpu"}
    assert placed["nodeSelector"] == {"labels": {"cloud.google.com/compute-class": "kubeflow-spot"}}
    assert on_gke["pipelines"]["base:base_pipeline"] == recorded()["pipelines"]["base:base_pipeline"]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("pipeline", recorded()["pipelines"])
def test_a_pipeline_runs_to_its_end(pipeline: str, tmp_path: Path) -> None:
    contract = contracts.written(tmp_path)
    arguments = RUNS.get(pipeline, {})
    if pipeline.startswith("long_training"):
        arguments = arguments | {"bucket": str(tmp_path / "bucket")}
    outputs = inside(contract, "run", pipeline, json.dumps(arguments))
    output = outputs["Output"]
    if pipeline.startswith("base"):
        assert output == 150
    elif pipeline.startswith("long_training"):
        (result,) = (tmp_path / "bucket").glob("*/checkpoints/result.json")
        assert "$" not in str(result)
        assert json.loads(result.read_text())["state"]["step"] == 200
        assert json.loads(output)["metadata"]["name"] == "model"
        weights = json.loads(result.read_text())["state"]["weights"]
        (container,) = json.loads(output)["spec"]["predictor"]["containers"]
        assert container["command"] == ["python", "-c", (EXAMPLES / "training" / "serve.py").read_text()]
        assert container["env"] == [{"name": "WEIGHTS", "value": json.dumps(weights)}]
    elif pipeline.startswith("nvidia_smi"):
        assert output == "a GPU\n"
    else:
        assert 0 < output < 1


@pytest.mark.slow
@pytest.mark.process
def test_training_resumes_from_a_bucket(tmp_path: Path) -> None:
    left = inside(contracts.written(tmp_path), "bucket")
    assert left == {"equal": True, "step": 60, "files": ["result.json", "step-000000049.json", "step-000000056.json"]}


@pytest.mark.slow
@pytest.mark.process
def test_katibs_models_know_every_field_of_the_sweeps(tmp_path: Path) -> None:
    """In place of its CustomResourceDefinition, which no Go module that is served has (modules.toml)."""
    sweeps = [*documents("jobs/katib-job.yaml"), *documents("jobs/katib-pytorchjob.yaml")]
    assert inside(contracts.written(tmp_path), "katib", json.dumps(sweeps)) == sweeps


def placement(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a Job's spec without placement and without the names of its command's parts."""
    job: dict[str, Any] = json.loads(json.dumps(spec))
    pod = job["template"]["spec"]
    for key in ("affinity", "nodeSelector", "tolerations"):
        pod.pop(key, None)
    (container,) = pod["containers"]
    container["command"] += container.pop("args", [])
    # A quantity of 1 is written as a number or as text.
    container["resources"]["limits"]["nvidia.com/gpu"] = str(container["resources"]["limits"]["nvidia.com/gpu"])
    return job


def test_the_sdks_trial_over_jobs_is_that_of_the_file() -> None:
    (by_file,) = documents("jobs/katib-job.yaml")
    by_sdk = next(sent for sent in recorded()["sdk"] if sent["metadata"]["name"] == "sweep-job-sdk")
    trials = [sweep["spec"]["trialTemplate"]["trialSpec"]["spec"] for sweep in (by_file, by_sdk)]
    assert placement(trials[0]) == placement(trials[1])
    assert trials[0]["podFailurePolicy"]["rules"][0]["action"] == "Ignore"


def test_who_lends_a_quota_of_kueue_takes_it_back() -> None:
    queues = [body["spec"] for body in documents("jobs/kueue.yaml") if body["kind"] == "ClusterQueue"]

    def flavors(spec: dict[str, Any], key: str) -> set[str]:
        found = [flavor for group in spec["resourceGroups"] for flavor in group["flavors"]]
        return {f["name"] for f in found if any(r.get(key, 0) not in (0, "0") for r in f["resources"])}

    borrowed = {name for spec in queues for name in flavors(spec, "borrowingLimit")}
    assert borrowed == {"example-on-demand"}
    for spec in queues:
        reclaims = spec.get("preemption", {}).get("reclaimWithinCohort", "Never") == "Any"
        assert reclaims == bool(flavors(spec, "nominalQuota") & borrowed)


def test_work_of_the_ray_job_runs_on_a_worker_with_a_gpu() -> None:
    (job,) = documents("jobs/rayjob.yaml")
    python, flag, program = shlex.split(job["spec"]["entrypoint"])
    assert (python, flag) == ("python", "-c")
    (task,) = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.FunctionDef)]
    (decorator,) = task.decorator_list
    assert ast.unparse(decorator) == "ray.remote(num_gpus=1, max_retries=-1)"
    assert "subprocess.run" in ast.unparse(task)
    assert job["spec"]["rayClusterSpec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"


def mounted(body: dict[str, Any]) -> set[str]:
    """Return the claims that a pod, or the pods of a Job, mount."""
    spec = body["spec"]["template"]["spec"] if body["kind"] == "Job" else body["spec"]
    volumes = spec.get("volumes", ())
    return {volume["persistentVolumeClaim"]["claimName"] for volume in volumes if "persistentVolumeClaim" in volume}


@pytest.mark.parametrize("example", [e for e in EVERY if not e.pipeline], ids=lambda example: str(example.file))
def test_no_disk_is_mounted_by_two_roles(example: Example) -> None:
    """A disk hangs on one node: the second pod would wait with "Multi-Attach error"."""
    (claim,) = documents("jobs/checkpoints.yaml")
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    mounts = [name for _, (body, _) in bodies(example) for name in mounted(body)]
    assert set(mounts) <= {claim["metadata"]["name"]}
    assert len(mounts) <= 1


def test_the_runtime_of_the_train_job_is_beside_it() -> None:
    runtime, job = documents("jobs/trainjob.yaml")
    assert job["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]


@pytest.mark.slow
@pytest.mark.process
def test_the_data_of_the_long_training_are_copied_with_the_rights_of_a_profile(tmp_path: Path) -> None:
    program = Path(__file__).with_name("copies_inside.py")
    copied = inside(contracts.written(tmp_path), "team-a/", program=program)
    assert copied == {"objects": ["team-a/run-1/data/settings.json"], "refused": []}


SHOWN = {block.language: [each.text for each in BLOCKS if each.language == block.language] for block in BLOCKS}
TYPED = '.set_accelerator_type("nvidia.com/gpu").set_accelerator_limit(1)'


@pytest.mark.slow
@pytest.mark.process
def test_the_pages_step_asks_for_a_gpu_and_set_gpu_limit_alone_for_none(tmp_path: Path) -> None:
    (text,) = SHOWN["python"]
    asked = {}
    for name, asks in {"page": TYPED, "alone": ".set_gpu_limit(1)"}.items():
        assert TYPED in text
        (tmp_path / f"{name}.py").write_text(text.replace(TYPED, asks))
        facts = inside(contracts.written(tmp_path), "page", str(tmp_path / f"{name}.py"))
        asked[name] = facts["fit"]["resources"]["accelerator"]
    number = {"count": "1", "resourceCount": "1"}
    assert asked == {"page": {**number, "type": "nvidia.com/gpu", "resourceType": "nvidia.com/gpu"}, "alone": number}


@pytest.mark.slow
@pytest.mark.process
def test_the_pages_lines_compile_pipelines(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    here = {"uv": 'shift 3; exec "$@"', "kubectl": f'[ "$1" != get ] || exec cat "{contracts.written(tmp_path)}"'}
    for name, body in here.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = os.pathsep.join([str(tmp_path), str(Path(python()).parent), os.environ["PATH"]])
    settings = {**os.environ, "PATH": path, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
    lines = [text for text in SHOWN["sh"] if "kfp dsl compile" in text]
    assert len(lines) == 2
    for text in lines:
        subprocess.run(["bash", "-ec", text], env=settings, cwd=tmp_path, check=True)
    assert json.loads((tmp_path / "contract.json").read_text()) == contracts.config_map("dev")
    assert {file.name for file in tmp_path.glob("*.yaml")} == {"base.yaml", "by_contract.yaml"}
