"""The login to Google Cloud, as Pulumi's provider does it: a token before a key, both before the
default credentials, and impersonation with each (hashicorp/terraform-provider-google,
google/transport/config.go, website/docs/guides/provider_reference.html.markdown)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from checks.findings import Unasked, line
from checks.preflight.settings import Settings

SCOPE = "https://www.googleapis.com/auth/cloud-platform"

_LOG_IN = "run `gcloud auth application-default login`, or set GOOGLE_CREDENTIALS"


def refuse_other_clouds(settings: Settings) -> None:
    """Raise `Unasked` for a Google cloud with other addresses."""
    universe = settings.get(
        "universeDomain", "GOOGLE_UNIVERSE_DOMAIN", "GOOGLE_CLOUD_UNIVERSE_DOMAIN"
    )
    if universe not in ("", "googleapis.com"):
        raise Unasked(
            f"the universe domain {universe} is not Google's public cloud, which alone this"
            " command can ask"
        )


def login(settings: Settings) -> tuple[Any, str]:
    """Return `google.auth` credentials and their name for the report. Raises `Unasked`."""
    from google.auth.exceptions import GoogleAuthError

    try:
        credentials, words = _own(settings)
        if impersonated := settings.get(
            "impersonateServiceAccount", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"
        ):
            from google.auth import impersonated_credentials

            credentials = impersonated_credentials.Credentials(credentials, impersonated, [SCOPE])
            words = f"service account {impersonated}, impersonated by {words}"
    except (GoogleAuthError, ValueError, OSError) as missing:
        raise Unasked(no_credentials(missing)) from None
    return credentials, words


def no_credentials(why: object) -> str:
    """Return the sentence for credentials that are missing or not accepted."""
    return (
        f"no credentials for Google Cloud, so nothing was asked: {line(why).rstrip('.')}; {_LOG_IN}"
    )


def _own(settings: Settings) -> tuple[Any, str]:
    """Return the credentials before impersonation.

    The file's token and key both go before the environment's.
    """
    import google.auth
    from google.oauth2.credentials import Credentials

    in_file = [name for name in ("accessToken", "credentials") if settings.written(name)]
    token = key = ""
    if not in_file or "accessToken" in in_file:
        token = settings.get("accessToken", "GOOGLE_OAUTH_ACCESS_TOKEN")
    if not in_file or "credentials" in in_file:
        key = settings.get(
            "credentials", "GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON"
        )
    if token:
        return Credentials(_contents(token).strip()), "an access token"
    if key:
        with warnings.catch_warnings():
            # A warning of keys that strangers hand in; this one is the user's own, of any kind that
            # the provider takes.
            warnings.simplefilter("ignore", DeprecationWarning)
            credentials, _ = google.auth.load_credentials_from_dict(
                json.loads(_contents(key)), scopes=[SCOPE]
            )
        return credentials, _name(credentials, "GOOGLE_CREDENTIALS")
    credentials, _ = google.auth.default(scopes=[SCOPE])
    return credentials, _name(credentials, "the application default credentials")


def _contents(written: str) -> str:
    """Return a value, or the content of the file that it names; Terraform's provider accepts
    both."""
    path = Path(written).expanduser()
    try:
        return path.read_text() if path.is_file() else written
    except OSError:  # a whole key is too long for a name of a file
        return written


def _name(credentials: Any, otherwise: str) -> str:
    account = getattr(credentials, "service_account_email", "")
    return f"service account {account}" if account and account != "default" else otherwise
