"""The pages of docs/tasks and who runs their blocks: `python -m tests.docs.tasks` prints the list.

A stack file's part is merged into a checked-in stack file and loaded. A block of commands runs on a stack that is up, unless its
first line is `# not run`: then its commands are compared with tests/docs/cloud_commands.yaml and Pulumi's own help.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator
from typing import Any

import yaml

from tests.docs.pages import DOCS, PROJECT, Block, blocks

PAGES = sorted((DOCS / "tasks").glob("*.md"))
RUNNER = "tests/standing/test_tasks.py"
LOADER = "tests/docs/test_tasks.py, loaded"
COMPARED = "tests/docs/test_tasks.py, compared"

_OVER = re.compile(r"<!-- over: (\w+) -->")
_PROGRAMS = ("az", "gcloud", "bq", "kubectl", "pulumi", "make", "curl", "terraform")


def is_stack_file(block: Block) -> bool:
    return block.language == "yaml" and "kubeflow-spot:" in block.text


def base_of(block: Block) -> str:
    """Return the stack into whose file a part is merged."""
    mark = _OVER.fullmatch(block.above.strip())
    return mark[1] if mark else "dev"


def checked_in(stack: str) -> dict[str, Any]:
    """Return a stack file's settings without the project's prefix."""
    return _plain(yaml.safe_load((PROJECT / f"Pulumi.{stack}.yaml").read_text())["config"])


def part(block: Block) -> dict[str, Any]:
    # The reader replaces the text in angle brackets.
    return _plain(yaml.safe_load(re.sub(r"<[^<>\n]+>", "example", textwrap.dedent(block.text))))


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("kubeflow-spot:"): value for key, value in settings.items()}


def merged(base: Any, above: Any) -> Any:
    """Return `base` with `above` over it: mappings key by key, lists of named objects by name."""
    if isinstance(base, dict) and isinstance(above, dict):
        # A cluster of the stack's own and an existing one exclude each other.
        gone = {"location", "network", "autoscaler"} if "existingCluster" in above else set()
        rest = {key: value for key, value in base.items() if key not in gone}
        return {**rest, **{key: merged(rest.get(key), value) for key, value in above.items()}}
    if isinstance(base, list) and isinstance(above, list):
        names = {item.get("name") for item in above if isinstance(item, dict)}
        return [*(item for item in base if not isinstance(item, dict) or item.get("name") not in names), *above]
    return above


def runner(block: Block) -> str:
    """Return the test that runs or checks a block. Raise ValueError for a block that none does."""
    if is_stack_file(block):
        return LOADER
    if block.language == "bash":
        return COMPARED if textwrap.dedent(block.text).startswith("# not run") else RUNNER
    raise ValueError(f"{block}: no test runs a block of {block.language or 'no language'}")


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each call of a cloud's or Pulumi's program, also of those in `$(...)`."""
    # A placeholder is one word.
    whole = re.sub(r"<[^<>\n]+>", "VALUE", text.replace("\\\n", " "))
    for line in whole.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();|&<>")
        lexer.whitespace_split = True
        words: list[str] = []
        for token in [*lexer, ";"]:
            if set(token) <= set("();|&<>"):
                if words and words[0] in _PROGRAMS:
                    yield words
                words = []
            elif token.endswith("$"):
                words = []
            else:
                words.append(token)


def main() -> None:
    """Print each page's blocks and the tests that run them."""
    for page in PAGES:
        for block in blocks(page):
            print(f"{block!s:44} {block.language:5} {runner(block)}")


if __name__ == "__main__":
    main()
