"""Pieces of a Markdown page."""

from collections.abc import Iterable, Sequence


def joined(*parts: str) -> str:
    """Return the parts that have a text, as paragraphs."""
    return "\n\n".join(filter(None, parts))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells without line breaks and bars; a head that ends in a colon stands over
    numbers."""
    lines = [
        [head.removesuffix(":") for head in heads],
        ["--:" if head.endswith(":") else "---" for head in heads],
        *rows,
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def folded(summary: str, inner: str) -> str:
    # Blank lines: the text between the tags is Markdown again (CommonMark, "HTML blocks", condition
    # 6).
    return f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>"


def short(value: str, most: int) -> str:
    return value if len(value) <= most else value[:most] + "…"
