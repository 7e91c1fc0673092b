"""Pages of everyday tasks: stack files' parts load, commands that no test runs exist, and the index leads to every page."""

import re
import subprocess
import textwrap
from functools import cache
from typing import Any

import pytest
import yaml

from config.stack_file import loader
from sandbox.toolchain.programs import ensure
from tests.docs import pages, tasks
from tests.docs.pages import DOCS, Block, blocks
from tests.docs.test_commands import problem

BLOCKS = [block for page in tasks.PAGES for block in blocks(page)]
KNOWN = yaml.safe_load((pages.PROJECT / "tests" / "docs" / "cloud_commands.yaml").read_text())
NOT_RUN = [block for block in BLOCKS if tasks.runner(block) == tasks.COMPARED]


@pytest.mark.parametrize("block", [block for block in BLOCKS if tasks.is_stack_file(block)], ids=str)
def test_a_part_of_a_stack_file_loads_with_the_rest(block: Block) -> None:
    part = tasks.part(block)
    settings = tasks.merged(tasks.checked_in(tasks.base_of(block)), part)
    if "existingCluster" in part.get("cloud", {}):
        settings = {key: value for key, value in settings.items() if key not in ("cluster", "systemPool")}
    assert loader.read_stack(settings)[1] == []


def unknown(words: list[str]) -> list[str]:
    """Return what is wrong with a command that no test runs."""
    plain = [word for word in words if not word.startswith("-")]
    calls = [" ".join(plain[:length]) for length in range(len(plain), 0, -1)]
    call = next((call for call in calls if call in KNOWN), None)
    if call is None:
        return [f"{' '.join(words)}: not in cloud_commands.yaml"]
    known = {*KNOWN[call]["flags"], *KNOWN.get(words[0], {}).get("flags", ())}
    flags = {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
    return [f"{call}: no flag {flag}" for flag in sorted(flags - known)]


@pytest.mark.parametrize("block", NOT_RUN, ids=str)
def test_a_command_that_is_not_run_exists(block: Block) -> None:
    found = [words for words in tasks.commands(textwrap.dedent(block.text)) if words[0] not in ("pulumi", "kubectl")]
    assert [problem for words in found for problem in unknown(words)] == []


@pytest.mark.process
@pytest.mark.parametrize("block", [block for block in NOT_RUN if "kubectl " in block.text], ids=str)
def test_a_command_of_kubectl_that_is_not_run_exists(block: Block) -> None:
    found = [words for words in tasks.commands(textwrap.dedent(block.text)) if words[0] == "kubectl"]
    assert [said for words in found if (said := problem(*words))] == []


@cache
def pulumi_flags(call: tuple[str, ...]) -> set[str]:
    """Return the flags of a command of the real Pulumi."""
    pulumi = ensure(["pulumi"], print)["pulumi"]
    done = subprocess.run([pulumi, *call, "--help"], capture_output=True, text=True, check=True)
    # An unknown second word shows the help of the first, whose usage has no second word.
    assert re.search(rf"Usage:\n  pulumi {call[0]}" + r" [a-z]" * (len(call) - 1), done.stdout)
    return set(re.findall(r"--[a-z][a-z-]*", done.stdout))


@pytest.mark.process
@pytest.mark.parametrize("block", [block for block in NOT_RUN if "pulumi " in block.text], ids=str)
def test_a_command_of_pulumi_exists(block: Block) -> None:
    for words in tasks.commands(textwrap.dedent(block.text)):
        if words[0] == "pulumi":
            length = 3 if words[1] in ("stack", "config") else 2
            flags = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert flags <= pulumi_flags(tuple(words[1:length])), words


def test_wrong_commands_are_detected() -> None:
    text = 'ID=$(az aks fly --name x)\ngcloud compute regions \\\n describe r --frmat=y | grep "az x" # az y\naz aks show -n x'
    found = list(tasks.commands(text))
    assert found[0] == ["az", "aks", "fly", "--name", "x"]
    assert [len(unknown(words)) for words in found] == [1, 1, 1]


def test_every_block_has_a_test_and_the_pages_are_short() -> None:
    runners: dict[str, set[str]] = {}
    for block in BLOCKS:
        runners.setdefault(block.page.stem, set()).add(tasks.runner(block))
    assert set(runners) == {page.stem for page in tasks.PAGES}
    sizes: dict[str, Any] = {page.stem: page.stat().st_size for page in tasks.PAGES}
    assert sum(sizes.values()) <= 78_000, sizes


def test_the_index_leads_to_every_page() -> None:
    index = DOCS / "README.md"
    assert len(index.read_text().splitlines()) <= 60
    linked = {link.partition("#")[0] for link in pages.links(index)}
    assert {f"tasks/{page.name}" for page in tasks.PAGES} <= linked
