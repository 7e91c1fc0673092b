"""Checks of customers' keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.rules.draft import Draft

_PATH = "cloud.encryption"


def _secrets_key(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.encryption.secrets_key:
        place = _place(gcp.encryption.secrets_key.text)
        if gcp.region and place != gcp.region:
            # Page encrypting-secrets: else the cluster hangs on what is in another place, and waits for it.
            yield _elsewhere("secretsKey", place, gcp.region)


def _boot_disk_key(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.encryption.boot_disk_key:
        place = _place(gcp.encryption.boot_disk_key.text)
        # A key may be of several regions or global.
        if gcp.region and place != gcp.region and re.fullmatch(r"[a-z]+-[a-z]+[0-9]+", place):
            yield _elsewhere("bootDiskKey", place, gcp.region)


def _place(key: str) -> str:
    return key.split("/")[3]


def _elsewhere(name: str, place: str, region: str) -> Problem:
    return Problem(
        f"{_PATH}.{name}",
        f"is a key in {place}, and the cluster is in {region}",
        f"a key in {region}",
        warning=True,
    )


NEW_CLUSTER_RULES = (_secrets_key,)
CLOUD_RULES = (_boot_disk_key,)
