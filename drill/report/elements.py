"""HTML of which every text is escaped: names and messages come from clusters and files that nobody vouches for."""

from __future__ import annotations

from html import escape


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


_VOID = {"meta", "br"}


def element(name: str, /, *children: str, **attributes: str | None) -> Html:
    """An element. Plain strings are escaped, `Html` is not; an attribute's name may end in `_`, None leaves it out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Texts and markup one after another."""
    return Html(
        "".join(
            child if isinstance(child, Html) else escape(printable(child)) for child in children
        )
    )


def printable(text: str) -> str:
    """A text without control characters: they move cursors in a terminal, and XML has none."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text
    )
