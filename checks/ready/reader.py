"""Reads a snapshot with the official client: GET requests alone, so that a user who may only read
can run it.

Not a dry run of a pod either: the API server asks for the right to create it
(kubernetes.io/docs/reference/using-api/api-concepts, "Dry-run authorization").
"""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from checks.findings import Unasked, line
from checks.ready import kubeconfig as kubeconfigs
from checks.ready.snapshot import PATHS, Snapshot

_SECONDS = 15
"""For each answer."""

_PAGE = 500
"""Objects of a list that are asked for at a time, as kubectl does."""


def open_snapshot(kubeconfig: str | None, context: str | None = None) -> Snapshot:
    """Read all parts that the kubeconfig's user may read.

    `kubeconfig`: a file; None is kubectl's default. Raises `Unasked` if it is unusable, or as
    `read_snapshot`.
    """
    api = kubeconfigs.open_client(kubeconfig, context)
    api.configuration.retries = False
    with api:
        return read_snapshot(api)


def read_snapshot(api: Any) -> Snapshot:
    """Read all parts with an `ApiClient`.

    Raises `Unasked` if the server does not answer, or refuses the credentials.
    """
    parts: dict[str, Any] = {}
    unseen: dict[str, str] = {}
    for name, path in PATHS.items():
        try:
            parts[name] = _part(api, path)
        except _Refused as refused:
            unseen[name] = str(refused)
    return Snapshot(api.configuration.host, parts, unseen, _now(api))


def _now(api: Any) -> str:
    """Return the server's time, which also dates nodes; empty if unknown."""
    date = _ask(api, PATHS["version"]).getheader("Date")
    return parsedate_to_datetime(date).isoformat() if date else ""


class _Refused(Exception):
    """The server answers, and does not show this part."""


def _part(api: Any, path: str) -> Any:
    """Return an object, or the items of a list; None if the name or kind is missing."""
    items: list[Any] = []
    proceed = ""
    while True:
        joint = "&" if "?" in path else "?"
        content = _get(api, f"{path}{joint}limit={_PAGE}{proceed}")
        if (
            content is None
            or not str(content.get("kind", "")).endswith("List")
            or "items" not in content
        ):
            return content
        items += [_slim(item) for item in content["items"]]
        following = (content.get("metadata") or {}).get("continue")
        if not following:
            return items
        proceed = f"&continue={quote(following, safe='')}"


def _get(api: Any, path: str) -> dict[str, Any] | None:
    host = api.configuration.host
    answer = _ask(api, path)
    if answer.status == 404:
        return None
    if answer.status == 401:
        # Not a missing right: an expired token is refused everywhere, and no role mends it.
        raise Unasked(
            f"the API server {host} does not accept the kubeconfig's credentials (401): log in"
            " again"
        )
    if answer.status != 200:
        raise _Refused(f"{answer.status} {answer.reason}")
    try:
        content = json.loads(answer.data)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise Unasked(f"the server at {host} is no API server")
    return content


def _ask(api: Any, path: str) -> Any:
    """Return the answer, whatever its status, with its body read."""
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError

    host = api.configuration.host
    header = {"Accept": "application/json"}
    try:
        request = api.param_serialize(
            "GET", path, header_params=header, auth_settings=["BearerToken"]
        )
        answer = api.call_api(*request, _request_timeout=_SECONDS)
        answer.read()
    except ApiException as refused:  # no trust in its certificate
        raise Unasked(f"the API server {host} does not answer: {line(refused.reason)}") from None
    except HTTPError as silent:
        raise Unasked(f"the API server {host} does not answer: {line(silent)}") from None
    return answer


def _slim(item: dict[str, Any]) -> dict[str, Any]:
    metadata = item.get("metadata") or {}
    metadata.pop("managedFields", None)
    (metadata.get("annotations") or {}).pop(
        "kubectl.kubernetes.io/last-applied-configuration", None
    )
    return item
