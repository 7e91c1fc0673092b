"""Images of the examples have a tag and a digest: a tag can be moved, and the examples are copied."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.components.program import PROJECT
from tests.examples.environment import EXAMPLES
from tests.examples.record import documents, recorded
from tests.examples.test_work import inside

PINNED = re.compile(r"([^@\s]+:[^@:/\s]+)@(sha256:[0-9a-f]{64})")
BY_TAG = {"rayproject/ray:2.52.0", "rayproject/ray:2.52.0-gpu", "example.com/team-a/train:1"}
"""Those without a digest; docs/examples.md says why."""


def images() -> Iterator[str]:
    """Every image of jobs, workloads, compiled pipelines, objects that the SDKs send, and the smoke tests of the pages."""
    for folder in ("jobs", "workloads"):
        for file in sorted((EXAMPLES / folder).iterdir()):
            yield from inside(documents(f"{folder}/{file.name}"), "image")
    yield from inside(recorded(), "image")
    for page in ("azure.md", "google-cloud.md"):
        (image,) = re.findall(r"kubectl run gpu-smoke .*--image=(\S+)", (PROJECT / "docs" / page).read_text())
        yield image


def test_each_image_has_a_digest_or_a_reason() -> None:
    found = set(images())
    assert {image for image in found if not PINNED.fullmatch(image)} == BY_TAG
    by_tag = dict(match.groups() for image in found if (match := PINNED.fullmatch(image)))
    # One digest a tag.
    assert {f"{tagged}@{digest}" for tagged, digest in by_tag.items()} == found - BY_TAG
    page = (PROJECT / "docs" / "examples.md").read_text()
    assert [image for image in sorted(BY_TAG | by_tag.keys()) if f"`{image}`" not in page] == []
