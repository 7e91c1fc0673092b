"""Ids of Google Cloud's resources as the provider has them, and what can be read from one.

An id is a path without a leading slash, `projects/P/regions/R/subnetworks/S`; a self link is a service's address before it.
"""

import hashlib
import re

from sandbox.cloud.ids import key as key
from sandbox.cloud.ids import last as last
from sandbox.cloud.ids import parent as parent

_COMPUTE = "https://www.googleapis.com/compute/v1/"
_CONTAINER = "https://container.googleapis.com/v1/"


def digits(count: int, *parts: str) -> str:
    """Return stable digits for something the cloud would number at random."""
    number = int(hashlib.sha256("\0".join(parts).encode()).hexdigest(), 16)
    return str(10 ** (count - 1) + number % (9 * 10 ** (count - 1)))


def hexadecimal(count: int, *parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:count]


def project_number(project: str) -> str:
    return digits(12, "project", project)


def is_zone(location: str) -> bool:
    return location.count("-") == 2


def region(location: str) -> str:
    """Return the region of a zone; a region is its own."""
    return location.rsplit("-", 1)[0] if is_zone(location) else location


def self_link(id: str) -> str:
    return (_CONTAINER if "/clusters/" in id else _COMPUTE) + id


def path(reference: str) -> str:
    """Return a reference without the address of a service: `projects/...`, or a plain name as it is."""
    return (
        reference.removeprefix(_COMPUTE)
        .removeprefix(_CONTAINER)
        .removeprefix("https://compute.googleapis.com/compute/v1/")
    )


def network(project: str, reference: str) -> str:
    """Return the id of a network named by name, path or self link."""
    name = path(reference)
    return name if "/" in name else f"projects/{project}/global/networks/{name}"


def regional(project: str, region: str, kind: str, reference: str) -> str:
    """Return the id of a subnetwork or router named by name, path or self link."""
    name = path(reference)
    return name if "/" in name else f"projects/{project}/regions/{region}/{kind}/{name}"


def project_of(id: str) -> str:
    return id.split("/")[1]


def key_location(key: str) -> str:
    """Return the location of a key of Cloud KMS; empty for another id."""
    match = re.fullmatch(r"projects/[^/]+/locations/([^/]+)/keyRings/[^/]+/cryptoKeys/[^/]+", key)
    return match[1] if match else ""


def region_of(id: str) -> str:
    """Return the region of a regional Compute Engine resource."""
    return id.split("/")[3]
