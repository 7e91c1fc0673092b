"""Secrets of a stack file: refused in clear text, and in no message. A public key is taken whole or not at all."""

import base64
import hashlib
import re
from typing import Any

import pytest

from config.base.hiding import hidden
from config.stack_file import loader
from tests.config.stack import azure, good, on_existing, with_pool
from tests.config.stack_files import ERRORS

PASSWORD = "hunter2-not-to-be-seen"
BODY = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"
PRIVATE_KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n-----END OPENSSH PRIVATE KEY-----\n"


def login(password: Any = PASSWORD) -> dict[str, Any]:
    return {"name": "acr-auth", "server": "a.azurecr.io", "username": "u", "password": password}


def kubeconfig(contents: str) -> dict[str, Any]:
    return on_existing(contents=contents)


CLEAR = [
    (good(imagePullSecrets=[login()]), "imagePullSecrets[0].password"),
    # Under a key that is wrong as well.
    (good(imagePullSecret=[login()]), "imagePullSecret[0].password"),
    (good(imagePullSecrets=login()), "imagePullSecrets.password"),
    (good(imagePullSecrets=[{**login(), "passwd": PASSWORD}]), "imagePullSecrets[0].password"),
    (kubeconfig(f"users: [{{name: a, user: {{token: {PASSWORD}}}}}]"), "cloud.kubeconfig.contents"),
    (kubeconfig(f"users:\n- user:\n    client-key-data: {PASSWORD}\n"), "cloud.kubeconfig.contents"),
]


@pytest.mark.parametrize(("raw", "path"), CLEAR, ids=[f"{case[1]}-{i}" for i, case in enumerate(CLEAR)])
def test_a_secret_in_clear_text_is_an_error_that_does_not_show_it(raw: dict[str, Any], path: str) -> None:
    _, problems = loader.read_stack(raw, is_secret=lambda path: False)
    (problem,) = [problem for problem in problems if "is in clear text" in problem.what]
    assert problem.path == path
    right = "imagePullSecrets[0].password" if path.startswith("image") else path
    assert f"pulumi config set --secret --path 'kubeflow-spot:{right}'" in problem.remedy
    assert PASSWORD not in "".join(map(str, problems))
    assert [p for p in loader.read_stack(raw, is_secret=lambda path: True)[1] if "clear text" in p.what] == []


LOGIN_PROGRAM = "users: [{name: a, user: {exec: {command: kubelogin, %s}}}]"


@pytest.mark.parametrize(
    ("contents", "clear"),
    [
        ("users: [{name: a, user: {exec: {command: kubelogin}}}]", False),
        (LOGIN_PROGRAM % "env: [{name: GREETING, value: 'password: b'}]", False),
        ("users:\n- user:\n    exec:\n      env:\n      - {name: A, value: 'token=b'}\n", False),
        (LOGIN_PROGRAM % f"args: [--token={PASSWORD}]", True),
        (LOGIN_PROGRAM % f"env: [{{name: A, value: {'ghp_' + 'a1B2' * 9}}}]", True),
        ("users: &a [{user: {exec: {env: [{value: 'token: b'}]}}}, *a]", False),
        (f"users: [{{user: {{auth-provider: {{config: {{id-token: {PASSWORD}}}}}}}}}]", True),
        (f"clusters: [{{cluster: {{proxy-url: 'https://u:{PASSWORD}@proxy'}}}}]", True),
        # No YAML: the words decide.
        (f"users: [token: {PASSWORD}", True),
    ],
)
def test_a_kubeconfig_is_judged_by_its_fields(contents: str, clear: bool) -> None:
    _, problems = loader.read_stack(kubeconfig(contents), is_secret=lambda path: False)
    assert [problem.path for problem in problems] == (["cloud.kubeconfig.contents"] if clear else [])
    assert PASSWORD not in "".join(map(str, problems))


def test_of_two_passwords_only_the_clear_one_is_an_error() -> None:
    raw = good(imagePullSecrets=[login(), {**login(), "name": "other"}])
    (problem,) = loader.read_stack(raw, is_secret=lambda path: path == "imagePullSecrets[0].password")[1]
    assert problem.path == "imagePullSecrets[1].password"


@pytest.mark.parametrize(
    "text", ["${ACR_PASSWORD}", "$(ACR_PASSWORD)", "{{ acr.password }}", "${{ secrets.ACR }}", "<password>"]
)
def test_a_placeholder_is_no_password(text: str) -> None:
    for is_secret in (None, lambda path: False):
        spec, (problem,) = loader.read_stack(good(imagePullSecrets=[login(text)]), is_secret=is_secret)
        assert (problem.path, problem.what[:16]) == ("imagePullSecrets[0].password", "is a placeholder")
        assert text not in str(problem)
        assert spec is None


@pytest.mark.parametrize(
    ("text", "placeholder"),
    [
        *((text, True) for text in ("${A}", "${ a }", "$(A)", "${{ secrets.A }}", "{{ .Values.a }}", "<a b>")),
        *(("%PATH%", True), ("%Path%", True), ("%C3%A4", False), ("%EF%BB", False), ("%1%", False)),
    ],
)
def test_a_password_and_another_text_have_the_same_placeholders(text: str, placeholder: bool) -> None:
    for key, words in (("password", "placeholder"), ("server", "which nobody replaces")):
        problems = loader.read_stack(good(imagePullSecrets=[{**login(), key: text}]))[1]
        assert any(words in problem.what for problem in problems) == placeholder, key


