"""Who asks: the person that Pulumi's provider is, by the same settings and variables in the same order."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from checks.findings import Unasked
from checks.preflight.azure import azure_identity as azure
from checks.preflight.gcp import gcp_identity as gcp
from checks.preflight.settings import Settings
from checks.stack import ENCRYPTED

Values = dict[str, str]

PRINCIPAL = {"ARM_CLIENT_ID": "app", "ARM_TENANT_ID": "tenant"}
SECRET = PRINCIPAL | {"ARM_CLIENT_SECRET": "s"}
OIDC = PRINCIPAL | {"ARM_USE_OIDC": "true", "ARM_OIDC_TOKEN": "t"}
EXCHANGE = {"ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:9", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "b"}
AZURE_ROWS: list[tuple[Values, Values, str, str]] = [
    ({}, {}, "AzureCliCredential", "whoever ran `az login`"),
    # Pulumi's provider knows these only with the default credentials.
    (
        {},
        {"AZURE_CLIENT_ID": "a", "AZURE_TENANT_ID": "t", "AZURE_CLIENT_SECRET": "s"},
        "AzureCliCredential",
        "az login",
    ),
    ({}, PRINCIPAL, "AzureCliCredential", "az login"),
    ({}, SECRET, "ClientSecretCredential", "service principal app (by client secret)"),
    ({"clientId": "other"}, SECRET, "ClientSecretCredential", "service principal other (by client secret)"),
    ({"clientSecret": ENCRYPTED}, SECRET, "ClientSecretCredential", "service principal app"),
    ({}, OIDC, "ClientAssertionCredential", "service principal app (by OIDC)"),
    ({}, PRINCIPAL | EXCHANGE | {"ARM_USE_OIDC": "true"}, "ClientAssertionCredential", "service principal app"),
    ({"useOidc": "false"}, OIDC, "AzureCliCredential", "az login"),
    ({}, OIDC | SECRET, "ClientSecretCredential", "service principal app"),
    ({}, {"ARM_USE_MSI": "true", "ARM_CLIENT_ID": "app"}, "ManagedIdentityCredential", "managed identity app"),
    ({}, SECRET | {"ARM_USE_DEFAULT_AZURE_CREDENTIAL": "true"}, "DefaultAzureCredential", "the default credentials"),
]


def _of_azure(file: Values, environ: Values) -> Settings:
    return Settings("azure-native", {f"azure-native:{key}": value for key, value in file.items()}, environ)


@pytest.mark.parametrize(("file", "environ", "kind", "words"), AZURE_ROWS)
def test_azure_is_asked_as_the_person_that_the_provider_is(
    file: Values, environ: Values, kind: str, words: str
) -> None:
    credential, said = azure.login(_of_azure(file, environ), "subscription")
    assert type(credential).__name__ == kind
    assert words in said


@pytest.mark.parametrize(
    ("file", "environ", "says"),
    [
        ({"clientSecret": ENCRYPTED}, PRINCIPAL, "clientSecret is encrypted .* set ARM_CLIENT_SECRET"),
        ({}, {"ARM_CLIENT_SECRET": "s", "ARM_TENANT_ID": "t"}, "by client secret lacks ARM_CLIENT_ID"),
        ({}, {"ARM_USE_OIDC": "true"}, "by OIDC lacks ARM_TENANT_ID"),
        ({}, PRINCIPAL | {"ARM_USE_OIDC": "true"}, "neither ARM_OIDC_TOKEN nor"),
        ({}, PRINCIPAL | {"ARM_USE_OIDC": "true", "ARM_OIDC_TOKEN_FILE_PATH": "/none"}, "by OIDC cannot be used"),
        ({}, PRINCIPAL | {"ARM_CLIENT_CERTIFICATE_PATH": "/none"}, "by certificate cannot be used"),
    ],
)
def test_a_login_of_azure_that_lacks_something_is_one_sentence(file: Values, environ: Values, says: str) -> None:
    with pytest.raises(Unasked, match=says):
        azure.login(_of_azure(file, environ), "")


def test_a_subscription_that_the_azure_cli_does_not_take_is_one_sentence() -> None:
    with pytest.raises(Unasked, match=r"^the login by `az login` cannot be used: .*[Ss]ubscription"):
        azure.login(_of_azure({}, {}), "a;b")


def test_an_issuer_that_does_not_answer_is_one_sentence_without_its_token() -> None:
    given = _of_azure({}, PRINCIPAL | EXCHANGE | {"ARM_USE_OIDC": "true"})
    credential, words = azure.login(given, "")
    with pytest.raises(Unasked, match=r"issuer of the OIDC token does not give one: ConnectionError$"):
        azure.signed_in(credential, words)


def test_the_token_says_who_ran_az_login() -> None:
    class Token:
        token = f"a.{base64.urlsafe_b64encode(json.dumps({'upn': 'jane@example.com'}).encode()).decode().rstrip('=')}.b"

    class Credential:
        def get_token(self, scope: str) -> Token:
            return Token()

    assert azure.signed_in(Credential(), "whoever ran `az login`") == "jane@example.com, whoever ran `az login`"
    assert azure.signed_in(Credential(), "") == "jane@example.com"


@pytest.mark.parametrize(
    ("file", "environ", "location", "says"),
    [
        ({}, {"ARM_ENVIRONMENT": "usgovernment"}, "westeurope", "environment usgovernment is not"),
        ({"environment": "china"}, {}, "", "environment china is not"),
        ({}, {"AZURE_ENVIRONMENT": "AzureUSGovernment"}, "", "AzureUSGovernment"),
        ({}, {"ARM_METADATA_HOSTNAME": "management.example.com"}, "", r"management\.example\.com"),
        ({}, {}, "usgovvirginia", "usgovvirginia is not a region"),
        ({}, {}, "chinanorth3", "chinanorth3 is not a region"),
    ],
)
def test_other_clouds_of_azure_are_not_asked(file: Values, environ: Values, location: str, says: str) -> None:
    with pytest.raises(Unasked, match=says):
        azure.refuse_other_clouds(_of_azure(file, environ), location)
    public = {"environment": "public"}
    azure.refuse_other_clouds(_of_azure(public, {"ARM_METADATA_HOSTNAME": "management.azure.com"}), "westeurope")


ACCOUNT = {"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c"}
TOKEN = {"GOOGLE_OAUTH_ACCESS_TOKEN": "t"}
KEY = {"GOOGLE_CREDENTIALS": json.dumps(ACCOUNT)}


def _of_google(file: Values, environ: Values) -> Settings:
    return Settings("gcp", {f"gcp:{key}": value for key, value in file.items()}, environ)


@pytest.mark.parametrize(
    ("file", "environ", "token", "words"),
    [
        ({}, TOKEN, "t", "an access token"),
        ({}, KEY, None, "GOOGLE_CREDENTIALS"),
        ({}, KEY | TOKEN, "t", "an access token"),
        ({"accessToken": "f"}, TOKEN, "f", "an access token"),
        ({"credentials": json.dumps(ACCOUNT)}, TOKEN, None, "GOOGLE_CREDENTIALS"),
        ({"accessToken": ENCRYPTED}, TOKEN, "t", "an access token"),
    ],
)
def test_google_is_asked_as_the_person_that_the_provider_is(
    file: Values, environ: Values, token: str, words: str
) -> None:
    credentials, said = gcp.login(_of_google(file, environ))
    assert (credentials.token, said) == (token, words)


def test_a_key_may_be_a_file_and_a_service_account_is_impersonated(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    path.write_text(json.dumps(ACCOUNT))
    settings = _of_google({}, {"GOOGLE_CREDENTIALS": str(path), "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "ci@example"})
    credentials, said = gcp.login(settings)
    assert type(credentials).__module__.endswith("impersonated_credentials")
    assert said == "service account ci@example, impersonated by GOOGLE_CREDENTIALS"


@pytest.mark.parametrize(
    ("file", "environ", "says"),
    [
        ({"credentials": ENCRYPTED}, {}, "gcp:credentials is encrypted .* set GOOGLE_CREDENTIALS"),
        ({}, {"GOOGLE_CREDENTIALS": "/none.json"}, "^no credentials for Google Cloud, so nothing was asked: .*; run"),
        ({}, {"GOOGLE_CREDENTIALS": "{}"}, "^no credentials for Google Cloud"),
    ],
)
def test_credentials_of_google_that_cannot_be_used_are_one_sentence(file: Values, environ: Values, says: str) -> None:
    with pytest.raises(Unasked, match=says):
        gcp.login(_of_google(file, environ))


def test_other_clouds_of_google_are_not_asked() -> None:
    settings: Any = _of_google({}, {"GOOGLE_CLOUD_UNIVERSE_DOMAIN": "apis.example.com"})
    with pytest.raises(Unasked, match=r"apis\.example\.com is not Google's public cloud"):
        gcp.refuse_other_clouds(settings)
