"""Where pods and manifests of other projects land, and ways around the guard; the tests of this folder check each row.

python -m tests.admission.table    # prints where they land; writes the table of docs/placement.md
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.admission.corpus import GETS, STATES, Expect, Golden, corpus
from tests.admission.escapes import ESCAPES, WITH_SETTINGS, Escape
from tests.admission.intrusions import INTRUSIONS
from tests.admission.projects import Manifest
from tests.admission.projects import corpus as manifests

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "placement.md"
COMMAND = "python -m tests.admission.table"
_BEGIN = "<!-- written by {} -->"
_END = "<!-- end of the table -->"


LANDS = {GETS[word]["lands"]: word for word in ("cpu", "spot", "on-demand", "spot-only")} | {("-",) * len(STATES): "-"}
"""Words for a pod's pool in each of STATES; the pages explain them."""


def table(goldens: Iterable[Golden]) -> str:
    """Return the rows in Markdown: pods of one kind that end alike share a row, refused ones a row at the end."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    refused: dict[str, list[str]] = defaultdict(list)
    for golden in sorted(goldens, key=lambda golden: golden.name):
        lands, rule = golden.expect.lands, golden.expect.refused
        if rule:
            refused[rule].append(golden.name.removeprefix("refused-"))
        else:
            alike[golden.expect.kind or "", _added(golden.expect), LANDS.get(lands, "; ".join(lands))].append(
                golden.name
            )
    rows = [row("kind", "added", "lands", "pods"), "|-|-|-|-|"]
    rows += [row(*cells, ", ".join(names)) for cells, names in sorted(alike.items())]
    ends = "; ".join(f"`{rule}`: {', '.join(names)}" for rule, names in sorted(refused.items()))
    return "\n".join([*rows, row("", "refused", "-", ends)])


def escapes(tried: Iterable[Escape]) -> str:
    """Return the ways around the guard in Markdown, by what stops them; of the guard's own rules the number."""
    by: dict[str, list[str]] = defaultdict(list)
    rules: Counter[str] = Counter()
    for escape in tried:
        if escape.by.startswith("guard, rule "):
            rules[escape.by.removeprefix("guard, rule ")] += 1
        else:
            by[escape.by].append(escape.name)
    ends = {"the guard": [", ".join(f"{rule} {number} ways" for rule, number in rules.items())]} if rules else {}
    return "\n".join(
        [row("stopped by", "tried"), "|-|-|", *(row(end, "; ".join(names)) for end, names in (ends | by).items())]
    )


def projects(tried: Iterable[Manifest]) -> str:
    """Return where the public projects' manifests land, in Markdown: roles that end alike for one reason share a row.

    A manifest whose roles all end alike stands there by its name alone; one without a GPU not at all.
    """
    alike: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for manifest in sorted(tried, key=lambda manifest: (manifest.project, manifest.name)):
        ends: dict[tuple[str, str], list[str]] = defaultdict(list)
        for role, word in manifest.expect.items():
            lands = word if isinstance(word, str) else "; ".join(f"{at}: {it}" for at, it in word.items())
            if lands != "cpu":
                ends[lands, manifest.reason(role)].append(role)
        for end, roles in ends.items():
            shown = f"{manifest.name} {'/'.join(roles)}" if len(ends) > 1 else manifest.name
            alike[end][manifest.project].append(shown)
    rows = [row("lands", "why not on spot", "project: manifest, and its roles where they part"), "|-|-|-|"]
    for cells, by in sorted(alike.items()):
        rows.append(row(*cells, "; ".join(f"{project}: {', '.join(names)}" for project, names in by.items())))
    return "\n".join(rows)


def ways(*, through: bool = False) -> str:
    """Return the ways around the guard, or those that nothing stops: the table of the page."""
    tried = (*ESCAPES, *INTRUSIONS, *WITH_SETTINGS)
    return escapes([each for each in tried if not through or each.by.startswith("let through")])


def row(*cells: str) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def _added(expect: Expect) -> str:
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
    PAGE.write_text(rewritten(PAGE.read_text(), ways(through=True)))
    print(table(corpus().values()), projects(manifests().values()), ways(), sep="\n\n")
