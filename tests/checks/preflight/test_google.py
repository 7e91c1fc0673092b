"""Google's own clients on recorded answers: what they parse is what the pure tests judge. No network but loopback."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest

from checks.findings import State, Unasked
from checks.preflight import clouds
from checks.preflight.demand import Demand
from checks.preflight.gcp import gcp_reading as gcp
from config.model.workloads import Checkpoints, ProfileAccess, Workloads
from tests.checks.preflight.accounts import answers, documents, wanted
from tests.checks.preflight.wire import EVERYTHING, Refusal, held, served


def asked_of_google(recorded: dict[str, Any], demanded: Demand | None = None) -> tuple[Any, list[tuple[str, str]]]:
    from google.auth.credentials import AnonymousCredentials

    with served(recorded) as (endpoint, asked):
        return gcp.read_account(demanded or wanted("gcp"), None, AnonymousCredentials(), endpoint), asked


# The import of Compute Engine's client alone takes four seconds of CPU.
@pytest.mark.slow
def test_googles_clients_read_the_recorded_answers_and_only_read() -> None:
    read, asked = asked_of_google(documents("gcp"))
    good = answers("gcp").parts
    assert read.unseen == {}
    for name, part in good.items():
        assert held(part, read.parts[name]), name
    assert {(method, path) for method, path in asked if method != "GET"} == {
        ("POST", "/v3/projects/example-ml-staging:testIamPermissions"),
        ("POST", "/compute/beta/projects/example-ml-staging/regions/europe-west4/advice/capacity"),
    }
    plain = wanted("gcp")
    workloads = Workloads(checkpoints=Checkpoints(name="kept"))
    demanded = replace(plain, spec=plain.spec.model_copy(update={"workloads": workloads}))
    for answer, part in (({"name": "kept"}, {"name": "kept"}), (None, None), (403, "403")):
        read, asked = asked_of_google(documents("gcp") | {"/storage/v1/b/kept": answer}, demanded)
        assert ("GET", "/storage/v1/b/kept") in asked
        if part == "403":
            assert read.unseen["bucket"].startswith("403")
        else:
            assert read.parts["bucket"] == part
    compute = "/compute/v1/projects/example-ml-staging/zones/europe-west4-a/instanceGroup"
    up = {
        "nodePools": [
            {"name": "l4", "instanceGroupUrls": [f"https://x{compute}Managers/gke-l4-grp"]},
            {"name": "other"},
        ]
    }
    live = {"/v1/projects/example-ml-staging/locations/europe-west4/clusters/ml-staging": up}
    read, _ = asked_of_google(documents("gcp") | live | {f"{compute}s/gke-l4-grp".lower(): {"size": 2}})
    assert read.parts["groups"] == {"europe-west4-a/gke-l4-grp": {"size": 2}}
    refused = {path: 403 for path in documents("gcp") if path.endswith(("serverconfig", ":batchget"))}
    read, _ = asked_of_google(documents("gcp") | refused)
    assert sorted(read.unseen) == ["serverConfig", "services"]
    assert all(why.startswith("403") for why in read.unseen.values())


@pytest.mark.slow
def test_google_that_does_not_answer_is_one_sentence() -> None:
    from google.auth.credentials import AnonymousCredentials

    with pytest.raises(Unasked, match="does not answer"):
        gcp.read_account(wanted("gcp"), None, AnonymousCredentials(), "http://127.0.0.1:9")


@pytest.mark.slow
def test_googles_clients_ask_for_reservations_and_an_existing_bucket() -> None:
    plain, text = wanted("gcp"), "projects/corp/reservations/l4/reservationBlocks/one"
    needs = tuple(replace(need, reservation=text, zones=("europe-west4-a",)) for need in plain.needs)
    workloads = Workloads(checkpoints=Checkpoints(existing="shared"), profiles=(ProfileAccess(namespace="team-a"),))
    demanded = replace(plain, needs=needs, spec=plain.spec.model_copy(update={"workloads": workloads}))
    kept = {"/storage/v1/b/shared": {"name": "shared"}, "/storage/v1/b/shared/iam/testpermissions": _tested}
    path, key = "/compute/v1/projects/corp/zones/europe-west4-a/reservations/l4", f"europe-west4-a/{text}"
    l4 = {"name": "l4", "specificReservationRequired": True, "specificReservation": {"count": "2"}}
    other = Refusal(403, "", "Permission denied on resource project corp.")
    for answer, found, refused in ((l4, l4, False), (None, None, False), (other, None, True)):
        read, asked = asked_of_google(documents("gcp") | kept | {path: answer}, demanded)
        assert {asked_path for _, asked_path in asked if "/reservations/" in asked_path} == {path}
        assert (read.parts["reservations"].get(key), key in read.unseen) == (found, refused)
        assert read.parts["bucket"] == {"name": "shared"}
        assert read.parts["bucketGranted"]["permissions"] == [
            "storage.buckets.getIamPolicy",
            "storage.buckets.setIamPolicy",
        ]
    (said,) = (finding for finding in clouds.findings(read) if finding.check == "reservations")
    gone, _ = asked_of_google(documents("gcp") | dict.fromkeys(kept), replace(demanded, needs=plain.needs))
    assert (gone.parts["bucket"], gone.parts["bucketGranted"]) == (None, None)
    assert (said.state, "compute.reservations.get" in said.remedy) == (State.UNSEEN, True)


def _tested(query: str) -> dict[str, Any]:
    return {"kind": "storage#testIamPermissionsResponse", "permissions": parse_qs(query)["permissions"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, r"there is no project example-ml-staging, .*\(project: 404 NotFound\)"),
        (
            Refusal(403, "", "Permission denied on resource project example-ml-staging."),
            "there is no project example-ml-staging",
        ),
        (
            Refusal(401, "", "Request had invalid authentication credentials."),
            "^no credentials for Google Cloud, so nothing was asked: ",
        ),
        ("<html>a proxy</html>", "answers with no JSON"),
    ],
)
def test_what_no_right_mends_ends_the_asking_of_google_with_one_sentence(answer: Any, says: str) -> None:
    from google.auth.credentials import AnonymousCredentials

    with served({EVERYTHING: answer}) as (endpoint, asked), pytest.raises(Unasked, match=says):
        gcp.read_account(wanted("gcp"), None, AnonymousCredentials(), endpoint)
    assert len(asked) == 1


@pytest.mark.slow
def test_a_region_that_is_not_there_is_a_defect_and_ends_nothing() -> None:
    region = "/compute/v1/projects/example-ml-staging/regions/europe-west4"
    read, _ = asked_of_google(documents("gcp") | {region: None})
    (wrong,) = (finding for finding in clouds.findings(read) if finding.state == State.WRONG)
    assert (wrong.check, "there is no region europe-west4" in wrong.says) == ("machines", True)


@pytest.mark.slow
def test_a_login_of_google_that_fails_while_asking_is_one_sentence() -> None:
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import OAuthError

    class Refused(AnonymousCredentials):  # type: ignore[misc]
        def before_request(self, *arguments: Any) -> None:
            raise OAuthError("Error code invalid_target: the audience is invalid.")

    with pytest.raises(Unasked, match=r"^no credentials for Google Cloud.*invalid_target.*application-default login"):
        gcp.read_account(wanted("gcp"), None, Refused(), "http://127.0.0.1:9")


@pytest.mark.slow
def test_no_credentials_for_google_are_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    with pytest.raises(Unasked) as why:
        gcp.read_account(wanted("gcp"), None)
    assert str(why.value).startswith("no credentials for Google Cloud, so nothing was asked: Your default credentials")
    assert "\n" not in str(why.value)
