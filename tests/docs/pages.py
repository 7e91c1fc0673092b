"""The pages of the documentation: their headings, links and fenced blocks, as GitHub reads them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"
PAGES = sorted(
    [
        *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *(PROJECT / "config" / "clouds").glob("*/README.md"),
        *DOCS.rglob("*.md"),
    ]
)

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block, with the line above it."""

    page: Path
    line: int
    language: str
    above: str
    text: str

    def __str__(self) -> str:
        return f"{name(self.page)}:{self.line}"


def name(page: Path) -> str:
    """Return the page's path in the repository."""
    return page.relative_to(PROJECT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    text = page.read_text()
    for match in _FENCE.finditer(text):
        before = text[: match.start()]
        above = before.rstrip("\n").rpartition("\n")[2] if before.endswith("\n") else ""
        yield Block(page, before.count("\n") + 1, match[2], above, match[3])


def links(page: Path) -> list[str]:
    """Return the targets of links outside of fenced blocks and code."""
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text())))


def anchors(page: Path) -> set[str]:
    """Return the fragments that lead to headings. A number separates two headings of one name."""
    slugs: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "]", heading).lower()).replace(" ", "-")
        number = next(n for n in range(99) if (slug if n == 0 else f"{slug}-{n}") not in slugs)
        slugs.add(slug if number == 0 else f"{slug}-{number}")
    return slugs


def tables(page: Path) -> Iterator[list[list[str]]]:
    """Yield the tables of a page, each as rows of cells, the heading row first."""
    return tables_of(page.read_text())


def tables_of(text: str) -> Iterator[list[list[str]]]:
    """Yield the tables of a text."""
    rows: list[list[str]] = []
    for line in [*_FENCE.sub("", text).splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif rows:
            yield [row for row in rows if set("".join(row)) - set("-: ")]
            rows = []
