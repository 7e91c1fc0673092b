"""The kubeconfig of an existing cluster: from a file, from the settings, from another stack."""

import base64
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi.runtime.invoke import InvokeResult

from components.existing import existing_credentials
from config.clouds.existing.existing_settings import Existing
from tests.components.program import kubeconfig_of

TWO: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [
        {"name": "blue", "cluster": {"server": "https://blue", "certificate-authority": "ca.crt"}},
        {"name": "green", "cluster": {"server": "https://green"}},
    ],
    "users": [
        {"name": "me", "user": {"token": "token-of-me"}},
        {"name": "admin", "user": {"client-certificate": "a.crt", "client-key": "/nowhere/a.key"}},
    ],
    "contexts": [
        {"name": "b", "context": {"cluster": "blue", "user": "me", "namespace": "ml"}},
        {"name": "g", "context": {"cluster": "green", "user": "admin"}},
        {"name": "lost", "context": {"cluster": "red", "user": "me"}},
    ],
    "current-context": "b",
}


def spec(**kubeconfig: Any) -> Existing:
    return Existing.model_validate({"provider": "existing", "name": "theirs", "kubeconfig": kubeconfig})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "ca.crt").write_text("authority")
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(TWO))
    return path


def test_a_files_current_context_goes_on_alone_with_the_content_of_its_files(file: Path) -> None:
    content = yaml.safe_load(existing_credentials.kubeconfig(spec(file=str(file))))
    authority = base64.b64encode(b"authority").decode()
    assert content == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "blue", "cluster": {"server": "https://blue", "certificate-authority-data": authority}}],
        "users": [{"name": "me", "user": {"token": "token-of-me"}}],
        "contexts": [{"name": "b", "context": {"cluster": "blue", "user": "me", "namespace": "ml"}}],
        "current-context": "b",
    }


@pytest.mark.parametrize("named", ["token", "../token", "/run/token"])
def test_a_tokens_file_is_named_by_its_whole_path_and_its_content_stays_there(named: str, file: Path) -> None:
    (file.parent / "token").write_text("token-of-me")
    file.write_text(yaml.safe_dump({**TWO, "users": [{"name": "me", "user": {"tokenFile": named}}]}))
    (user,) = yaml.safe_load(existing_credentials.kubeconfig(spec(file=str(file))))["users"]
    assert user["user"] == {"tokenFile": str(file.parent / named)}


def test_contents_are_as_good_as_a_file_and_a_context_can_be_named() -> None:
    text = yaml.safe_dump({**TWO, "clusters": [{"name": "blue", "cluster": {"server": "https://blue"}}]})
    content = yaml.safe_load(existing_credentials.kubeconfig(spec(contents=text)))
    assert content["clusters"] == [{"name": "blue", "cluster": {"server": "https://blue"}}]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("c", r"file: there is no context 'c'\n.*one of: b, g, lost"),
        ("lost", "names a cluster or a user that is missing"),
        ("g", r"client-certificate: .*a\.crt cannot be read: No such file"),
    ],
)
def test_an_unusable_context_is_refused(file: Path, context: str, expected: str) -> None:
    with pytest.raises(pulumi.RunError, match=expected):
        existing_credentials.kubeconfig(spec(file=str(file), context=context))


def test_a_context_without_a_cluster_is_refused() -> None:
    nameless = {"contexts": [{"name": "a", "context": {"user": "u"}}], "clusters": [{"cluster": {"server": "x"}}]}
    with pytest.raises(pulumi.RunError, match="names a cluster or a user that is missing"):
        existing_credentials.reduced(yaml.safe_dump({**nameless, "users": [{"name": "u", "user": {}}]}), "here", "a")


def test_without_a_current_context_one_must_be_named() -> None:
    with pytest.raises(pulumi.RunError, match=r"contents: no context is the current one\n.*b, g, lost"):
        existing_credentials.kubeconfig(spec(contents=yaml.safe_dump({**TWO, "current-context": ""})))


@pytest.mark.parametrize(
    "text",
    [
        *("hello", "a: [secret", "contexts: secret", "- secret", "secret: 2026-13-45", "secret: !!timestamp x"),
        *("secret: " + "9" * 4400, "secret: " + "[" * 500 + "]" * 500),
    ],
    ids=lambda text: text[:25],
)
def test_an_invalid_kubeconfig_is_reported_and_not_shown(text: str) -> None:
    with pytest.raises(pulumi.RunError, match=r"cloud\.kubeconfig\.contents: is no kubeconfig") as refused:
        existing_credentials.kubeconfig(spec(contents=text))
    assert "secret" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(pulumi.RunError, match=r"cloud\.kubeconfig\.file: .*/none cannot be read: No such file"):
        existing_credentials.kubeconfig(spec(file=str(tmp_path / "none")))


@pytest.fixture
def other_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def invoke(token: str, arguments: dict[str, Any]) -> InvokeResult:
        assert token == "pulumi:pulumi:readStackOutputs"
        if arguments["name"] != "org/clusters/prod":
            raise Exception("unknown stack")
        text = yaml.safe_dump(TWO).replace("certificate-authority: ca.crt", "insecure: true")
        return InvokeResult({"outputs": {"kubeconfig": text, "size": 3}})

    monkeypatch.setattr("pulumi.runtime.invoke", invoke)


@pytest.mark.usefixtures("other_stacks")
def test_an_output_of_another_stack_is_as_good_as_a_file() -> None:
    content = yaml.safe_load(existing_credentials.kubeconfig(spec(stack="org/clusters/prod")))
    assert content["users"] == [{"name": "me", "user": {"token": "token-of-me"}}]


@pytest.mark.usefixtures("other_stacks")
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"stack": "org/clusters/dev"}, r"stack: the outputs of org/clusters/dev cannot be read: unknown stack"),
        (
            {"stack": "org/clusters/prod", "output": "config"},
            r"no text 'config' .*\n  its outputs are: kubeconfig, size",
        ),
        ({"stack": "org/clusters/prod", "output": "size"}, "no text 'size'"),
    ],
)
def test_a_missing_stack_or_output_is_named(source: dict[str, str], expected: str) -> None:
    with pytest.raises(pulumi.RunError, match=expected):
        existing_credentials.kubeconfig(spec(**source))


@pytest.mark.parametrize(
    ("user", "held"),
    [
        ({"token": "of-me"}, ["token"]),
        ({"client-certificate-data": "", "client-key-data": ""}, ["client-key-data"]),
        ({"username": "me", "password": "correct horse"}, ["password"]),
        ({"exec": {"command": "kubelogin"}}, []),
    ],
)
def test_a_credential_in_the_kubeconfig_gives_a_warning_and_is_never_shown(
    user: dict[str, Any], held: list[str], warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = kubeconfig_of("https://lab", **user)
    monkeypatch.setattr(existing_credentials, "kubeconfig", lambda spec: existing_credentials.reduced(text, "here"))
    existing_credentials.warn_of_secrets(existing_credentials.kubeconfig(spec(contents="...")))
    assert ["(" + ", ".join(held) + ")" in text for text in warnings] == ([True] if held else [])
    assert "correct horse" not in "".join(warnings)
