"""Harmless Markdown: an untrusted text is shown and does nothing else, in a sentence, a piece of
code or a block of code.

Two readers must find no markup. The Markdown parser: every character that means something to it is
written as a numeric entity, which never is structure (spec.commonmark.org, "Entity and numeric
character references"); so no tag must be closed, and a `|` does not end a table's cell
(github.github.com/gfm, "Tables"). Then GitHub's own filters, which look at the text of the finished
page, where an entity is a character again; a separator inside their patterns stops them:

- `@user`, `@org/team`: docs.github.com "Basic writing and formatting syntax", "Mentioning people"
- `#1`, `org/repo#1`, `GH-1`, commits' hashes, URLs: "Autolinked references and URLs"
- `www.` and e-mail addresses: github.github.com/gfm, "Autolinks (extension)"
- `:emoji:`: "Basic writing and formatting syntax", "Using emojis"
- `$x$`: docs.github.com "Writing mathematical expressions", which puts the dollar sign in a `span`

They leave code alone, but the parser does not know the tag `<code>`: its automatic links are
separated there too, and mentions for safety, by `<wbr>`, which is no character: a reader copies the
exact value, and types and digests wrap. The separator in sentences is a zero-width space, where
mentions are known to stop (Renovate writes it after each `@`).
"""

import re
import unicodedata

_MARKUP = r"[&<>|`*_\[\]~\\]"
"""`"` and `'` are markup in tags only; `-`, `+`, `=`, `#` and digits at the beginning of a line,
where no such text stands."""

_LINKED = r"@|:(?=/)|(?i:www(?=\.))"
"""The parser itself would make a link after these."""

_FILTERED = rf"#|:(?=\S)|(?i:GH-(?=\d))|[0-9A-Fa-f]{{6}}(?=[0-9A-Fa-f])|{_LINKED}"
"""GitHub's filters would match after these."""

_IN_TEXT = re.compile(rf"(?P<part>{_FILTERED})|(?P<markup>{_MARKUP})|(?P<dollar>\$)|(?P<line>\n)")
_IN_BLOCK = re.compile(
    rf"(?P<part>{_LINKED}|:|[0-9A-Fa-f]{{32}}(?=[0-9A-Fa-f]))|(?P<markup>{_MARKUP})|(?P<dollar>\$)"
)
_SPACES = re.compile("(?<= ) |^ | $")

# Invisible letters, marks and symbols: Unicode's Default_Ignorable_Code_Point, Hangul fillers, the
# empty Braille cell.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}
_LINE = "\n"
_HARD_SPACE = "\u00a0"
_NAMED = {_LINE: r"\n", "\t": r"\t", "\r": r"\r"}


def text(value: str) -> str:
    """Return a sentence: its line breaks stay, blank lines go."""
    lines = (" ".join(line.split()) for line in _unbroken(value).split("\n"))
    clean = visible("\n".join(line for line in lines if line), keep=_LINE)
    shown = _IN_TEXT.sub(_in_text, clean)
    # Else an item of a list could begin with another list or a heading.
    bare = shown[:1] not in ("", "&") and shown[0] == clean[0] and not clean[0].isalpha()
    return _entity(clean[0]) + shown[1:] if bare else shown


def code(value: str) -> str:
    """Return a name or a value, on one line."""
    # Several spaces would be shown as one.
    return f"<code>{_IN_BLOCK.sub(_in_block, _SPACES.sub(_HARD_SPACE, visible(value)))}</code>"


def block(value: str) -> str:
    """Return a block of several lines.

    A fence's end would depend on its content; this HTML block ends only at `</pre>`
    (spec.commonmark.org, "HTML blocks", start condition 1).
    """
    return (
        f"<pre>{_IN_BLOCK.sub(_in_block, visible(_unbroken(value).strip(_LINE), keep=_LINE))}</pre>"
    )


def visible(value: str, keep: str = "") -> str:
    """Return a text with escapes for invisible characters and for those that turn the direction of
    writing (trojansource.codes)."""
    return re.sub(
        r"[^\x20-\x7e]", lambda match: match[0] if match[0] in keep else _visible(match[0]), value
    )


def _visible(character: str) -> str:
    # C: controls, formats, surrogates, private and unassigned ones. Z: separators; the space itself
    # never comes here.
    if unicodedata.category(character)[0] not in "CZ" and character not in _BLANK:
        return character
    return _NAMED.get(character) or (
        f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
    )


def _unbroken(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\t", "    ")


def _in_text(match: re.Match[str]) -> str:
    if match["part"]:
        return f"{match['part']}&#8203;"
    if match["dollar"]:
        return "<span>$</span>"
    return "<br>" if match["line"] else _entity(match[0])


def _in_block(match: re.Match[str]) -> str:
    if match["part"]:
        return f"{match['part']}<wbr>"
    return "<span>$</span>" if match["dollar"] else _entity(match[0])


def _entity(character: str) -> str:
    return f"&#{ord(character)};"
