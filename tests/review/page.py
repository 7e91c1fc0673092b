"""A Markdown page as a browser shows it, by a CommonMark parser with GitHub's tables and Python's HTML parser."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

TAGS = {
    *("h2", "h3", "p", "ul", "li", "blockquote", "details", "summary", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
    *("code", "pre", "strong", "b", "br", "wbr", "span"),
}
VOID = {"br", "wbr"}

# Patterns of GitHub's own filters in the text outside of code: docs.github.com "Autolinked references and URLs", "Basic
# writing and formatting syntax", "Writing mathematical expressions".
FILTERED = re.compile(
    r"@[A-Za-z0-9]|#\d|(?i:\bgh-\d)|\b[0-9a-f]{7,40}\b|:[a-z0-9_+-]+:|\w+://|www\.|\$[^$\s][^$]*\$|[\w.+-]+@[\w-]+\.\w"
)


@dataclass
class Page(HTMLParser):
    """The contents of a page: tags, links, and texts with their place."""

    source: str
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    unbalanced: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    """Each text node with the innermost of `code`, `pre`, `a` around it, or an empty name."""
    cells: list[int] = field(default_factory=list)
    """The number of cells of each row of a table."""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(_PARSER.render(self.source))
        self.close()
        self.unbalanced += self.opened

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.opened.append(tag)
        if tag == "tr":
            self.cells.append(0)
        if tag in ("td", "th"):
            self.cells[-1] += 1

    def handle_endtag(self, tag: str) -> None:
        if not self.opened or self.opened.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        within = [tag for tag in self.opened if tag in ("code", "pre", "a")]
        self.texts.append((within[-1] if within else "", data))

    def handle_comment(self, data: str) -> None:
        self.odd.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.odd.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.odd.append(f"instruction {data}")

    def unknown_decl(self, data: str) -> None:
        self.odd.append(f"declaration {data}")

    @property
    def text(self) -> str:
        """The whole text, as a reader sees it."""
        return "".join(data for _, data in self.texts)

    def check(self, pointer: str = "") -> None:
        """Check that only the markup of the report itself is active."""
        assert not self.odd
        assert not self.unbalanced
        for tag, attributes in self.tags:
            assert tag in TAGS, tag
            allowed = {"style": "text-align:right"} if tag in ("td", "th") else {"href": pointer} if tag == "a" else {}
            assert attributes.items() <= allowed.items(), (tag, attributes)
        for within, data in self.texts:
            if within != "a":
                assert within or not FILTERED.search(data), data
                # A text node of its own: a filter sees no name after the sign.
                assert not re.search(r"@[A-Za-z0-9]|www\.|://", data), data
