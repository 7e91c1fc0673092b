"""Checks of image pull secrets. No message ever shows a password."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.reading import doubled, of_each
from config.rules.draft import Draft


def _doubled_secrets(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    secrets = [
        (f"imagePullSecrets[{index}]", secret)
        for index, names in of_each(
            draft.image_pull_secrets.items(),
            lambda pair: (pair[0], [(name, pair[1].name) for name in pair[1].namespaces]),
        )
        for secret in names
    ]
    for path, first, (namespace, name) in doubled(secrets, lambda secret: secret):
        yield Problem(
            path,
            f"makes the Secret {name!r} in namespace {namespace!r}, as {first} does",
            "give it another name, or name each namespace once",
        )


RULES = (_doubled_secrets,)