@pytest.mark.parametrize("text", ["<abc>", "%FOO%", "$(x)", "${x}"])
def test_a_secret_that_looks_like_a_placeholder_is_taken_with_a_warning(text: str) -> None:
    spec, (problem,) = loader.read_stack(good(imagePullSecrets=[login(text)]), is_secret=lambda path: True)
    assert spec is not None
    assert (problem.path, problem.what[:23]) == ("imagePullSecrets[0].password", "looks like a placeholder"[:23])
    assert problem.warning
    assert text not in str(problem)


@pytest.mark.parametrize("text", ["$ecret}", "a${b}c", "$1", "<html", "correct horse", "100%"])
def test_a_password_with_such_characters_in_it_is_one(text: str) -> None:
    assert loader.read_stack(good(imagePullSecrets=[login(text)]), is_secret=lambda path: True)[1] == []


TOKENS = [
    PRIVATE_KEY,
    PRIVATE_KEY.replace("OPENSSH ", ""),
    PRIVATE_KEY.replace("\n", " "),
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl",
    "ya29.a0AfH6SMBxyz_0123456789",
    "pul-" + "0a" * 20,
    "a=b;AccountKey=MDEyMzQ1Njc4OWFiY2RlZg==",
    "https://reg:hunter2tobehidden@registry.example.com",
    "https://:hunter2tobehidden@registry.example.com/team?a=b",
]


@pytest.mark.parametrize("token", TOKENS, ids=range(len(TOKENS)))
@pytest.mark.parametrize(
    "place", ["machine", "name", "labels", "zones", "ssh", "cluster", "fallback", "key", "top", "path"]
)
def test_a_secret_at_a_place_of_something_else_is_not_shown(token: str, place: str) -> None:
    raw = {
        "machine": with_pool(machine=token),
        "name": with_pool(name=token),
        "labels": with_pool(labels={"agentpool": token}),
        "zones": with_pool(zones=[token, token]),
        "ssh": azure(ssh={"publicKey": token}),
        "cluster": good(cluster={"name": token}),
        "fallback": with_pool(fallback=[token]),
        # A key, also at the top and before one that is wrong.
        "key": with_pool(**{token: 1}),
        "top": good(**{token: 1}),
        "path": with_pool(labels={token: {"a": [1]}}),
    }[place]
    _, problems = loader.read_stack(raw)
    assert problems
    shown = "".join(map(str, problems))
    secret = (token.partition("KEY-----")[2] or token).replace("registry.example.com", "")
    assert [part for part in re.findall(r"[A-Za-z0-9_]{12,}", secret) if part in shown] == []


@pytest.mark.parametrize("token", ["eyJhbGciOiJSUzI1NiJ9." + "a1B2" * 200, f"https://u:{'a1B2' * 200}@example.com"])
def test_of_a_long_secret_no_end_is_shown(token: str) -> None:
    raw = good(imagePullSecrets=[{**login(), "server": f" {token}"}])
    shown = "".join(map(str, loader.read_stack(raw)[1]))
    assert "white space around it" in shown
    assert "a1B2" not in shown


@pytest.mark.parametrize("name", ["token:x", "password=b", "my-token: 3", "https://example.com:443/a@b"])
def test_a_name_that_has_such_a_word_in_it_is_shown(name: str) -> None:
    _, problems = loader.read_stack(with_pool(name=name))
    assert repr(name) in "".join(map(str, problems))


def test_no_ordinary_message_is_taken_for_a_secret() -> None:
    for row in ERRORS:
        for problem in loader.read_stack(row.settings(), is_secret=lambda path: False)[1]:
            assert "not shown)" not in f"{problem.what}{problem.remedy}".replace("(its text is not shown)", "")
    ordinary = "write for example `password: ...`, or a token of yours"
    assert hidden(ordinary) == ordinary


BYTES = hashlib.sha256(b"a key that nobody has").digest()


def line(kind: str, *fields: bytes, named: str = "") -> str:
    """Return a public key as OpenSSH writes it, with these fields after its kind."""
    parts = ((named or kind).encode(), *fields)
    body = base64.b64encode(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).decode()
    return f"{kind} {body}"


WHOLE = (line("ssh-ed25519", BYTES), line("ssh-rsa", b"\x01\x00\x01", b"\x00" + BYTES * 8))


def refused(key: str) -> list[str]:
    problems = loader.read_stack(azure(ssh={"publicKey": key}))[1]
    return [problem.what for problem in problems if problem.path == "cloud.ssh.publicKey"]


@pytest.mark.parametrize("key", WHOLE)
def test_a_whole_key_is_taken_with_and_without_a_comment(key: str) -> None:
    assert refused(key) == refused(f"{key} ops@example.com") == []


@pytest.mark.parametrize("key", WHOLE)
def test_a_key_that_is_cut_anywhere_is_refused(key: str) -> None:
    kind, body = key.split()
    for end in range(1, len(body.rstrip("="))):
        assert refused(f"{kind} {body[:end]}"), end
        assert refused(f"{kind} {body[:end]} ops@example.com"), end


@pytest.mark.parametrize(
    ("key", "what"),
    [
        (line("ssh-ed25519", BYTES[:-1]), "has 31 bytes, and such a key has 32"),
        (line("ssh-ed25519", BYTES, b"more"), "is cut"),
        (line("ssh-rsa", b"\x01\x00\x01"), "is cut"),
        (line("ssh-rsa", BYTES, named="ssh-ed25519"), "is a key of another kind"),
        (line("ssh-ed25519"), "is cut"),
    ],
)
def test_a_key_whose_fields_are_not_those_of_its_kind_is_refused(key: str, what: str) -> None:
    (problem,) = refused(key)
    assert what in problem
