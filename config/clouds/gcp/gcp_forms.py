"""Texts with a fixed form in GKE's settings: ids and names."""

from __future__ import annotations

from typing import Annotated

from config.model.fields import MAIL, Reference, Text, form

ProjectId = Annotated[
    str,
    form(
        r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]$",
        "the project's id, not its number or name: 6 to 30 of a-z, 0-9 and -, a letter first",
        (
            r"\d+",
            "the project's id, not its number: `gcloud projects describe {} --format "
            "'value(projectId)'` prints it",
        ),
    ),
]
"""docs.cloud.google.com/resource-manager/docs/creating-managing-projects"""

Location = Annotated[
    str,
    form(
        r"^[a-z]+-[a-z]+[0-9]{1,2}(-[a-z][a-z0-9]{0,4})?$",
        "a region such as europe-west4 (regional cluster) or a zone such as europe-west4-a (zonal)",
    ),
]

RegistryLocation = Annotated[
    str,
    form(
        r"^[a-z]+(-[a-z]+[0-9]{1,2})?$",
        "a region, such as europe-west4, or a multi-region: asia, europe or us",
    ),
]
"""docs.cloud.google.com/artifact-registry/docs/repositories/repo-locations"""

GcpZone = Annotated[
    str,
    form(
        r"^[a-z]+-[a-z]+[0-9]{1,2}-[a-z][a-z0-9]{0,4}$",
        "write the zone's whole name, the region's with a letter, such as europe-west4-a",
    ),
]

ClusterName = Annotated[
    str,
    form(
        r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$",
        "a GKE cluster's name: at most 40 of a-z, 0-9 and -, a letter first, no - at the end",
    ),
]
"""magic-modules, resource_container_cluster.go"""

Resource = Annotated[
    str,
    form(
        r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$", "a name: at most 63 lower-case letters, digits and -"
    ),
]
"""The name of a Compute Engine resource (RFC 1035)."""

RegistryRepository = Annotated[
    str,
    form(
        r"^([a-z]([-a-z0-9]{0,61}[a-z0-9])?|((asia|eu|us)\.)?gcr\.io)$",
        "a repository's name: at most 63 lower-case letters, digits and -; or gcr.io, "
        "asia.gcr.io, eu.gcr.io or us.gcr.io",
    ),
]
"""docs.cloud.google.com/artifact-registry/docs/transition/gcr-repositories: the four that serve
Container Registry's hosts."""

KmsKey = Annotated[
    str,
    form(
        r"^projects/[^/\s]+/locations/[^/\s]+/keyRings/[^/\s]+/cryptoKeys/[^/\s]+$",
        "a key of Cloud KMS, projects/.../locations/.../keyRings/.../cryptoKeys/...",
    ),
]

ServiceAccount = Annotated[
    str,
    form(
        r"^[a-z0-9.-]+@([a-z0-9.:-]+\.iam|developer|appspot|cloudservices)\.gserviceaccount\.com$",
        "a service account, NAME@PROJECT.iam.gserviceaccount.com; or leave it out",
        (
            rf"(?!.*gserviceaccount){MAIL}",
            "a service account, not a person: `gcloud iam service-accounts list` prints them; or "
            "leave it out",
        ),
    ),
]

ResourceReference = Annotated[Reference, Text(Resource)]
KmsKeyReference = Annotated[Reference, Text(KmsKey)]
ServiceAccountReference = Annotated[Reference, Text(ServiceAccount)]
