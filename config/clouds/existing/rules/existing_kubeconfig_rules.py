"""Checks of where the credentials come from."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.existing.existing_settings import Existing
from config.clouds.traits import Cloud
from config.rules.draft import Draft


def _kubeconfig(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not isinstance(draft.cloud, Existing):
        return
    given = draft.cloud.kubeconfig.model_fields_set
    sources = [key for key in ("file", "contents", "stack") if key in given]
    if len(sources) != 1:
        yield Problem(
            "cloud.kubeconfig",
            f"names {' and '.join(sources)}" if sources else "names no source",
            "write one of: `file: PATH`, `contents: ...` (a secret), `stack: "
            "organization/project/stack`",
        )
    for key, needs in (("context", "file"), ("output", "stack")):
        if key in given and len(sources) == 1 and needs not in given:
            yield Problem(f"cloud.kubeconfig.{key}", f"has no use without `{needs}`", "remove it")


RULES = (_kubeconfig,)
