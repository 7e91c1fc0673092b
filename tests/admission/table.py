"""Tables of docs/placement.md, docs/guard.md and docs/projects.md; the tests of this folder check each row on a real cluster.

python -m tests.admission.table
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.admission.corpus import GETS, STATES, Expect, Golden, corpus
from tests.admission.escapes import ESCAPES, WITH_SETTINGS, Escape
from tests.admission.intrusions import INTRUSIONS
from tests.admission.projects import Manifest
from tests.admission.projects import corpus as manifests

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMAND = "python -m tests.admission.table"
_BEGIN = "<!-- written by {} -->"
_END = "<!-- end of the table -->"


LANDS = {GETS[word]["lands"]: word for word in ("cpu", "spot", "on-demand", "spot-only")} | {("-",) * len(STATES): "-"}
"""Words for a pod's pool in each of STATES; the pages explain them."""


def table(goldens: Iterable[Golden]) -> str:
    """Return the rows in Markdown: pods of one kind that end alike share a row."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for golden in sorted(goldens, key=lambda golden: golden.name):
        lands = golden.expect.lands
        alike[golden.expect.kind or "", _added(golden.expect), LANDS.get(lands, "; ".join(lands))].append(golden.name)
    rows = [row("kind", "added", "lands", "pods"), "|---|---|---|---|"]
    return "\n".join([*rows, *(row(*cells, ", ".join(names)) for cells, names in sorted(alike.items()))])


def escapes(tried: Iterable[Escape]) -> str:
    """Return the ways around the guard in Markdown, by what stops them; of the guard's own rules the number."""
    by: dict[str, list[str]] = defaultdict(list)
    for escape in tried:
        by[escape.by].append(escape.name)
    for end in by:
        if end.startswith("guard, "):
            by[end] = [f"{len(by[end])} ways"]
    return "\n".join([row("stopped by", "tried"), "|---|---|", *(row(end, "; ".join(by[end])) for end in by)])


def projects(tried: Iterable[Manifest]) -> str:
    """Return where the public projects' manifests land, in Markdown: roles that end alike for one reason share a row."""
    alike: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for manifest in sorted(tried, key=lambda manifest: (manifest.project, manifest.name)):
        for role, word in manifest.expect.items():
            lands = word if isinstance(word, str) else "; ".join(f"{at}: {it}" for at, it in word.items())
            if lands != "cpu":
                shown = manifest.kind if role == "pod" else role
                alike[lands, manifest.reason(role)][manifest.project].append(f"{manifest.name} {shown}")
    rows = [row("lands", "why not on spot", "project: manifest, and its role or kind"), "|---|---|---|"]
    for cells, by in sorted(alike.items()):
        rows.append(row(*cells, "; ".join(f"{project}: {', '.join(names)}" for project, names in by.items())))
    return "\n".join(rows)


def pages() -> dict[Path, str]:
    """Return the table of each page."""
    return {
        DOCS / "placement.md": table(corpus().values()),
        DOCS / "projects.md": projects(manifests().values()),
        DOCS / "guard.md": escapes((*ESCAPES, *INTRUSIONS, *WITH_SETTINGS)),
    }


def row(*cells: str) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def _added(expect: Expect) -> str:
    if expect.refused:
        return f"refused: `{expect.refused}`"
    parts = ["spot toleration"] if expect.tolerations else []
    parts += {"preferred": ["prefers spot"], "required": ["requires spot"]}.get(expect.affinity, [])
    parts += [f"grace {expect.grace} s"] if expect.grace else []
    return ", ".join(parts) or "nothing"


def written(page: str, command: str = COMMAND) -> str:
    """Return the table in a page, which a command wrote."""
    return page.partition(_BEGIN.format(command))[2].partition(_END)[0].strip()


def rewritten(page: str, table: str, command: str = COMMAND) -> str:
    """Return the page with this table. Raises ValueError for a page without the marks of a table."""
    head, begin, rest = page.partition(_BEGIN.format(command))
    _, end, tail = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"the page has no lines {_BEGIN.format(command)} and {_END}")
    return f"{head}{begin}\n\n{table}\n\n{end}{tail}"


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(rewritten(path.read_text(), content))
