"""Service accounts and grants (terraform-provider-google-beta services/resourcemanager, package tpgiamresource)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import ids
from sandbox.gcp.errors import GcpRefused, bad_request
from sandbox.gcp.resources.resource_type import Kind, Settings, location_parameters, region_parameters
from sandbox.gcp.resources.validation import ACCOUNT_NAME

ACCOUNT = "gcp:serviceaccount/account:Account"

_ROLE = re.compile(r"(projects/[^/]+/|organizations/[^/]+/)?roles/[A-Za-z0-9_.]+")
_MEMBER = re.compile(
    r"(user|serviceAccount|group|domain|principal|principalSet|deleted):.+|allUsers|allAuthenticatedUsers"
)
_OWN = re.compile(r"([^@]+)@([^@.]+)\.iam\.gserviceaccount\.com")


class Account(Kind):
    """A service account of a project; its id ends in its address."""

    token = ACCOUNT
    path = "projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com"
    creating = "Error creating service account: "
    updating = "Error updating service account: "
    deleting = "Error deleting service account: "
    auto_name = "accountId"
    longest_name = 30
    lower_name = False
    virtual = Kind.virtual | {"createIgnoreAlreadyExists"}
    checks: ClassVar[Any] = MappingProxyType({"accountId": ACCOUNT_NAME})

    def matches(self, id: str) -> dict[str, str] | None:
        found = re.fullmatch(rf"projects/([^/]+)/serviceAccounts/{_OWN.pattern}", id)
        return {"project": found[1], "accountId": found[2]} if found and found[1] == found[3] else None

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        email = ids.last(id)
        return {
            "disabled": False,
            **wanted,
            "project": ids.project_of(id),
            "email": email,
            "member": f"serviceAccount:{email}",
            "name": id,
            "uniqueId": ids.digits(21, id),
        }

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        return planned


def missing_account(resources: Resources, project: str, address: str) -> bool:
    """Whether a service account's address is one of the project and there is none of it.

    Those of other projects, and the ones Google makes, are taken as existing.
    """
    found = _OWN.fullmatch(address)
    return bool(
        found and found[2] == project and resources.get(f"projects/{project}/serviceAccounts/{address}") is None
    )


@dataclass
class GrantRequest:
    """A member that a role is to get."""

    wanted: Body
    resources: Resources


@rules.as_read
def member_form(request: GrantRequest) -> GcpRefused | None:
    # https://cloud.google.com/iam/docs/reference/rest/v1/Policy; the words are UNCONFIRMED
    member = request.wanted["member"]
    return None if _MEMBER.fullmatch(member) else bad_request(f"Invalid argument: '{member}' is not a member.")


def role_form(request: GrantRequest) -> GcpRefused | None:
    # Logs of many projects
    role = request.wanted["role"]
    return None if _ROLE.fullmatch(role) else bad_request(f"Role {role} is not supported for this resource.")


def account_exists(request: GrantRequest) -> GcpRefused | None:
    # terraform-provider-google #11463 and others
    kind, _, address = request.wanted["member"].partition(":")
    if kind == "serviceAccount" and missing_account(request.resources, request.wanted.get("project", ""), address):
        return bad_request(f"Service account {address} does not exist.")
    return None


GRANT_RULES: tuple[Callable[[GrantRequest], GcpRefused | None], ...] = (member_form, role_form, account_exists)


class Grant(Kind):
    """A member of a role in some resource's policy. Making one that is there is no error: the policy is then as it should be."""

    auto_name = ""
    shared = True
    virtual: ClassVar[Any] = frozenset()

    def described(self, id: str) -> str:
        """How the provider calls the resource whose policy it is."""
        raise NotImplementedError

    def prefix(self, action: str, id: str) -> str:
        of = self.described(id)
        return f"Error applying IAM policy for {of}: Error setting IAM policy for {of}: "

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        rules.check(GRANT_RULES, GrantRequest(wanted, resources))
        return {**wanted, "etag": ids.hexadecimal(12, id)}

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        return planned


class ProjectMember(Grant):
    """A member of a role on a project."""

    token = "gcp:projects/iAMMember:IAMMember"
    path = "{project}/{role}/{member}"
    delete_first = True

    def described(self, id: str) -> str:
        return f'project "{id.split("/")[0]}"'

    def matches(self, id: str) -> dict[str, str] | None:
        found = re.fullmatch(rf"([^/ ]+)[/ ]({_ROLE.pattern})[/ ]([^/ ]+)", id)
        return {"project": found[1], "role": found[2], "member": found[4]} if found else None


class RepositoryMember(Grant):
    """A member of a role on an Artifact Registry repository. Repositories are not emulated: each is taken as existing."""

    token = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
    path = "projects/{project}/locations/{location}/repositories/{repository}/{role}/{member}"

    def parameters(self, inputs: Body, settings: Settings) -> dict[str, str]:
        found = re.fullmatch(r"projects/([^/]+)/locations/([^/]+)/repositories/([^/]+)", inputs["repository"])
        if found:
            place = {"project": found[1], "location": found[2], "repository": found[3]}
            return {**{k: v for k, v in inputs.items() if isinstance(v, str)}, **place}
        return location_parameters(self, inputs, settings)

    def described(self, id: str) -> str:
        return f'artifactregistry repository "{"/".join(id.split("/")[:6])}"'

    def matches(self, id: str) -> dict[str, str] | None:
        found = re.fullmatch(
            rf"projects/([^/]+)/locations/([^/]+)/repositories/([^/ ]+)[/ ]({_ROLE.pattern})[/ ]([^/ ]+)", id
        )
        if found is None:
            return None
        return {"project": found[1], "location": found[2], "repository": found[3], "role": found[4], "member": found[6]}


class KeyMember(Grant):
    """A member of a role on a key of Cloud KMS. Keys are not emulated: each is taken as existing."""

    token = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
    path = "{cryptoKeyId}/{role}/{member}"

    def parameters(self, inputs: Body, settings: Settings) -> dict[str, str]:
        return {name: inputs[name] for name in ("cryptoKeyId", "role", "member")}

    def described(self, id: str) -> str:
        return f'KMS CryptoKey "{"/".join(id.split("/")[:8])}"'

    def matches(self, id: str) -> dict[str, str] | None:
        found = re.fullmatch(
            rf"(projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/ ]+)[/ ]({_ROLE.pattern})[/ ]([^/ ]+)", id
        )
        return {"cryptoKeyId": found[1], "role": found[2], "member": found[4]} if found else None


class SubnetworkMember(Grant):
    """A member of a role on a subnet."""

    token = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"
    path = "projects/{project}/regions/{region}/subnetworks/{subnetwork}/{role}/{member}"

    def parameters(self, inputs: Body, settings: Settings) -> dict[str, str]:
        subnet = ids.last(inputs["subnetwork"])
        return {**region_parameters(self, inputs, settings), "subnetwork": subnet}

    def described(self, id: str) -> str:
        return f'compute subnetwork "{"/".join(id.split("/")[:6])}"'

    def matches(self, id: str) -> dict[str, str] | None:
        found = re.fullmatch(
            rf"projects/([^/]+)/regions/([^/]+)/subnetworks/([^/ ]+)[/ ]({_ROLE.pattern})[/ ]([^/ ]+)", id
        )
        if found is None:
            return None
        return {"project": found[1], "region": found[2], "subnetwork": found[3], "role": found[4], "member": found[6]}
