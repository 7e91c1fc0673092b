"""Regions of another cloud, and the near one of this cloud: files are often copied across."""

from __future__ import annotations

import re

_PLACES = """
us-east-1 eastus us-east4 / us-east-2 eastus2 us-east5 / us-west-1 westus us-west2 /
us-west-2 westus2 us-west1 / ca-central-1 canadacentral northamerica-northeast1 /
sa-east-1 brazilsouth southamerica-east1 / eu-west-1 northeurope europe-west1 /
eu-west-2 uksouth europe-west2 / eu-west-3 francecentral europe-west9 /
eu-central-1 germanywestcentral europe-west3 / eu-central-2 switzerlandnorth europe-west6 /
eu-north-1 swedencentral europe-north1 / eu-south-1 italynorth europe-west8 /
eu-south-2 spaincentral europe-southwest1 / ap-south-1 centralindia asia-south1 /
ap-southeast-1 southeastasia asia-southeast1 / ap-southeast-2 australiaeast australia-southeast1 /
ap-northeast-1 japaneast asia-northeast1 / ap-northeast-2 koreacentral asia-northeast3 /
ap-northeast-3 japanwest asia-northeast2 / ap-east-1 eastasia asia-east2 /
af-south-1 southafricanorth africa-south1 / me-south-1 uaenorth me-central2 /
il-central-1 israelcentral me-west1 / - westeurope europe-west4 / - centralus us-central1 /
- southcentralus us-south1 / - polandcentral europe-central2
"""
"""The region of AWS, Azure and Google that is there or nearest to it
(docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html,
learn.microsoft.com/azure/reliability/regions-list, docs.cloud.google.com/compute/docs/regions-zones,
read 2026-11-28)."""

_CLOUDS = ("AWS", "Azure", "Google Cloud")


def counterpart(written: str, pattern: str) -> tuple[str, str] | None:
    """Return the other cloud that has a region, or a zone of one, and the region near it that has
    the form `pattern`; None if unknown.
    """
    region = re.sub(r"(?<=\d)(-[a-z]|[a-z])$", "", written.strip().lower()).replace(" ", "")
    for place in _PLACES.split("/"):
        names = place.split()
        near = [name for name in names if re.search(pattern, name) and name != region]
        if region in names and region != "-" and near:
            return _CLOUDS[names.index(region)], near[0]
    # Google's region as AWS would spell it.
    own = re.sub(r"-(?=\d)", "", re.sub("^eu-", "europe-", region))
    return ("", own) if own != region and re.search(pattern, own) else None
