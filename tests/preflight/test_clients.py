"""The clouds' own clients on recorded answers: what they parse is what the pure tests judge. No network."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests

from config.model.workloads import Checkpoints, Workloads
from preflight.azure import reading as azure
from preflight.demand import Demand, demand
from preflight.gcp import reading as gcp
from ready import stack
from ready.findings import Unasked
from tests.preflight.recorded import PROJECT, answers, documents, wanted
from tests.preflight.wire import Recorded, served

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


class _Credential:
    """A token that nobody checks."""

    def get_token(self, *scopes: str, **options: Any) -> Any:
        from azure.core.credentials import AccessToken

        return AccessToken("recorded", int(time.time()) + 3600)


def _asked_of_azure(
    recorded: dict[str, Any], account: str | None = SUBSCRIPTION, demanded: Demand | None = None
) -> tuple[Any, Recorded]:
    from azure.core.pipeline.transport import RequestsTransport

    session, adapter = requests.Session(), Recorded(recorded)
    session.mount("https://", adapter)
    transport = RequestsTransport(session=session, session_owner=False)
    read = azure.read(demanded or wanted("azure"), account, _Credential(), transport=transport, retry_total=0)
    return read, adapter


def _held(recorded: Any, read: Any) -> bool:
    """Whether everything in a recorded answer is in what the client made of it; it may add keys that are empty."""
    if isinstance(recorded, dict):
        return isinstance(read, dict) and all(
            _held(value, read.get(key)) for key, value in recorded.items() if value not in ([], {})
        )
    if isinstance(recorded, list):
        return isinstance(read, list) and len(read) == len(recorded) and all(map(_held, recorded, read))
    return bool(recorded == read)


def test_azures_clients_read_the_recorded_answers_and_only_read() -> None:
    read, adapter = _asked_of_azure(documents("azure"))
    good = answers("azure").parts
    assert read.unseen == {}
    for name, part in good.items():
        assert _held(part, read.parts[name]), name
    assert {method for method, _ in adapter.asked} == {"GET"}


def test_azures_refusals_are_not_seen_and_the_rest_is_asked() -> None:
    recorded = documents("azure")
    refused = {path: 403 for path in recorded if path.endswith(("/usages", "/permissions"))}
    read, _ = _asked_of_azure(recorded | refused)
    assert read.unseen == {"usages": "403 AuthorizationFailed", "permissions": "403 AuthorizationFailed"}
    assert read.parts["skus"]


def test_the_only_subscription_is_taken_and_several_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"):
        monkeypatch.delenv(name, raising=False)
    one = {"subscriptionId": SUBSCRIPTION}
    read, _ = _asked_of_azure(documents("azure") | {"/subscriptions": {"value": [one]}}, None)
    assert read.parts["subscription"] == SUBSCRIPTION
    with pytest.raises(Unasked, match="see 2 subscriptions: name one"):
        _asked_of_azure({"/subscriptions": {"value": [one, one]}}, None)


def test_the_subscription_of_the_stack_file_goes_before_the_environments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ARM_SUBSCRIPTION_ID", "other")
    text = (PROJECT / "Pulumi.dev.yaml").read_text()
    (tmp_path / "Pulumi.dev.yaml").write_text(f"{text}  azure-native:subscriptionId: {SUBSCRIPTION}\n")
    demanded = demand(stack.read(tmp_path, "dev"), stack.others(tmp_path, "dev"))
    read, adapter = _asked_of_azure(documents("azure"), None, demanded)
    assert read.account == f"subscription {SUBSCRIPTION}"
    assert {path.split("/")[2] for _, path in adapter.asked} == {SUBSCRIPTION}


def test_the_name_of_a_storage_account_is_asked_only_where_the_stack_makes_one() -> None:
    workloads = Workloads(checkpoints=Checkpoints(name="mldevcheckpoints"))
    plain = wanted("azure")
    demanded = replace(plain, spec=plain.spec.model_copy(update={"workloads": workloads}))
    storage = f"/subscriptions/{SUBSCRIPTION}/providers/microsoft.storage"
    more = {f"{storage}/checknameavailability": {"nameAvailable": True}, f"{storage}/storageaccounts": {"value": []}}
    read, adapter = _asked_of_azure(documents("azure") | more, SUBSCRIPTION, demanded)
    assert read.parts["accountName"] == {"nameAvailable": True}
    assert [path.rpartition("/")[2] for method, path in adapter.asked if method != "GET"] == ["checkNameAvailability"]


def test_no_credentials_for_azure_are_one_sentence() -> None:
    from azure.identity import ChainedTokenCredential, EnvironmentCredential

    with pytest.raises(Unasked) as why:
        azure.read(wanted("azure"), SUBSCRIPTION, ChainedTokenCredential(EnvironmentCredential()))
    assert str(why.value) == azure.NO_CREDENTIALS
    assert "\n" not in azure.NO_CREDENTIALS


# The import of Compute Engine's client alone takes four seconds of CPU.
@pytest.mark.slow
def test_googles_clients_read_the_recorded_answers_and_only_read() -> None:
    from google.auth.credentials import AnonymousCredentials

    with served(documents("gcp")) as (endpoint, asked):
        read = gcp.read(wanted("gcp"), None, AnonymousCredentials(), endpoint)
    good = answers("gcp").parts
    assert read.unseen == {}
    for name, part in good.items():
        assert _held(part, read.parts[name]), name
    assert {(method, path) for method, path in asked if method != "GET"} == {
        ("POST", "/v3/projects/example-ml-staging:testIamPermissions")
    }
    plain = wanted("gcp")
    workloads = Workloads(checkpoints=Checkpoints(name="kept"))
    demanded = replace(plain, spec=plain.spec.model_copy(update={"workloads": workloads}))
    for answer, part in (({"name": "kept"}, {"name": "kept"}), (None, None), (403, "403")):
        with served(documents("gcp") | {"/storage/v1/b/kept": answer}) as (endpoint, asked):
            read = gcp.read(demanded, None, AnonymousCredentials(), endpoint)
        assert ("GET", "/storage/v1/b/kept") in asked
        if part == "403":
            assert read.unseen["bucket"].startswith("403")
        else:
            assert read.parts["bucket"] == part
    refused = {path: 403 for path in documents("gcp") if path.endswith(("serverconfig", ":batchget"))}
    with served(documents("gcp") | refused) as (endpoint, _):
        read = gcp.read(wanted("gcp"), None, AnonymousCredentials(), endpoint)
    with pytest.raises(Unasked, match="does not answer"):
        gcp.read(wanted("gcp"), None, AnonymousCredentials(), "http://127.0.0.1:9")
    assert sorted(read.unseen) == ["serverConfig", "services"]
    assert all(why.startswith("403") for why in read.unseen.values())


@pytest.mark.slow
def test_no_credentials_for_google_are_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    with pytest.raises(Unasked) as why:
        gcp.read(wanted("gcp"), None)
    assert str(why.value) == gcp.NO_CREDENTIALS
