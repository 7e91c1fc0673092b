"""Scratch copies for the engine; the user's files are only read."""

import re
from pathlib import Path

import pytest
import yaml

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.yaml_file import parsed
from sandbox.engine import workspace

PROJECT_FILE = """\
name: kubeflow-spot
main: src/
backend: {url: azblob://state}
runtime: {name: python, options: {toolchain: uv}}
"""
STACK_FILE = """\
secretsprovider: azurekeyvault://vault.vault.azure.net/keys/pulumi
encryptedkey: QUJD
config:
  kubeflow-spot:release: r2026-11
  kubeflow-spot:token: {secure: v1:abc}
  kubeflow-spot:cloud: {provider: azure, list: [{secure: v1:def}]}
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    project = tmp_path / "project"
    project.mkdir()
    (project / "Pulumi.yaml").write_text(PROJECT_FILE)
    (project / "Pulumi.dev.yaml").write_text(STACK_FILE)
    return Home("dev", project, tmp_path / "home")


def copy(home: Home, name: str) -> dict[str, object]:
    content: dict[str, object] = yaml.safe_load((home.workspace / name).read_text())
    return content


def test_copies_have_no_backend_no_secrets_provider_and_marked_fakes_for_secrets(home: Home) -> None:
    assert workspace.prepare(home) == "kubeflow-spot"
    assert copy(home, "Pulumi.yaml") == {"name": "kubeflow-spot", "runtime": "python"}
    config = fakes(home)
    assert config == {
        # A stack file may hold values of examples here: nothing of it reaches a cloud.
        "examples:accept": "true",
        "kubeflow-spot:release": "r2026-11",
        "kubeflow-spot:token": "fake",
        "kubeflow-spot:cloud": {"provider": "azure", "list": ["fake"]},
    }


def fakes(home: Home) -> object:
    """Return the copy's settings with every marked fake written `fake`."""
    text = (home.workspace / "Pulumi.dev.yaml").read_text()
    return yaml.safe_load(re.sub(r"sandbox-fake-secret-[0-9a-f]{8}\b", "fake", text))["config"]


def test_another_encrypted_value_is_another_fake_and_none_repeats_what_was_encrypted(home: Home) -> None:
    def token(encrypted: str) -> str:
        (home.project / "Pulumi.dev.yaml").write_text(f"config: {{a:token: {{secure: {encrypted}}}}}")
        workspace.prepare(home)
        return (home.workspace / "Pulumi.dev.yaml").read_text()

    assert token("v1:abc") == token("v1:abc") != token("v1:def")
    assert "v1:" not in token("v1:abc")


def test_clear_text_as_an_encrypted_value_is_refused_and_not_shown(home: Home) -> None:
    text = "config: {a:registries: [{password: {secure: hunter2}}]}"
    (home.project / "Pulumi.dev.yaml").write_text(text)
    with pytest.raises(SandboxError) as refused:
        workspace.prepare(home)
    assert "hunter2" not in str(refused.value)
    assert "--secret --path 'a:registries[0].password'" in str(refused.value)


def test_the_users_files_stay_unchanged(home: Home) -> None:
    workspace.prepare(home)
    assert (home.project / "Pulumi.yaml").read_text() == PROJECT_FILE
    assert (home.project / "Pulumi.dev.yaml").read_text() == STACK_FILE


def test_the_salt_the_engine_wrote_into_its_copy_is_kept(home: Home) -> None:
    workspace.prepare(home)
    path = home.workspace / "Pulumi.dev.yaml"
    path.write_text("encryptionsalt: v1:salt\nconfig: {}\n")
    workspace.prepare(home)
    assert copy(home, "Pulumi.dev.yaml")["encryptionsalt"] == "v1:salt"


def test_the_passphrase_is_random_kept_and_private(home: Home, tmp_path: Path) -> None:
    first = workspace.passphrase(home)
    assert workspace.passphrase(home) == first
    assert (home.directory / "passphrase").stat().st_mode & 0o077 == 0
    assert workspace.passphrase(Home("dev", home.project, tmp_path / "other")) != first


def test_an_unknown_stack_is_an_error_that_names_the_known_ones_and_creates_nothing(home: Home) -> None:
    other = Home("prod", home.project, home.root)
    with pytest.raises(SandboxError, match=r"Pulumi\.prod\.yaml does not exist; stacks here: dev"):
        workspace.prepare(other)
    assert not other.directory.exists()


def test_values_are_read_as_the_engine_reads_them(home: Home) -> None:
    (home.project / "Pulumi.dev.yaml").write_text("config: {'p:labels': {gpu: yes, on: x, n: 1.10}}")
    workspace.prepare(home)
    assert copy(home, "Pulumi.dev.yaml") == {
        "config": {"examples:accept": "true", "p:labels": {"gpu": "yes", "on": "x", "n": 1.1}}
    }


