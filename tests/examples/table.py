"""Each pod of each example, and the golden pod it is like.

The golden pod's row in docs/placement.md says where the pod lands.

python -m tests.examples.table    # writes the table of docs/workloads.md, prints where pods land
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.admission.corpus import Golden, corpus
from tests.admission.table import DOCS, LANDS, rewritten, row
from tests.examples import controllers
from tests.examples.record import documents, recorded

COMMAND = "python -m tests.examples.table"


@dataclass(frozen=True)
class Example:
    """A file, what it shows, and the pods that come of it."""

    file: str
    """Below examples/."""
    title: str
    pods: dict[str, str]
    """The golden pod that each pod is like, by its role or task."""
    pipeline: str = ""
    """Of a pipeline: its module and function."""
    sent: tuple[str, ...] = ()
    """Of an SDK: the names of the objects that it sends."""
    aks: bool = False
    """Whether it has AKS' own words."""

    @property
    def needs(self) -> str:
        """What the cluster must have for it, beside this stack."""
        if self.pipeline:
            return SERVERS["Pipeline"]
        bodies = _sent(self) if self.sent else documents(self.file)
        trials = [body["spec"]["trialTemplate"]["trialSpec"] for body in bodies if body["kind"] == "Experiment"]
        kinds = {body["kind"] for body in (*bodies, *trials)}
        return ", ".join(dict.fromkeys(SERVERS[kind] for kind in sorted(kinds) if kind in SERVERS)) or "nothing"


SERVERS = {
    "ClusterQueue": "Kueue *",
    "Experiment": "Katib",
    "Pipeline": "Pipelines",
    "PyTorchJob": "Training Operator *",
    "RayJob": "KubeRay *",
    "SparkApplication": "Spark operator",
    "TFJob": "Training Operator *",
    "TrainJob": "Trainer",
}
"""Who serves objects of a kind.

With a star: not what 26.03's own example installs (kubeflow/manifests, example/kustomization.yaml).
"""

_ROWS = yaml.safe_load(Path(__file__).with_name("examples.yaml").read_text())
EXAMPLES = tuple(Example(**row | {"sent": tuple(row.get("sent", ()))}) for row in _ROWS)


def goldens(aks: bool = True) -> dict[str, Golden]:
    """Return every pod of every example as a golden pod; its landing is that of the row it is like. `aks`: on AKS."""
    return {golden.name: golden for example in EXAMPLES if aks or not example.aks for golden in _goldens(example)}


def _goldens(example: Example) -> Iterator[Golden]:
    made = dict(bodies(example))
    assert made.keys() == example.pods.keys(), (example.file, sorted(made))
    for role, (body, user) in made.items():
        like = corpus()[example.pods[role]]
        stem = example.file.rpartition("/")[2].partition(".")[0]
        function = example.pipeline.partition(":")[2]
        words = (stem, function if example.aks else "", role)
        name = "-".join(word for word in words if word).replace("_", "-").replace(" ", "-")
        yield Golden(name, like.made_by, user, body, None, like.expect)


def bodies(example: Example) -> Iterator[tuple[str, tuple[dict[str, Any], str | None]]]:
    """Yield by role what a controller makes of an example, and its creator; None for the cluster itself."""
    if example.pipeline:
        for name, facts in recorded()["pipelines"][example.pipeline].items():
            pipeline = example.pipeline.partition(":")[2].replace("_", "-")
            yield name, (controllers.task(pipeline, name, facts), controllers.ARGO)
    elif example.sent:
        runtime = next(d for d in documents("jobs/trainjob.yaml") if d["kind"] == "ClusterTrainingRuntime")
        for wanted in _sent(example):
            for role, body, user in controllers.pods_and_jobs([runtime, wanted]):
                yield f"{wanted['metadata']['name']} {role}", (body, user)
    else:
        for role, body, user in controllers.pods_and_jobs(documents(example.file)):
            yield role, (body, user)


def _sent(example: Example) -> list[dict[str, Any]]:
    return [wanted for wanted in recorded()["sdk"] if wanted["metadata"]["name"] in example.sent]


def table() -> str:
    """Return the rows in Markdown."""
    return "\n".join(_rows())


def _rows() -> Iterator[str]:
    yield row("example", "shows")
    yield "|-|-|"
    for example in EXAMPLES:
        yield row(f"{example.file}{' *' * ('*' in example.needs)}", example.title)


def landings() -> Iterator[str]:
    """Yield where the pods of each example land."""
    for example in EXAMPLES:
        ends = [f"{pod}: {LANDS[corpus()[like].expect.lands]}" for pod, like in example.pods.items()]
        yield f"{example.file} ({example.title}; needs {example.needs}): {', '.join(ends)}"


def page() -> str:
    """Return docs/workloads.md with its table."""
    return rewritten((DOCS / "workloads.md").read_text(), table(), COMMAND)


if __name__ == "__main__":
    (DOCS / "workloads.md").write_text(page())
    print(*landings(), sep="\n")
