"""Blocks of commands and data: their syntax, and the options of the programs that are here.

A real cloud, GitHub and their tools are not: of `az`, `gcloud` and `gh` only the shell's syntax is checked.
"""

import json
import re
import shlex
import subprocess
from functools import cache

import click
import pytest
import yaml

from sandbox.cli.commands import main as sandbox
from sandbox.toolchain.programs import ensure
from tests.docs.pages import PAGES, PROJECT, Block, blocks

SHELL = [block for page in PAGES for block in blocks(page) if block.language in ("bash", "sh")]
DATA = [block for page in PAGES for block in blocks(page) if block.language in ("json", "yaml", "python", "diff")]
OTHERS = {"CONTRIBUTING.md": 1, "docs/workloads.md": 2, "docs/operate.md": 2}
"""Blocks without a language, by page: lists of commands with words beside them, the schema's command, a line of Azure's TOML."""


def commands(program: str) -> list[tuple[Block, list[str]]]:
    """Return the command lines of a program, each as words up to a pipe, a redirection or a comment."""
    found = []
    for block in SHELL:
        for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
            for part in re.findall(rf"(?:^|&& |; |\(|\$\()\s*({re.escape(program)} .*)", line):
                text = re.split(r" #|\s[|>]|;|&&|\)\"?$", part)[0]
                try:
                    found.append((block, shlex.split(text)))
                except ValueError:  # a quote that ends on another line
                    found.append((block, re.sub(r"['\"].*", "", text).split()))
    return found


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_a_block_of_commands_is_good_bash(block: Block) -> None:
    text = re.sub(r"<[a-z][^<>\n]*>", "PLACEHOLDER", block.text)
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["azure", "gcp"])
def test_a_script_for_identities_is_good_bash_and_has_every_environment(name: str) -> None:
    script = PROJECT / "examples" / "identities" / f"{name}.sh"
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
    assert done.stderr == ""
    assert 'for stacks in "" -prod' in script.read_text()
    assert "cloud-preview$stacks drift$stacks" in script.read_text()
    assert "for stack in dev staging prod" in script.read_text()


@pytest.mark.parametrize("block", DATA, ids=str)
def test_a_block_of_data_is_read(block: Block) -> None:
    text = re.sub(r"<[a-z][^<>\n]*>", "PLACEHOLDER", block.text)
    match block.language:
        case "json":
            json.loads(text)
        case "yaml":
            assert list(yaml.safe_load_all(text)) or text.startswith("#")
        case "python":
            compile(text, str(block), "exec")
        case _:
            assert all(line[0] in "+- " for line in text.splitlines())


def test_no_block_is_of_another_language() -> None:
    known = {"bash", "sh", "json", "yaml", "python", "diff", "console"}
    others = [block for page in PAGES for block in blocks(page) if block.language not in known]
    assert {block.page.relative_to(PROJECT).as_posix() for block in others} <= OTHERS.keys()
    assert all(block.language == "" for block in others)


def test_commands_of_the_sandbox_have_its_options() -> None:
    assert isinstance(sandbox, click.Group)
    found = commands(".venv/bin/sandbox")
    assert len(found) >= 8
    for block, (_, name, *words) in found:
        command = sandbox.get_command(click.Context(sandbox), name)
        assert command is not None, block
        options = {option for param in command.params for option in param.opts}
        assert [word for word in words if word.startswith("--") and word.split("=")[0] not in options] == [], block


def test_scripts_and_files_that_commands_name_exist() -> None:
    named = [(block, path) for block in SHELL for path in re.findall(r"(?<![\w/])\.github/[\w./-]+", block.text)]
    assert len(named) >= 3
    assert [path for _, path in named if not (PROJECT / path).exists()] == []


@pytest.mark.engine
@pytest.mark.parametrize("program", ["pulumi", "kubectl"])
def test_a_command_has_the_options_of_the_program(program: str) -> None:
    binary = str(ensure([program], print)[program])

    @cache
    def described(*words: str) -> str:
        return subprocess.run([binary, *words, "--help"], capture_output=True, text=True).stdout

    general = described() + (described("options") if program == "kubectl" else "")
    found = commands(program)
    assert len(found) > 8
    for block, (_, *words) in found:
        names = [word for word in words[:3] if re.fullmatch(r"[a-z-]+", word) and not word.startswith("-")]
        text = "".join(described(*names[:number]) for number in range(1, len(names) + 1)) + general
        for option in (word.split("=")[0] for word in words if word.startswith("--") and len(word) > 2):
            assert re.search(rf"{option}\b", text), f"{block}: {program} {' '.join(names)} {option}"
