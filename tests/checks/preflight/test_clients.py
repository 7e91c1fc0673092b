"""Azure's own clients on recorded answers: what they parse is what the pure tests judge. No network."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
from urllib3.exceptions import ProtocolError

from checks import stack
from checks.findings import State, Unasked
from checks.preflight import clouds
from checks.preflight.azure import azure_reading as azure
from checks.preflight.demand import Demand, demand
from config.model.workloads import Checkpoints, Workloads
from tests.checks.preflight.accounts import ACCOUNT, GROUP, PROJECT, answers, documents, wanted
from tests.checks.preflight.wire import EVERYTHING, Recorded, Refusal, held

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


class _Credential:
    """A token that nobody checks."""

    def get_token(self, *scopes: str, **options: Any) -> Any:
        from azure.core.credentials import AccessToken

        return AccessToken("recorded", int(time.time()) + 3600)


def asked_of_azure(
    recorded: dict[str, Any], account: str | None = SUBSCRIPTION, demanded: Demand | None = None
) -> tuple[Any, Recorded]:
    from azure.core.pipeline.transport import RequestsTransport

    session, adapter = requests.Session(), Recorded(recorded)
    session.mount("https://", adapter)
    transport = RequestsTransport(session=session, session_owner=False)
    read = azure.read_account(demanded or wanted("azure"), account, _Credential(), transport=transport, retry_total=0)
    return read, adapter


def test_azures_clients_read_the_recorded_answers_and_only_read() -> None:
    read, adapter = asked_of_azure(documents("azure"))
    good = answers("azure").parts
    assert read.unseen == {}
    for name, part in good.items():
        assert held(part, read.parts[name]), name
    posts = {path.rpartition("/placementScores/")[2] for method, path in adapter.asked if method != "GET"}
    assert posts == {"spot/generate"}


def test_azures_refusals_are_not_seen_and_the_rest_is_asked() -> None:
    recorded = documents("azure")
    refused = {path: 403 for path in recorded if path.endswith(("/usages", "/permissions"))}
    read, _ = asked_of_azure(recorded | refused)
    assert read.unseen == {"usages": "403 AuthorizationFailed", "permissions": "403 AuthorizationFailed"}
    assert read.parts["skus"]


def test_the_only_subscription_is_taken_and_several_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"):
        monkeypatch.delenv(name, raising=False)
    one = {"subscriptionId": SUBSCRIPTION}
    read, _ = asked_of_azure(documents("azure") | {"/subscriptions": {"value": [one]}}, None)
    assert read.parts["subscription"] == SUBSCRIPTION
    with pytest.raises(Unasked, match="see 2 subscriptions: name one"):
        asked_of_azure({"/subscriptions": {"value": [one, one]}}, None)


def test_the_subscription_of_the_stack_file_goes_before_the_environments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ARM_SUBSCRIPTION_ID", "other")
    text = (PROJECT / "Pulumi.dev.yaml").read_text()
    (tmp_path / "Pulumi.dev.yaml").write_text(f"{text}  azure-native:subscriptionId: {SUBSCRIPTION}\n")
    file = stack.load_stack(tmp_path, "dev")
    demanded = demand(file.spec, file.others)
    read, adapter = asked_of_azure(documents("azure"), None, demanded)
    assert read.account == f"subscription {SUBSCRIPTION}"
    assert {path.split("/")[2] for _, path in adapter.asked} == {SUBSCRIPTION}


def test_the_name_of_a_storage_account_is_asked_only_where_the_stack_makes_one() -> None:
    workloads = Workloads(checkpoints=Checkpoints(name="mldevcheckpoints"))
    plain = wanted("azure")
    demanded = replace(plain, spec=plain.spec.model_copy(update={"workloads": workloads}))
    storage = f"/subscriptions/{SUBSCRIPTION}/providers/microsoft.storage"
    more = {f"{storage}/checknameavailability": {"nameAvailable": True}, f"{storage}/storageaccounts": {"value": []}}
    read, adapter = asked_of_azure(documents("azure") | more, SUBSCRIPTION, demanded)
    assert read.parts["accountName"] == {"nameAvailable": True}
    assert [path.rpartition("/")[2] for method, path in adapter.asked if method != "GET"] == [
        "generate",
        "checkNameAvailability",
    ]


@pytest.mark.parametrize(
    ("settings", "there", "asked"),
    [
        ({"name": "kept"}, (), {""}),
        ({"name": "kept"}, ("ml-dev",), {"/resourcegroups/ml-dev", ""}),
        (
            {"name": "kept"},
            ("ml-dev", "ml-dev-checkpoints-kept"),
            {"/resourcegroups/ml-dev", "/resourcegroups/ml-dev-checkpoints-kept"},
        ),
        ({"existing": ACCOUNT}, ("ml-dev",), {"/resourcegroups/ml-dev", ACCOUNT, ACCOUNT.partition("/providers")[0]}),
    ],
)
def test_rights_are_asked_of_the_place_where_a_thing_is_made(
    settings: dict[str, str], there: tuple[str, ...], asked: set[str]
) -> None:
    plain, scope = wanted("azure"), f"/subscriptions/{SUBSCRIPTION}"
    workloads = Workloads(checkpoints=Checkpoints(**settings))
    demanded = replace(plain, spec=plain.spec.model_copy(update={"workloads": workloads}))
    # An account may be in a subscription that these credentials do not see.
    recorded = documents("azure") | {EVERYTHING: Refusal(404, "SubscriptionNotFound")}
    storage = f"{scope}/providers/microsoft.storage"
    recorded |= {
        f"{storage}/checknameavailability": {"nameAvailable": True},
        f"{storage}/storageaccounts": {"value": []},
    }
    recorded |= dict.fromkeys((f"{scope}/resourcegroups/ml-dev", f"{scope}/resourcegroups/ml-dev-checkpoints-kept"))
    for name in there:
        group = f"{scope}/resourcegroups/{name}"
        recorded |= {group: {"name": name}, f"{group}/providers/microsoft.authorization/permissions": {"value": []}}
    read, adapter = asked_of_azure(recorded, SUBSCRIPTION, demanded)
    end = "/providers/Microsoft.Authorization/permissions"
    paths = [path for _, path in adapter.asked if path.endswith(end)]
    assert {path.removeprefix(scope).removesuffix(end) for path in paths} == asked
    assert (read.unseen, read.parts.get("container")) == ({}, None)


def test_the_reservations_of_a_group_are_asked_of_its_own_subscription() -> None:
    plain, path = wanted("azure"), f"{GROUP}/capacityReservations"
    demanded = replace(plain, needs=tuple(replace(need, reservation=GROUP) for need in plain.needs))
    held = [{"sku": {"name": "Standard_NC4as_T4_v3", "capacity": 2}, "zones": ["1"]}]
    for answer, found, unseen in (
        ({"value": held}, held, {}),
        (None, None, {}),
        (Refusal(404, "SubscriptionNotFound"), None, {}),
        (403, None, {GROUP: "403 AuthorizationFailed"}),
    ):
        read, adapter = asked_of_azure(documents("azure") | {path.lower(): answer}, SUBSCRIPTION, demanded)
        assert [asked for asked in adapter.asked if asked[1] == path] == [("GET", path)]
        assert (read.parts["reservations"].get(GROUP), read.unseen) == (found, unseen)
    (said,) = (finding for finding in clouds.findings(read) if finding.check == "reservations")
    assert (said.state, said.says) == (State.UNSEEN, f"{GROUP}: 403 AuthorizationFailed")


def test_no_credentials_for_azure_are_one_sentence_with_the_chains_own_words() -> None:
    from azure.identity import ChainedTokenCredential, EnvironmentCredential

    with pytest.raises(
        Unasked, match=r"^no credentials for Azure.*EnvironmentCredential.*unavailable.*az login"
    ) as why:
        azure.read_account(wanted("azure"), SUBSCRIPTION, ChainedTokenCredential(EnvironmentCredential()))
    assert "\n" not in str(why.value)


_WRONG_TENANT = (
    "The access token is from the wrong issuer 'https://sts.windows.net/1111/'. It must match the tenant"
    " 'https://sts.windows.net/2222/' associated with this subscription."
)
_RESET = requests.exceptions.ConnectionError(ProtocolError("Connection aborted.", ConnectionResetError(104, "reset")))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (requests.exceptions.ReadTimeout("read timed out"), "does not answer: read timed out"),
        (_RESET, "does not answer: .*reset"),
        (requests.exceptions.ChunkedEncodingError("cut short"), "does not answer: .*cut short"),
        ("<html>a proxy</html>", "answers with no JSON"),
        (None, rf"providers: .* has none for subscription {SUBSCRIPTION} \(404 NotFound\)"),
        (
            Refusal(404, "SubscriptionNotFound"),
            rf"there is no subscription {SUBSCRIPTION}, .*\(404 SubscriptionNotFound\)",
        ),
        (Refusal(400, "InvalidSubscriptionId"), "there is no subscription .*400 InvalidSubscriptionId"),
        (
            Refusal(401, "InvalidAuthenticationTokenTenant", _WRONG_TENANT),
            r"\(401 InvalidAuthenticationTokenTenant\): log in again, `az login --tenant 2222`$",
        ),
        (Refusal(401, "ExpiredAuthenticationToken"), r"\(401 ExpiredAuthenticationToken\): .*--tenant TENANT`$"),
    ],
)
def test_what_no_right_mends_ends_the_asking_of_azure_with_one_sentence(answer: Any, says: str) -> None:
    with pytest.raises(Unasked, match=says) as why:
        asked_of_azure({EVERYTHING: answer})
    assert "\n" not in str(why.value)


def test_a_path_that_the_clients_have_no_method_for_is_refused_as_theirs_are() -> None:
    documents_ = documents("azure")
    rights = next(path for path in documents_ if path.endswith("/permissions"))
    for answer, says in ((401, "does not accept the credentials"), (None, "permissions: .* has none for subscription")):
        with pytest.raises(Unasked, match=says):
            asked_of_azure(documents_ | {rights: answer})


def test_the_list_of_sizes_may_take_two_minutes() -> None:
    _, adapter = asked_of_azure(documents("azure"))
    assert adapter.waits["skus"][1] == 120
