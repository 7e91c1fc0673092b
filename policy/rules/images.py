"""Images of containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy import pods
from policy.declared import Declared, at
from policy.rule import Finding, Rule, Settings

_DIGEST = re.compile(r".+@sha256:[0-9a-f]{64}")


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for path, pod in pods.declared_in(declared):
        for at_path, container in pods.containers(path, pod):
            image = at(container, "image")
            if isinstance(image, str) and not _DIGEST.fullmatch(image):
                yield Finding(
                    f"{at_path}.image",
                    "an image by its tag alone",
                    "add the digest: name:tag@sha256:...",
                )


IMAGES = Rule(
    name="image-without-digest",
    refuses="A container whose image is not named by its digest",
    reason="A tag may be moved: what was reviewed and tested is not what a new node pulls",
    sources=("https://kubernetes.io/docs/concepts/containers/images/#image-pull-policy",),
    check=_check,
)
