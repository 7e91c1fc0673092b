"""What old_lines.yaml says of old and new lines is so."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from config.clouds.azure.azure_tables import machines
from tests.docs.pages import DOCS
from tests.examples.contracts import written
from tests.examples.environment import inside

MORE = Path(__file__).with_name("old_lines.yaml").read_text()

GONE = {
    "ContainerOp": "kfp.dsl.ContainerOp",
    "create_component_from_func": "kfp.components.create_component_from_func",
    "func_to_container_op": "kfp.components.func_to_container_op",
    "add_toleration(V1Toleration": "kfp.dsl.PipelineTask.add_toleration",
    "add_affinity(V1Affinity": "kfp.dsl.PipelineTask.add_affinity",
    "use_preemptible_nodepool": "kfp.gcp.use_preemptible_nodepool",
    "use_gcp_secret": "kfp.gcp.use_gcp_secret",
    ".apply(": "kfp.dsl.PipelineTask.apply",
}
"""Names of the column "old line" that kfp 2 has no more."""

PRESENT = (
    "kfp.dsl.component",
    "kfp.dsl.container_component",
    "kfp.dsl.ContainerSpec",
    "kfp.dsl.PIPELINE_JOB_ID_PLACEHOLDER",
    "kfp.components.load_component_from_url",
    "kfp.compiler.Compiler",
    "kfp.Client.create_run_from_pipeline_func",
    "kfp.kubernetes.add_node_affinity",
    "kfp.kubernetes.add_node_selector",
    "kfp.kubernetes.add_toleration",
    "kfp.kubernetes.use_secret_as_env",
    "kfp.dsl.PipelineTask.set_accelerator_limit",
    "kfp.dsl.PipelineTask.set_accelerator_type",
    "kfp.dsl.PipelineTask.set_memory_limit",
    "kubeflow.optimizer.OptimizerClient",
    "kubeflow_katib_api.models.V1beta1Experiment",
)
"""Names of the column "new line"."""


def rows() -> Iterator[list[str]]:
    for row in yaml.safe_load(MORE):
        yield [row.pop("old"), row.pop("new"), row.pop("why", ""), *row]


def test_every_row_has_an_old_line_a_new_one_and_a_reason() -> None:
    assert len(list(rows())) > 30
    assert [row for row in rows() if len(row) != 3] == []


def test_no_text_joins_a_placeholder_of_kfp_with_something_else() -> None:
    """KFP's driver fills in whole values only (tests/examples/test_work.py has the source)."""
    pipelines = [path.read_text() for path in sorted((DOCS.parent / "examples/pipelines").glob("*.py"))]
    texts = [MORE, *pipelines, *(path.read_text() for path in sorted(DOCS.glob("*.md")))]
    assert [found for text in texts for found in re.findall(r"\{dsl\.PIPELINE_\w+\}", text)] == []
    assert "run=dsl.PIPELINE_JOB_ID_PLACEHOLDER" in MORE
    assert any(re.search(r"run ?= ?dsl\.PIPELINE_JOB_ID", text) for text in pipelines)


PAUSES = re.compile(r"pauses of ([\d, ]+ and \d+) minutes")


@pytest.mark.parametrize("path", ["tests/examples/old_lines.yaml", "kubeflow/python/kubeflow_spot/pipelines.py"])
def test_pauses_of_factor_two_are_those_that_fit_into_argos_hour(path: str) -> None:
    """Argo gives up when the next pause would pass backoffMaxDuration, which kfp limits to an hour (docs/workloads.md)."""
    text = " ".join((DOCS.parent / path).read_text().split())
    fitting, pause = [], 5
    while sum(fitting) + pause <= 60:
        fitting.append(pause)
        pause *= 2
    (said,) = PAUSES.findall(text)
    assert list(map(int, re.findall(r"\d+", said))) == fitting
    assert "would pass an hour from the first start" in text


def test_retired_machines_have_their_dates_and_successors() -> None:
    checked = 0
    for old, new, why in rows():
        for name in re.findall(r"Standard_\w+", old):
            machine = machines()[name.lower()]
            assert machine.status == "retired"
            assert machine.retirement_date in why
            assert machine.replacement in new
            checked += 1
    assert checked == 2


@pytest.mark.slow
@pytest.mark.process
def test_kfp_has_the_new_names_and_not_the_old_ones(tmp_path: Path) -> None:
    contract = written(tmp_path)
    old = " ".join(row[0] for row in rows())
    assert [word for word in GONE if word not in old] == []
    there = inside(contract, "names", json.dumps([*GONE.values(), *PRESENT]))
    assert {name for name, is_there in there.items() if is_there} == set(PRESENT)
    retry = inside(contract, "parameters", '["set_retry", "add_node_selector_constraint"]')
    assert retry["set_retry"] == ["self", "num_retries", "backoff_duration", "backoff_factor", "backoff_max_duration"]
    # kfp 1 took a label and its value.
    assert retry["add_node_selector_constraint"] == ["self", "accelerator"]
