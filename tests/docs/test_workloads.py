"""docs/workloads.md: the label of a placement stands where it reaches pods, for every kind of job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from config.placement.roles import WORKLOAD_OBJECTS
from tests.docs.pages import PROJECT, blocks

PAGE = PROJECT / "docs" / "workloads.md"
LABEL = "kubeflow-spot.dev/placement"


def shown() -> list[tuple[str, Any]]:
    """Return the comment above each snippet of the page, and the snippet."""
    (block,) = (block for block in blocks(PAGE) if "# CronJob\n" in block.text)
    lines = block.text.splitlines()
    return [
        (above.removeprefix("# "), yaml.safe_load(text)) for above, text in zip(lines[::2], lines[1::2], strict=True)
    ]


def paths(part: Any, at: str = "") -> Iterator[str]:
    """Yield the paths of labels in a snippet, as the table of kinds writes them."""
    if isinstance(part, list):
        for item in part:
            yield from paths(item, f"{at}[]")
    elif isinstance(part, dict) and LABEL in part:
        yield at
    elif isinstance(part, dict):
        for key, value in part.items():
            if key.endswith("ReplicaSpecs"):
                for replicas in value.values():
                    yield from paths(replicas, f"{at}.{key}{{}}")
            else:
                yield from paths(value, f"{at}.{key}".removeprefix("."))


KINDS = {kind.kind: kind for kind in WORKLOAD_OBJECTS if kind.group != "batch.volcano.sh"}
LIKE_ANOTHER = {
    "ClusterTrainingRuntime",
    "ClusterWorkflowTemplate",
    "CronWorkflow",
    "ScheduledSparkApplication",
}


def test_each_snippet_has_the_label_where_pods_get_it() -> None:
    for above, snippet in shown():
        (path,) = paths(snippet)
        assert path in KINDS[re.split("[:;,]", above)[0]].labels, above


def test_every_kind_of_job_is_on_the_page() -> None:
    text = PAGE.read_text()
    section = text[text.index("## Choose otherwise for one job") : text.index("## Work that must survive")]
    assert {kind for kind in KINDS if not re.search(rf"\b{kind}\b", section)} == LIKE_ANOTHER
    assert "Volcano" in section
