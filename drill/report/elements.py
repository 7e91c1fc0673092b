"""HTML with every text escaped: names and messages come from clusters and files of others."""

from __future__ import annotations

from html import escape


class Html(str):
    """Text that is markup: `Html("<br/>")`."""

    __slots__ = ()


_VOID = {"meta", "br"}


def element(name: str, /, *children: str, **attributes: str | None) -> Html:
    """Return an element. Plain strings are escaped, `Html` is not.

    An attribute's name may end in `_`; None leaves it out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Join texts and markup."""
    parts = (each if isinstance(each, Html) else escape(printable(each)) for each in children)
    return Html("".join(parts))


def printable(text: str) -> str:
    """Replace control characters: they move cursors in a terminal, and XML has none."""
    return "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)
