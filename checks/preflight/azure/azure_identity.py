"""The login to Azure: the same settings and variables in the same order as Pulumi's provider
(pulumi/pulumi-azure-native, provider/pkg/provider/auth_azidentity.go), so that both are one
person."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from checks.findings import Unasked, line
from checks.preflight.settings import Settings

MANAGEMENT = "https://management.azure.com"

_LOG_IN = "run `az login`, or set ARM_CLIENT_ID, ARM_TENANT_ID and ARM_CLIENT_SECRET"

_PUBLIC = ("", "public", "azurepubliccloud", "azurecloud")
_OTHER_LOCATIONS = ("usgov", "usdod", "ussec", "usnat", "china")
"""Beginnings of the names of regions that other clouds of Azure have
(learn.microsoft.com/azure/azure-government/documentation-government-get-started-connect-with-cli;
azure.cn)."""

_CLI_SECONDS = 60


def refuse_other_clouds(settings: Settings, location: str) -> None:
    """Raise `Unasked` for Azure Government, Azure in China and private clouds: they have other
    addresses."""
    named = settings.get("environment", "ARM_ENVIRONMENT", "AZURE_ENVIRONMENT")
    if named.lower() not in _PUBLIC:
        raise Unasked(
            f"the environment {named} is not Azure's public cloud, which alone this command can ask"
        )
    if location.lower().startswith(_OTHER_LOCATIONS):
        raise Unasked(
            f"{location} is not a region of Azure's public cloud, which alone this command can ask"
        )
    host = settings.get("metadataHost", "ARM_METADATA_HOSTNAME") or settings.get(
        "resourceManagerEndpoint", "ARM_RESOURCE_MANAGER_ENDPOINT"
    )
    if host and host.removeprefix("https://").rstrip("/") != MANAGEMENT.removeprefix("https://"):
        raise Unasked(f"{host} is not Azure's public cloud, which alone this command can ask")


def login(settings: Settings, subscription: str) -> tuple[Any, str]:
    """Return an `azure.identity` credential and its name for the report. Raises `Unasked`."""
    from azure import identity

    tenant, client = (
        settings.get("tenantId", "ARM_TENANT_ID"),
        settings.get("clientId", "ARM_CLIENT_ID"),
    )
    principal = f"service principal {client}"

    def with_principal(way: str, make: Callable[[], Any]) -> tuple[Any, str]:
        for value, name in ((tenant, "ARM_TENANT_ID"), (client, "ARM_CLIENT_ID")):
            if not value:
                raise Unasked(
                    f"the login by {way} lacks {name}, without which Pulumi's provider logs in"
                    " nowhere"
                )
        try:
            return make(), f"{principal} (by {way})"
        except (ValueError, OSError) as faulty:
            raise Unasked(f"the login by {way} cannot be used: {line(faulty)}") from None

    if settings.get("useDefaultAzureCredential", "ARM_USE_DEFAULT_AZURE_CREDENTIAL") == "true":
        return identity.DefaultAzureCredential(), "the default credentials"
    if path := settings.get("clientCertificatePath", "ARM_CLIENT_CERTIFICATE_PATH"):
        password = (
            settings.get("clientCertificatePassword", "ARM_CLIENT_CERTIFICATE_PASSWORD") or None
        )
        return with_principal(
            "certificate",
            lambda: identity.CertificateCredential(tenant, client, path, password=password),
        )
    if secret := settings.get("clientSecret", "ARM_CLIENT_SECRET"):
        return with_principal(
            "client secret", lambda: identity.ClientSecretCredential(tenant, client, secret)
        )
    if settings.get("useOidc", "ARM_USE_OIDC") == "true":
        return with_principal(
            "OIDC", lambda: identity.ClientAssertionCredential(tenant, client, _assertion(settings))
        )
    if settings.get("useMsi", "ARM_USE_MSI") == "true":
        return identity.ManagedIdentityCredential(
            client_id=client or None
        ), f"managed identity {client}".strip()
    try:
        cli = identity.AzureCliCredential(
            tenant_id=tenant, subscription=subscription or None, process_timeout=_CLI_SECONDS
        )
    except ValueError as faulty:
        raise Unasked(f"the login by `az login` cannot be used: {line(faulty)}") from None
    return cli, "whoever ran `az login`"


def signed_in(credential: Any, words: str) -> str:
    """Get a first token; return the name of its bearer. Raises `Unasked` if there is no token."""
    from azure.core.exceptions import AzureError, ClientAuthenticationError

    try:
        token = credential.get_token(f"{MANAGEMENT}/.default").token
    except ClientAuthenticationError as refused:
        raise Unasked(
            "no credentials for Azure, so nothing was asked:"
            f" {line(refused.message).rstrip('.')}; {_LOG_IN}"
        ) from None
    except (AzureError, ValueError) as silent:
        raise Unasked(f"the login to Azure does not answer: {line(silent)}") from None
    claims = _claims(token)
    person = claims.get("upn") or claims.get("unique_name") or claims.get("appid")
    return ", ".join(
        text for text in (str(person or ""), words) if text and (text == words or text not in words)
    )


def _assertion(settings: Settings) -> Callable[[], str]:
    """Return a function that returns the other issuer's token.

    Raises `Unasked` without one, `OSError` for a missing file.
    """
    if token := settings.get("oidcToken", "ARM_OIDC_TOKEN"):
        return lambda: token
    if path := settings.get("oidcTokenFilePath", "ARM_OIDC_TOKEN_FILE_PATH"):
        with open(path) as file:
            written = file.read()
        return lambda: written
    url = settings.get("oidcRequestUrl", "ACTIONS_ID_TOKEN_REQUEST_URL")
    bearer = settings.get("oidcRequestToken", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    if not url or not bearer:
        raise Unasked(
            "ARM_USE_OIDC is true, and there is neither ARM_OIDC_TOKEN nor a URL that gives one"
        )
    audience = settings.get("oidcAudience", "ARM_OIDC_AUDIENCE") or "api://AzureADTokenExchange"

    def exchanged() -> str:
        import requests

        try:
            answer = requests.get(
                url,
                {"audience": audience},
                headers={"Authorization": f"Bearer {bearer}"},
                timeout=30,
            )
            answer.raise_for_status()
            return str(answer.json()["value"])
        except (requests.RequestException, ValueError, KeyError) as silent:
            raise Unasked(
                f"the issuer of the OIDC token does not give one: {type(silent).__name__}"
            ) from None

    return exchanged


def _claims(token: str) -> dict[str, Any]:
    """Return a token's claims without verifying it; empty if it is no JWT."""
    try:
        middle = token.split(".")[1]
        content = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except (IndexError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
