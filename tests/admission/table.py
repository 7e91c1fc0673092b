"""Tables of docs/placement.md, docs/guard.md and docs/projects.md; the tests of this folder check each row on a real cluster.

python -m tests.admission.table
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.admission.corpus import STATES, Expect, Golden, corpus
from tests.admission.escapes import ESCAPES, WITH_SETTINGS, Escape
from tests.admission.intrusions import INTRUSIONS
from tests.admission.projects import Manifest
from tests.admission.projects import corpus as manifests

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMAND = "python -m tests.admission.table"
_BEGIN = "<!-- written by {} -->"
_END = "<!-- end of the table -->"


def table(goldens: Iterable[Golden]) -> str:
    """The rows in Markdown, by the pods' names."""
    return "\n".join(_rows(sorted(goldens, key=lambda golden: golden.name)))


def _rows(goldens: Iterable[Golden]) -> Iterator[str]:
    yield row("pod", "made by", "kind", "added", *STATES)
    yield "|---" * (4 + len(STATES)) + "|"
    for golden in goldens:
        link = f"[{golden.name}](../tests/admission/pods/{golden.name}.yaml)"
        yield row(link, golden.made_by, golden.expect.kind or "", _added(golden.expect), *golden.expect.lands)


def escapes(tried: Iterable[Escape]) -> str:
    """The rows of the ways around the guard, in Markdown."""
    rows = [row("tried", "stopped by"), "|---|---|"]
    return "\n".join([*rows, *(row(escape.name, escape.by) for escape in tried)])


def projects(tried: Iterable[Manifest]) -> str:
    """Return the rows of the public projects' manifests, in Markdown, by project."""
    return "\n".join(_roles(sorted(tried, key=lambda manifest: (manifest.project, manifest.name))))


def _roles(tried: Iterable[Manifest]) -> Iterator[str]:
    yield row("project", "manifest", "kind", "role", "lands", "why not on spot")
    yield "|---" * 6 + "|"
    project = ""
    for manifest in tried:
        link = f"[{manifest.name}](../tests/admission/projects/{manifest.file})"
        head = ("" if manifest.project == project else manifest.project, link, manifest.kind)
        project = manifest.project
        for role, word in manifest.expect.items():
            lands = word if isinstance(word, str) else "; ".join(f"{at}: {it}" for at, it in word.items())
            yield row(*head, role, lands, manifest.reason(role))
            head = ("", "", "")


def pages() -> dict[Path, str]:
    """The table of each page."""
    return {
        DOCS / "placement.md": table(corpus().values()),
        DOCS / "projects.md": projects(manifests().values()),
        DOCS / "guard.md": escapes((*ESCAPES, *INTRUSIONS, *WITH_SETTINGS)),
    }


def row(*cells: str) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def _added(expect: Expect) -> str:
    if expect.refused:
        return f"refused: `{expect.refused}`"
    parts = ["spot toleration"] if expect.tolerations else []
    parts += {"preferred": ["prefers spot"], "required": ["requires spot"]}.get(expect.affinity, [])
    parts += [f"grace {expect.grace} s"] if expect.grace else []
    return ", ".join(parts) or "nothing"


def written(page: str, command: str = COMMAND) -> str:
    """The table in a page, which a command wrote."""
    return page.partition(_BEGIN.format(command))[2].partition(_END)[0].strip()


def rewritten(page: str, table: str, command: str = COMMAND) -> str:
    """The page with this table. Raises ValueError for a page without the marks of a table."""
    head, begin, rest = page.partition(_BEGIN.format(command))
    _, end, tail = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"the page has no lines {_BEGIN.format(command)} and {_END}")
    return f"{head}{begin}\n\n{table}\n\n{end}{tail}"


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(rewritten(path.read_text(), content))
