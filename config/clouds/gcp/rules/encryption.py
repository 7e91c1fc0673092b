"""Checks of keys that are not Google's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.problems import Problem

_PATH = "cloud.encryption"


def _secrets_key(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    settings = draft.new_gke
    if settings and settings.encryption.secrets_key:
        place = _place(settings.encryption.secrets_key)
        if settings.region and place != settings.region:
            # Page encrypting-secrets: else the cluster hangs on what is in another place, and waits for it.
            yield _elsewhere("secretsKey", place, settings.region)


def _boot_disk_key(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    settings = draft.gcp
    if settings and settings.encryption.boot_disk_key:
        place = _place(settings.encryption.boot_disk_key)
        # A key may be of several regions or global.
        if settings.region and place != settings.region and re.fullmatch(r"[a-z]+-[a-z]+[0-9]+", place):
            yield _elsewhere("bootDiskKey", place, settings.region)


def _place(key: str) -> str:
    return key.split("/")[3]


def _elsewhere(name: str, place: str, region: str) -> Problem:
    return Problem(
        f"{_PATH}.{name}", f"is a key in {place}, and the cluster is in {region}", f"a key in {region}", warning=True
    )


RULES = (_secrets_key, _boot_disk_key)
