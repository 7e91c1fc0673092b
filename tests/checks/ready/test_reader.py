"""The reader on a server of this test's own, with the official client; and the command `ready`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from kubernetes import client

from checks.findings import Exit, Unasked
from checks.ready import judge, kubeconfig, reader, ready_command
from checks.ready.snapshot import PATHS, Snapshot
from sandbox.tests.stack import PROJECT
from tests.checks.preflight.wire import served
from tests.checks.ready.clusters import load


def documents(cluster: Snapshot) -> dict[str, Any]:
    """Return a recorded cluster as its API server answers."""
    answers: dict[str, Any] = {}
    for name, path in PATHS.items():
        part = cluster.parts[name]
        answers[path.partition("?")[0].lower()] = {"kind": "List", "items": part} if isinstance(part, list) else part
    return answers


def opened(address: str) -> Any:
    """Return a client of a server without login."""
    return client.ApiClient(client.Configuration(host=address))


def test_every_part_is_read_by_get_alone_and_lists_page_by_page() -> None:
    cluster = load("dev")
    answers = documents(cluster)
    nodes = cluster.parts["nodes"]

    def paged(query: str) -> dict[str, Any]:
        if "continue=a%2Fb" in query:
            return {"kind": "NodeList", "items": nodes[1:], "metadata": {}}
        return {"kind": "NodeList", "items": nodes[:1], "metadata": {"continue": "a/b"}}

    with served(answers | {"/api/v1/nodes": paged, "/apis/apps/v1/daemonsets": 403}) as (address, asked):
        read = reader.read_snapshot(opened(address))
    assert {method for method, _ in asked} == {"GET"}
    assert read.unseen == {"daemonSets": "403 Forbidden"}
    assert read.taken.endswith("+00:00")
    for name in PATHS.keys() - {"daemonSets"}:
        assert read.parts[name] == cluster.parts[name], name


@pytest.mark.parametrize(
    ("text", "says"), [("{", "is no kubeconfig"), ("[]", "is no kubeconfig"), (None, "there is no such")]
)
def test_an_unusable_kubeconfig_is_one_sentence(text: str | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    if text:
        path.write_text(text)
    done = CliRunner().invoke(ready_command.main, ["--kubeconfig", str(path)])
    assert done.exit_code == Exit.UNASKED
    assert says in done.output
    assert done.output.count("\n") == 1


def _kubeconfig(path: Path, address: str, **user: Any) -> str:
    """Write a kubeconfig of one user and return its path; with `missing=True` it lacks the user."""
    users = [] if user.pop("missing", False) else [{"name": "u", "user": user}]
    config = {
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": users,
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(config))
    return str(path)


def _login(command: str, **more: Any) -> dict[str, Any]:
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, **more}}


NO_LOGIN: list[tuple[dict[str, Any], str]] = [
    (
        _login("kubelogin-not-there", installHint="Get it.\nThere."),
        r"`kubelogin-not-there` .*No such file.*; Get it\. There\.$",
    ),
    (_login("false"), r"the login command `false` .* does not log in \(exec: process returned 1\)"),
    (
        _login("echo", args=['{"apiVersion": "client.authentication.k8s.io/v1", "kind": "x", "status": {}}']),
        "missing token",
    ),
    ({"auth-provider": {"name": "azure"}}, "`auth-provider: azure` .* does not log in: "),
    ({"missing": True}, "names a user in its context, and has none"),
]


@pytest.mark.parametrize(("user", "says"), NO_LOGIN)
def test_a_login_that_fails_ends_it_and_is_no_missing_right(user: dict[str, Any], says: str, tmp_path: Path) -> None:
    refused = {"/version": {"gitVersion": "v1.36.2"}, "*": 403}
    with served(refused) as (address, asked):
        done = CliRunner().invoke(
            ready_command.main, ["--kubeconfig", _kubeconfig(tmp_path / "config", address, **user)]
        )
    assert (done.exit_code, done.output.count("\n"), asked) == (Exit.UNASKED, 1, [])
    assert re.search(says, done.output.strip())


def test_a_login_command_that_answers_is_used(tmp_path: Path) -> None:
    status = '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}'
    path = _kubeconfig(tmp_path / "config", "http://127.0.0.1:9", **_login("echo", args=[status]))
    with kubeconfig.open_client(path) as api:
        assert api.configuration.api_key == {"BearerToken": "Bearer t"}


def test_a_tokens_file_is_read_from_the_folder_of_the_kubeconfig_and_a_missing_one_is_named(tmp_path: Path) -> None:
    path = _kubeconfig(tmp_path / "config", "http://127.0.0.1:9", tokenFile="token")
    with pytest.raises(Unasked, match=rf"^{tmp_path}/token, which {path} names, cannot be read: No such file"):
        kubeconfig.open_client(path)
    (tmp_path / "token").write_text("t")
    with kubeconfig.open_client(path) as api:
        assert api.configuration.api_key == {"BearerToken": "Bearer t"}


def test_a_silent_server_and_one_that_is_none_end_it() -> None:
    with pytest.raises(Unasked, match="does not answer"):
        reader.read_snapshot(opened("http://127.0.0.1:9"))
    with served({"/version": lambda query: []}) as (address, _), pytest.raises(Unasked, match="is no API server"):
        reader.read_snapshot(opened(address))


def test_credentials_that_are_refused_end_it_with_one_sentence() -> None:
    answers = documents(load("dev"))
    # Whoever serves /version to anybody refuses the token only at the next part.
    for path in ("/version", "/api/v1/nodes"):
        with (
            served(answers | {path: 401}) as (address, _),
            pytest.raises(Unasked, match=r"does not accept the kubeconfig's credentials \(401\): log in again$"),
        ):
            reader.read_snapshot(opened(address))


def test_an_error_that_nobody_foresaw_is_one_sentence_and_never_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise KeyError("provisioner")

    for place, name in ((reader, "open_snapshot"), (judge, "findings")):
        with monkeypatch.context() as patched:
            patched.setattr(reader, "open_snapshot", lambda *arguments: load("dev"))
            patched.setattr(place, name, fails)
            done = CliRunner().invoke(ready_command.main, [])
        assert (done.exit_code, done.output.count("\n")) == (Exit.UNASKED, 1)
        assert re.search(
            r"^error: an error .* in tests/checks/ready/test_reader.py:\d+, .*: KeyError: 'provisioner'$", done.output
        )


def test_the_command_prints_a_table_or_json_with_an_exit_status(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(PROJECT)
    cluster = load("dev")
    with served(documents(cluster)) as (address, _):
        path = _kubeconfig(tmp_path / "config", address)
        table = CliRunner().invoke(ready_command.main, ["--kubeconfig", path])
        shown = CliRunner().invoke(ready_command.main, ["--kubeconfig", path, "--json"])
        faulty = CliRunner().invoke(ready_command.main, ["--kubeconfig", path, "--stack", "none"])
    assert (table.exit_code, shown.exit_code, faulty.exit_code) == (Exit.READY, Exit.READY, Exit.UNASKED)
    assert table.output.splitlines()[-1].startswith(f"{address}: ready; ")
    document = json.loads(shown.output)
    assert document["subject"] == address
    assert [finding["check"] for finding in document["findings"]] == [check.name for check in judge.CHECKS]
    assert "there is no such stack file" in faulty.output
