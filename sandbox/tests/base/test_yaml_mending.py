"""Texts that are nearly YAML: what each was probably meant to be, and what its message shows of it."""

import pytest
import yaml

from sandbox.base.errors import SandboxError
from sandbox.base.yaml_file import NotYaml, parsed
from sandbox.base.yaml_mending import shown

TEXTS = {
    "a colon": ("config:\n  a 1\n  b: 2\n", {"a": 1, "b": 2}),
    "a space after the colon": ("config:\n  a:1\n  b: 2\n", {"a": 1, "b": 2}),
    "an equals sign": ("config:\n  a = 1\n  b: 2\n", {"a": 1, "b": 2}),
    "a space after the dash": ("config:\n  a:\n    - b: 1\n    -b: 2\n", {"a": [{"b": 1}, {"b": 2}]}),
    "a long dash": ("config:\n  a:\n    - b: 1\n    \u2013 b: 2\n", {"a": [{"b": 1}, {"b": 2}]}),
    "a quote": ('config:\n  a: {b: "x", c: "y}\n  d: 1\n', {"a": {"b": "x", "c": "y"}, "d": 1}),
    "a single quote": ("config:\n  a: {b: 'x}\n  d: 1\n", {"a": {"b": "x"}, "d": 1}),
    "quotes around a sign": ("config:\n  a: @x\n  b: 1\n", {"a": "@x", "b": 1}),
    "another tool's comment": ("config:\n  a: [1] // x\n  b: 1\n", {"a": [1], "b": 1}),
    "a bracket": ("config:\n  a: [1, 2\n  b: 2\n", {"a": [1, 2], "b": 2}),
    "a brace": ("config:\n  a: {b: 1\n  c: 2\n", {"a": {"b": 1}, "c": 2}),
    "a bracket too many": ("config:\n  a: [1]]\n  b: 2\n", {"a": [1], "b": 2}),
    "a comma": ("config:\n  a: {b: 2m c: 3m}\n", {"a": {"b": "2m", "c": "3m"}}),
    "a comma too many": ("config:\n  a: [1],\n  b: 2\n", {"a": [1], "b": 2}),
    "an entry in a comment": ("config:\n  a: [x, #y, z]\n  b: 2\n", {"a": ["x", "z"], "b": 2}),
    "tabs": ("config:\n  a:\n    b: 1\n\t\tc: 2\n  d: 1\n", {"a": {"b": 1, "c": 2}, "d": 1}),
    "a column": ("config:\n  a: 1\n   b: 2\n  c: 3\n", {"a": 1, "b": 2, "c": 3}),
    "a setting too deep": (
        "config:\n  a-b:pools:\n    - a: 1\n    a-b:growth:\n      wait: 2\n  a-b:x: 3\n",
        {"a-b:pools": [{"a": 1}], "a-b:growth": {"wait": 2}, "a-b:x": 3},
    ),
    "a space after the namespace": ("config:\n  a-b: growth: {c: 1}\n", {"a-b:growth": {"c": 1}}),
    "a list in two parts": (
        "config:\n  a:\n  - b: 1\n  # more\n  c: 2\n  a:\n  - d: 3\n  e: 4\n",
        {"a": [{"b": 1}, {"d": 3}], "c": 2, "e": 4},
    ),
    "a line outside its entry": ("config:\n  - a: 1\n    b: 2\n  c: 3\n", [{"a": 1, "b": 2, "c": 3}]),
    "a key twice": ("config:\n  a: 1\n  a: 2\n  b: 3\n", {"a": 1, "b": 3}),
    "an entry without its dash": (
        "config:\n  - name: a\n    b: 1\n    name: c\n    b: 2\n",
        [{"name": "a", "b": 1}, {"name": "c", "b": 2}],
    ),
    "a conflict": ("config:\n<<<<<<< HEAD\n  a: 1\n=======\n  a: 2\n>>>>>>> b\n  b: 3\n", {"a": 1, "b": 3}),
    "a fence": ("```yaml\nconfig:\n  a: 1\n```\n", {"a": 1}),
    "a template": ("config:\n  a: {{ x }}\n  b: 1\n", {"a": "{{ x }}", "b": 1}),
    "two faults": ("config:\n  a 1\n  b: [2\n  c: 3\n", {"a": 1, "b": [2], "c": 3}),
}


@pytest.mark.parametrize(("text", "meant"), TEXTS.values(), ids=TEXTS)
def test_a_fault_is_mended_and_each_line_keeps_its_number(text: str, meant: object) -> None:
    with pytest.raises(NotYaml) as broken:
        parsed(text, "Pulumi.dev.yaml")
    assert yaml.safe_load(broken.value.mended)["config"] == meant
    assert len(broken.value.mended.splitlines()) >= len(text.splitlines())
    assert "the rest is read once" not in str(broken.value)


@pytest.mark.parametrize(
    "text",
    [
        "config:\n  a: *b\n",
        "config:\n  a:\n    b: 1\n  c: 2\n  a:\n    d: 3\n",
        "config:\n  a: 1\n" + "  # a remark\n" * 6000 + "  b 2\n",
    ],
    ids=["an anchor that is missing", "an object twice", "a long text"],
)
def test_what_its_author_alone_knows_is_left(text: str) -> None:
    with pytest.raises(NotYaml) as broken:
        parsed(text, "Pulumi.dev.yaml")
    assert broken.value.mended == ""
    assert "the rest is read once this is mended" in str(broken.value)


def test_a_text_that_is_yaml_and_no_stack_file_is_another_error() -> None:
    with pytest.raises(SandboxError) as wrong:
        parsed("- a\n", "Pulumi.dev.yaml")
    assert not isinstance(wrong.value, NotYaml)


@pytest.mark.parametrize(
    ("line", "before", "said"),
    [
        ("  name: ml-dev", "  name ml-dev", "write `name: ml-dev`"),
        ("   name: ml-dev", "  name: ml-dev", "move it 1 column to the right"),
        ("    name: ml-dev", "\tname: ml-dev", "begin it with 4 spaces"),
        ("  password: geheim", "  password geheim", ""),
        ("  clientSecret: geheim", "  clientSecret geheim", ""),
        ("  text: " + "x" * 41, "  text " + "x" * 41, ""),
        ("  labels: {a: b", "  labels: {a:b", ""),
        ("  geheim:", "  geheim", ""),
    ],
)
def test_a_message_shows_a_whole_line_without_secrets(line: str, before: str, said: str) -> None:
    assert shown(line, before) == said
