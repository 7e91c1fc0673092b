"""Permissions of a cluster's identities, by the existing role assignments."""

from collections.abc import Iterable

from sandbox.azure import azure_ids
from sandbox.azure.resources.azure_identity import ROLE, assigned
from sandbox.cloud.state import Resources


def holds(resources: Resources, identities: Iterable[str], role: str, scope: str) -> bool:
    """Whether one of the identities has a built-in role, by its GUID, at a scope or above it."""
    records = [assigned(resources, identity) for identity in identities]
    principals = {record.body["principalId"].lower() for record in records if record is not None}
    return any(
        grant.body["principalId"].lower() in principals
        and azure_ids.last(grant.body["roleDefinitionId"]).lower() == role
        and (azure_ids.key(scope) + "/").startswith(azure_ids.key(grant.body["scope"]) + "/")
        for grant in resources.of(ROLE)
    )
