"""Validation by Terraform's provider, before a request: functions of a property's Terraform path and its value.

Texts are those of terraform-plugin-sdk helper/validation and of the provider's package verify.
"""

import ipaddress
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

Check = Callable[[str, Any], str | None]
"""The fault of a property's value, by its Terraform path; None for none."""


def one_of(*allowed: str) -> Check:
    listed = "[" + " ".join(json.dumps(value) for value in allowed) + "]"

    def check(path: str, value: Any) -> str | None:
        return None if value in allowed else f"expected {path} to be one of {listed}, got {value}"

    return check


def at_least(least: int) -> Check:
    def check(path: str, value: Any) -> str | None:
        return None if value >= least else f"expected {path} to be at least ({least}), got {value}"

    return check


def matching(pattern: str) -> Check:
    def check(path: str, value: Any) -> str | None:
        return None if re.fullmatch(pattern, value) else f'"{path}" ("{value}") doesn\'t match regexp "^{pattern}$"'

    return check


gce_name = matching(r"(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)")
"""verify.ValidateGCEName"""

nat_name = matching(r"(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9]))")
"""verify.ValidateRFC1035Name(2, 63)"""

account_name = matching(r"(?:[a-z](?:[-a-z0-9]{4,28}[a-z0-9]))")
"""verify.ValidateRFC1035Name(6, 30)"""


def cluster_name(path: str, value: str) -> str | None:
    # resource_container_cluster.go, which reports every problem; here the first one.
    if len(value) > 40:
        return f'"{path}" cannot be longer than 40 characters'
    if not re.fullmatch("[a-z0-9-]+", value):
        return f'"{path}" can only contain lowercase letters, numbers and hyphens'
    if not re.match("[a-z]", value):
        return f'"{path}" must start with a letter'
    return None if re.search("[a-z0-9]$", value) else f'"{path}" must end with a number or a letter'


def bucket_name(path: str, value: str) -> str | None:
    """Validate as verify.ValidateGCSName, which reports every problem; here the first one. Words are UNCONFIRMED."""
    if not re.fullmatch("[a-z0-9_.-]*", value):
        what = "can only contain lowercase letters, numeric characters, dashes (-), underscores (_), and dots (.)"
    elif not re.fullmatch("[a-z0-9].*[a-z0-9]", value):
        what = "must start and end with a number or letter"
    elif not 3 <= len(value) <= (222 if "." in value else 63):
        what = "must contain 3-63 characters, with dots up to 222"
    elif value.startswith("goog"):
        what = 'cannot begin with the "goog" prefix'
    elif "google" in value:
        what = 'cannot contain "google"'
    else:
        return None
    return f'"{path}" name value {what}'


def cidr_range(path: str, value: str) -> str | None:
    """Validate as verify.ValidateIpCidrRange."""
    try:
        address, _, bits = value.partition("/")
        ipaddress.ip_network(f"{address}/{bits or 'none'}", strict=False)
    except ValueError:
        return f'"{path}" is not a valid IP CIDR range: invalid CIDR address: {value}'
    return None


def network(least: int, most: int) -> Check:
    """Validate as validation.IsCIDRNetwork."""

    def check(path: str, value: str) -> str | None:
        try:
            range = ipaddress.ip_network(value, strict=False)
        except ValueError:
            return f'expected "{path}" to be a valid IPv4 Value, got {value}: invalid CIDR address: {value}'
        if str(range) != value:
            return f'expected "{path}" to contain a valid network Value, expected {range}, got {value}'
        if not least <= range.prefixlen <= most:
            bits = f"between {least} and {most} significant bits, got: {range.prefixlen}"
            return f'expected "{path}" to contain a network Value with {bits}'
        return None

    return check


def control_plane_range(path: str, value: str) -> str | None:
    """Validate as verify.OrEmpty(validation.IsCIDRNetwork(28, 28))."""
    return network(28, 28)(path, value) if value else None


any_network = network(0, 32)


def time_of_day(path: str, value: str) -> str | None:
    """Validate as verify.ValidateRFC3339Time."""
    if re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        return None
    return f'"{path}" ("{value}") must be in the format HH:mm (RFC3399)'


def moment(path: str, value: str) -> str | None:
    """Validate as verify.ValidateRFC3339Date: Go's time.Parse. Words are UNCONFIRMED."""
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"
    try:
        datetime.fromisoformat(value if re.fullmatch(form, value) else "")
    except ValueError:
        return f'"{path}" ("{value}") is not a valid RFC3339 date'
    return None


def named_check(rule: list[str] | int | str) -> Check:
    """Return the check that an entry of the table names: its values, its least number, or a function of this file."""
    if isinstance(rule, list):
        return one_of(*rule)
    if isinstance(rule, int):
        return at_least(rule)
    named: Check = globals()[rule]
    return named
