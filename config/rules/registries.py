"""Checks of what images are pulled with. Nothing here ever shows a password."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import readable
from config.problems import Problem


def _doubled_secrets(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[tuple[str, str], str] = {}
    for index, secret in draft.image_pull_secrets.items():
        if not readable(secret, "name", "namespaces"):
            continue
        for namespace in secret.namespaces:
            path = f"imagePullSecrets[{index}]"
            if (namespace, secret.name) in seen:
                yield Problem(
                    path,
                    f"makes the Secret {secret.name!r} in namespace {namespace!r}, as {seen[namespace, secret.name]} does",
                    "give it another name, or name each namespace once",
                )
            seen[namespace, secret.name] = path


RULES = (_doubled_secrets,)
