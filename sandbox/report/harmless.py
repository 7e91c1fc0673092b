"""A stranger's text as Markdown that shows it and does nothing else. Three places: a sentence, a piece of code, a block of code.

Two readers have to be kept from finding markup. The Markdown parser: every character that means something to it is written as a
numeric entity, which never is structure (spec.commonmark.org, "Entity and numeric character references"); so nothing has to be
paired, and a `|` does not end a table's cell (github.github.com/gfm, "Tables"). Then GitHub's own filters, which look at the text
of the finished page, where an entity is a character again; they are stopped by parting what they look for:

- `@user`, `@org/team`: docs.github.com "Basic writing and formatting syntax", "Mentioning people and teams"
- `#1`, `org/repo#1`, `GH-1`, commits' hashes, URLs: docs.github.com "Autolinked references and URLs"; `www.` and e-mail addresses:
  github.github.com/gfm, "Autolinks (extension)"
- `:emoji:`: "Basic writing and formatting syntax", "Using emojis"
- `$x$`: docs.github.com "Writing mathematical expressions"; a dollar sign in a `span` of its own is the way that page names

They leave code alone, but the parser does not know the tag `<code>`: what it links by itself is parted there too, and mentions for
good measure, by `<wbr>`, which is no character, so that what is copied is the value (and types and digests wrap). Sentences are
parted by a zero-width space, of which it is known that mentions stop at it (Renovate writes it after each `@`).
"""

from __future__ import annotations

import re
import unicodedata

_MARKUP = r"[&<>|`*_\[\]~\\]"
"""`"` and `'` mean something in tags only; `-`, `+`, `=`, `#` and digits where a line begins, which no such text ever does."""

_LINKED = r"@|:(?=/)|(?i:www(?=\.))"
"""After these the parser itself would make a link."""

_FILTERED = rf"#|:(?=\S)|(?i:GH-(?=\d))|[0-9A-Fa-f]{{6}}(?=[0-9A-Fa-f])|{_LINKED}"
"""After these GitHub's filters find something."""

_IN_TEXT = re.compile(rf"(?P<part>{_FILTERED})|(?P<markup>{_MARKUP})|(?P<dollar>\$)|(?P<line>\n)")
_IN_BLOCK = re.compile(rf"(?P<part>{_LINKED}|:|[0-9A-Fa-f]{{32}}(?=[0-9A-Fa-f]))|(?P<markup>{_MARKUP})|(?P<dollar>\$)")
_SPACES = re.compile("(?<= ) |^ | $")

# Blank though they are letters, marks or symbols: Unicode's Default_Ignorable_Code_Point, Hangul fillers, the empty Braille cell.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}
_LINE = "\n"
_HARD_SPACE = "\u00a0"
_NAMED = {_LINE: r"\n", "\t": r"\t", "\r": r"\r"}


def text(value: str) -> str:
    """Of a sentence: its line breaks stay, blank lines go."""
    lines = (" ".join(line.split()) for line in _unbroken(value).split("\n"))
    seen = seeable("\n".join(line for line in lines if line), keep=_LINE)
    shown = _IN_TEXT.sub(_in_text, seen)
    # Else an item of a list could begin with another list or a heading.
    bare = shown[:1] not in ("", "&") and shown[0] == seen[0] and not seen[0].isalpha()
    return _entity(seen[0]) + shown[1:] if bare else shown


def code(value: str) -> str:
    """Of a name or a value, on one line."""
    # Of several spaces one would be shown.
    return f"<code>{_IN_BLOCK.sub(_in_block, _SPACES.sub(_HARD_SPACE, seeable(value)))}</code>"


def block(value: str) -> str:
    """Of several lines. No fence: its end would depend on what is in it, and an `@` would have to stay whole. The end of this HTML
    block is `</pre>` and nothing else (spec.commonmark.org, "HTML blocks", start condition 1)."""
    return f"<pre>{_IN_BLOCK.sub(_in_block, seeable(_unbroken(value).strip(_LINE), keep=_LINE))}</pre>"


def seeable(value: str, keep: str = "") -> str:
    """With what cannot be seen, or turns the direction of what follows, written as an escape (trojansource.codes)."""
    return re.sub(r"[^\x20-\x7e]", lambda found: found[0] if found[0] in keep else _seen(found[0]), value)


def _seen(character: str) -> str:
    # C: controls, formats, surrogates, private and unassigned ones. Z: separators; the space itself is not asked about.
    if unicodedata.category(character)[0] not in "CZ" and character not in _BLANK:
        return character
    return _NAMED.get(character) or (
        f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
    )


def _unbroken(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\t", "    ")


def _in_text(found: re.Match[str]) -> str:
    if found["part"]:
        return f"{found['part']}&#8203;"
    if found["dollar"]:
        return "<span>$</span>"
    return "<br>" if found["line"] else _entity(found[0])


def _in_block(found: re.Match[str]) -> str:
    if found["part"]:
        return f"{found['part']}<wbr>"
    return "<span>$</span>" if found["dollar"] else _entity(found[0])


def _entity(character: str) -> str:
    return f"&#{ord(character)};"
