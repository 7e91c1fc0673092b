"""Every edit that removes or renames a pool, with a pod on each pool, through the real engine on both clouds."""

import json
import re
import shutil
from collections.abc import Iterator

import pytest

from sandbox.tests.pods import notebook
from sandbox.tests.stack import PROJECT, Stack
from tests.components.removals import EDITS, Edit, Settings, edited

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Stack, dict[str, str]]]]:
    """Yield stacks that are up by their cloud, with the node of the pod on each pool."""
    up: dict[str, tuple[Stack, dict[str, str]]] = {}
    yield up
    for stack, _ in up.values():
        stack.run("down", "--force")


def _standing(
    stacks: dict[str, tuple[Stack, dict[str, str]]], settings: Settings, folders: pytest.TempPathFactory
) -> tuple[Stack, dict[str, str]]:
    cloud = settings["cloud"]["provider"]
    if cloud not in stacks:
        project = folders.mktemp("removals") / "project"
        project.mkdir()
        for file in ("Pulumi.yaml", "__main__.py"):
            shutil.copy(PROJECT / file, project)
        stack = Stack(project, project / ".sandbox", "removed")
        stack.write(settings)
        stack.run("up")
        nodes: dict[str, str] = {}
        stacks[cloud] = (stack, nodes)
        for pool in [*(pool["name"] for pool in settings["pools"]), "gpuod"]:
            if pool != "general":
                stack.run("scale", pool, "1")
            nodes[pool] = notebook(stack, pool)
    return stacks[cloud]


@pytest.mark.parametrize(("before", "edit", "refused", "warned"), EDITS)
def test_a_preview_names_what_runs_on_each_pool_that_an_edit_removes(
    before: Settings,
    edit: Edit,
    refused: dict[str, str],
    warned: set[str],
    stacks: dict[str, tuple[Stack, dict[str, str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    stack, nodes = _standing(stacks, before, tmp_path_factory)
    stack.write(edited(before, edit))
    shown = json.loads(stack.run("preview", "--json", ok=not refused).stdout)
    assert bool(shown["errors"]) == bool(refused)
    for pools, text in ((refused, "\n".join(shown["errors"])), (warned, "\n".join(shown["warnings"]))):
        named = re.findall(r"the \S+ pool (\S+) would go with what runs there: pods (\S+) on nodes (\S+)", text)
        assert sorted(named) == sorted((pool, f"default/nb-{pool}-0", nodes[pool]) for pool in pools)
