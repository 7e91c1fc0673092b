"""Service accounts and grants (terraform-provider-google-beta services/resourcemanager, package tpgiamresource)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Resources
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.gcp_resource_type import ROLE, GcpType

ACCOUNT = "gcp:serviceaccount/account:Account"

_MEMBER = re.compile(
    r"(user|serviceAccount|group|domain|principal|principalSet|deleted):.+|allUsers|allAuthenticatedUsers"
)
_OWN = re.compile(r"([^@]+)@([^@.]+)\.iam\.gserviceaccount\.com")


def missing_account(resources: Resources, project: str, address: str) -> bool:
    """Whether a service account's address is one of the project and does not exist.

    Those of other projects, and the ones Google makes, are taken as existing.
    """
    match = _OWN.fullmatch(address)
    return bool(
        match and match[2] == project and resources.get(f"projects/{project}/serviceAccounts/{address}") is None
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
    return None if re.fullmatch(ROLE, role) else bad_request(f"Role {role} is not supported for this resource.")


def account_exists(request: GrantRequest) -> GcpRefused | None:
    # terraform-provider-google #11463 and others
    kind, _, address = request.wanted["member"].partition(":")
    if kind == "serviceAccount" and missing_account(request.resources, request.wanted.get("project", ""), address):
        return bad_request(f"Service account {address} does not exist.")
    return None


GRANT_RULES: tuple[Callable[[GrantRequest], GcpRefused | None], ...] = (member_form, role_form, account_exists)


class Member(GcpType):
    """A member of a role in some resource's policy."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        rules.check(GRANT_RULES, GrantRequest(wanted, resources))
        return {**wanted, "etag": gcp_ids.hexadecimal(12, id)}