def test_a_stack_file_from_elsewhere_is_copied_under_the_stack_s_name(home: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "stacks" / "a100.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_text("config: {'p:a': 1}")
    workspace.prepare(home.with_options(elsewhere))
    assert copy(home, "Pulumi.dev.yaml") == {"config": {"examples:accept": "true", "p:a": 1}}
    assert elsewhere.read_text() == "config: {'p:a': 1}"
    elsewhere.unlink()
    with pytest.raises(SandboxError, match=r"a100\.yaml, does not exist; `--config-file` names another"):
        workspace.prepare(home.with_options(elsewhere))


def test_a_stack_can_be_deleted_without_its_file(home: Home) -> None:
    workspace.prepare(home)
    before = copy(home, "Pulumi.dev.yaml")
    (home.project / "Pulumi.dev.yaml").unlink()
    workspace.prepare(home, program=False)
    assert copy(home, "Pulumi.dev.yaml") == before
    with pytest.raises(SandboxError, match="does not exist"):
        workspace.prepare(home)


def test_a_partly_written_copy_is_written_again(home: Home) -> None:
    workspace.prepare(home)
    (home.workspace / "Pulumi.dev.yaml").write_text("")
    workspace.prepare(home)
    assert "config" in copy(home, "Pulumi.dev.yaml")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-x", "a b"])
def test_an_invalid_stack_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="is no stack name"):
        Home.of(name, tmp_path)


_LAUGHS = "\n".join(
    [f"{a}: &{a} [{b}]" for a, b in zip("bcdefgh", ("*" + ",*".join(x * 9) for x in "abcdefg"), strict=True)]
)


@pytest.mark.parametrize(
    "text",
    [
        *("config: [", "- a", "config: {a: 1, a: 2}", "config: [1]", "config: {a: 2026-13-45}", "config: &a {b: *a}"),
        *("config: {a: !!binary aGk=}", "config: {a: !!set {b}}", "config: {[a, b]: c}", "config: {2026-11-01: c}"),
        *('config: {a: "\\ud800"}', 'config: {"\\ud800": a}', "config: {a: " + "9" * 4400 + "}"),
        *("config: {a: " + "[" * 150 + "]" * 150 + "}", "config: {b: " + "[" * 500 + "]" * 500 + "}"),
        *("a: &a [1, 2, 3]\n" + _LAUGHS + "\nconfig: {a: *h}", "config: {a: b}\n# " + "x" * (4 << 20)),
    ],
    ids=lambda text: text[:25],
)
def test_a_file_without_a_yaml_object_is_an_error_that_names_it(home: Home, text: str) -> None:
    (home.project / "Pulumi.dev.yaml").write_text(text)
    with pytest.raises(SandboxError, match=r"Pulumi\.dev\.yaml"):
        workspace.prepare(home)


