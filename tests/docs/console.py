"""Console blocks of the documentation that are cheap to make: `python -m tests.docs.console` writes them anew.

A block says above itself where its text is from: `<!-- checked: NAME -->` names an entry of `MADE`, and
`<!-- recorded DATE: COMMAND; shown by TEST -->` a command that needs the real engine, with the test that shows the same thing.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from config.base.problems import report
from config.stack_file import loader
from tests.components.program import Declared, declare, stack_config
from tests.docs.pages import PAGES, PROJECT, Block, blocks

CHECKED = re.compile(r"<!-- checked: ([\w./-]+) -->")
RECORDED = re.compile(r"<!-- recorded (?:before )?\d{4}-\d\d-\d\d[^:]*: .+?(?:; shown by (tests/[\w/]+\.py))? -->")


def _settings(stack: str) -> dict[str, Any]:
    return stack_config(PROJECT / f"Pulumi.{stack}.yaml")


def _declared(settings: dict[str, Any]) -> Declared:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return declare(settings, monkeypatch, stack="dev")


def _mistakes() -> str:
    """Return the report on the stack dev with three mistakes."""
    settings = {key.removeprefix("kubeflow-spot:"): value for key, value in _settings("dev").items()}
    settings["systemPool"]["minNodes"] = 1
    settings["pools"][1]["maxnodes"] = settings["pools"][1].pop("maxNodes")
    return "error: " + report(loader.read_stack(settings)[1]).replace("\n", "\n    ")


def _contract() -> str:
    """Return a snippet of the contract, in the order in which the ConfigMap has it."""
    command = "$ kubectl get configmap -n kube-public kubeflow-spot -o 'jsonpath={.data.gpu-prefer-spot\\.yaml}'"
    maps = _declared(_settings("dev")).of("kubernetes:core/v1:ConfigMap", "-contract").values()
    (text,) = [config_map.inputs["data"]["gpu-prefer-spot.yaml"] for config_map in maps]
    return f"{command}\n{text}"


def _below() -> str:
    settings = _settings("dev") | {
        "kubeflow-spot:release": "r2026-09",
        "kubeflow-spot:scheduling": {"profiles": [{"namespace": "team-a"}]},
    }
    return "warning: " + "\n  ".join(_declared(settings).outputs["scheduling"]["shortfall"])


MADE: dict[str, Callable[[], str]] = {
    "mistakes": _mistakes,
    "contract": _contract,
    "below-1.36": _below,
}
"""The text of a block, by the name in its mark."""


def renewed(block: Block) -> str | None:
    """Return the text that a block must have; None for one that is recorded."""
    mark = CHECKED.fullmatch(block.above)
    return MADE[mark[1]]().rstrip("\n") + "\n" if mark else None


def console_blocks() -> list[Block]:
    """Return all console blocks of the documentation."""
    return [block for page in PAGES for block in blocks(page) if block.language == "console"]


def main() -> None:
    """Write the blocks anew."""
    for block in console_blocks():
        text = renewed(block)
        if text is not None and text != block.text:
            opening = f"{block.above}\n```console\n"
            whole = block.page.read_text()
            block.page.write_text(whole.replace(f"{opening}{block.text}```", f"{opening}{text}```"))
            print(f"written: {block}")


if __name__ == "__main__":
    main()