def test_html_inside_of_a_text_is_part_of_it() -> None:
    text = 'config:\n  a: "so: &quot;on&quot;"\n  b: R&amp;D  # &lt;\n'
    assert parsed(text, "dev.yaml") == {"config": {"a": "so: &quot;on&quot;", "b": "R&amp;D"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Pulumi.dev.yaml is empty"),
        ("# nothing yet\n", "Pulumi.dev.yaml is empty"),
        ("- a\n", "is not a YAML object: write `key: value` lines"),
        (
            "config:\n  password: geheim1\n  password: geheim2\n",
            "dev.yaml:3: is not YAML: the key `password` stands twice",
        ),
        (
            'config:\n  labels: {a: "1"}\n  labels: {b: c}\n',
            'keep one of them, or write both in one: `labels: {a: "1", b: c}`',
        ),
        ("config:\n  a: {token: geheim}\n  a: {b: c}\n", "first in line 2; keep one of them"),
        (
            "config:\n  password: [geheim1\n  a: b\n",
            "dev.yaml:2: is not YAML: the list or object is not closed with ]",
        ),
        (
            "config:\n  a:b\n    c: d\n",
            "2: is not YAML: the line has no colon at its end; write `a:b:`",
        ),
        ("config:\n  a: {b: 2m c: 3m}\n", "2: is not YAML: a comma is missing before `c`"),
        ('config:\n  a: {b: "x}\n  c: {d: "x"}\n', "2: is not YAML: a quote is not closed"),
        ("config:\n  k:a: 1\n  k: b: c\n", "3: is not YAML: a space stands after `k:`; write `k:b: c`"),
        (
            "config:\n  - a: 1\n    b: 2\n  c: 3\n",
            "4: is not YAML: the line stands outside its entry of the list; indent it, and what is below, as line 3",
        ),
        ("config:\n  - a: 1\n  \u2013 b: 2\n", "3: is not YAML: the line begins with a long dash"),
        ("config:\n  a: b: c\n", "2: is not YAML: two keys stand on one line; write `a: {b: c}`"),
        ("config:\n  password: [geheim\n  b: c\n", "dev.yaml:2: is not YAML: the list or object is not closed with ]"),
        ("config:\n\ta: 1\n", "dev.yaml:2: is not YAML: a tab indents this line"),
        ("config:\n  a: 1\n   b: geheim\n", "dev.yaml:3: is not YAML: a `:` stands where no key can"),
        ("config:\n  a: 1\n  geheim\n  c: 1\n", "dev.yaml:3: is not YAML: the line has no `:`; write `key: value`"),
        ("config:\n  - password geheim\n    b: 1\n", "dev.yaml:2: is not YAML: the line has no `:`"),
        ("config:\n  a:\n    - b\n    -c\n  d: 1\n", "dev.yaml:4: is not YAML: a `-` of a list needs a space after it"),
        (
            "config:\n<<<<<<< HEAD\n  a: 1\n=======\n  a: 2\n>>>>>>> b\n",
            "dev.yaml:2: is not YAML: a conflict marker of git",
        ),
        (
            'config:\n  a: 1\nresource "x" "y" {\n  b = "geheim"\n}\n',
            "dev.yaml:3: is not YAML: a block of Terraform's language",
        ),
        ("config:\n  a:\n    b: 1\n   c: 1\n", "dev.yaml:4: is not YAML: the line is not indented as those above it"),
        ("config:\n  a: 'it's'\n", "dev.yaml:2: is not YAML: text follows where the value has ended"),
        ("config:\n  a: *b\n", "dev.yaml:2: is not YAML: no anchor `&b` stands above"),
        ('config:\n  token: "geheim\n', "a quote is not closed (it begins in line 2)"),
        ('config:\n  a: {secret: "geheim, c: 1}\n  d: 1\n', "dev.yaml:2: is not YAML: a quote is not closed"),
        ("config:\n  apiKey: [geheim],\n  b: 1\n", "dev.yaml:2: is not YAML: a comma follows the value"),
        (
            "```yaml\nconfig:\n  password: [geheim],\n  b: 1\n```\n",
            "dev.yaml:1: is not YAML: the line is a fence of Markdown; delete it, and the one at the end if there is "
            "one; then line 3: a comma follows the value, where none can stand; delete it",
        ),
        (
            "config:\n  a:\u00a01\n  credentials: [geheim],\n",
            "type ordinary spaces; then line 3: a comma follows the value",
        ),
        ("config:\n  password: @geheim\n", "dev.yaml:2: is not YAML: a text that begins with @ needs quotes"),
        ("config:\n  a: !Ref geheim\n", "dev.yaml:2: is not YAML: !Ref is a tag of another tool"),
        ("config:\n  a: 1\n  b: {c: &quot;on&quot;}\n", "dev.yaml:3: is not YAML: &quot; is HTML"),
        ("config:\n  maxNodes:8\n  b: 1\n", "dev.yaml:2: is not YAML: a space is missing after the colon"),
        ("config:\n  a: {{ geheim }}\n", "dev.yaml:2: is not YAML: a template, `{{ }}`, which nothing renders"),
        ("config:\n  a: {{ geheim }}\n  b: 1\n  c: {{ geheim }}\n  # {{ x }}\n", "(also line 4)"),
        ("config:\n  maxNodes:8\n  b: {c:8}\n  minNodes:1\n", "write `maxNodes: 8`; then line 4: a space is missing"),
        ("config:\n  maxNodes:8\n  b: |\n    c:8\n", "write `maxNodes: 8`"),
        (
            "config:\n  a: 1\n  b = 2\n  c = 3\n",
            "dev.yaml:3: is not YAML: a `=` stands in place of the colon; write `b: 2`; then line 4: a `=` stands",
        ),
        ("config:\n  a: &gpu-one {b: 1}\n  c: *gpuOne\n", "no anchor `&gpuOne` stands above; did you mean `*gpu-one`?"),
        ("config: {a: 1, [{b: geheim}]}\n", "an object or list stands as a key"),
        ("config:\n  a: - geheim\n", "a list begins on the line below its key"),
        ("config:\n  a: b ]\n  c: ]\n", "dev.yaml:3: is not YAML: a value is missing"),
        ('config:\n  a: "C:\\dir"\n', "write the text with a backslash in single quotes"),
        ("a: 1\n---\nb: geheim\n", "dev.yaml:2: is not YAML: a second document begins"),
    ],
)
def test_an_error_of_yaml_says_its_line_and_quotes_no_value(text: str, said: str) -> None:
    with pytest.raises(SandboxError) as refused:
        parsed(text, "Pulumi.dev.yaml")
    assert said in str(refused.value)
    assert "geheim" not in str(refused.value)
    assert "http" not in str(refused.value)
