import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.harmless import block, code, text
from tests.review.page import Page

NASTY = [
    *("@octocat", "@acme/sre", "a@b.example", "#123", "acme/cluster#1", "GH-26"),
    *("a5c3785ed8d6a35868bc169f07e40e889087fd2e", "https://evil.example/?a=b", "HTTP://evil.example"),
    *("www.evil.example", "mailto:a@b.example", ":rocket:", "$x^2$", "$`x`$"),
    *("**bold** __bold__ *i* _i_ ~~gone~~ ~a~", "[text](https://evil.example)"),
    *("![img](https://evil.example/x.png)", "[ref]: https://evil.example", "[^1]", "<https://evil.example>"),
    *("<a href=javascript:alert(1)>x</a>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"),
    *("</details></summary><details open>", "</td></tr></table>", "</code></pre>", "<!-- hidden -->"),
    *("<![CDATA[x]]>", "<?php ?>", "&lt;b&gt; &amp; &#64;octocat &commat;octocat", "`code` ``` ~~~"),
    *("a | b || c \\| d \\\\| e", "# heading", "1. one", "- [ ] task", "+ plus", "> [!CAUTION]\n> quote"),
    *("===\n---\n***", "| a |\n|---|\n| b |", "```\n@octocat\n```", "    indented", "a  b   c"),
    *(" lead and trail ", "back\\slash \\@octocat \\# \\", "\u200b\u200d\ufeff zero width"),
    *("\u202etxt.exe\u2066 bidi", "\x00\x07\x1b[31mred\x1b[0m", "\u2028line\u2029paragraph\x85\xa0nbsp"),
    *("\ud800 lone", "ünï 中文 🚀"),
]
BITS = st.sampled_from(
    [*NASTY, *"@#:`|<>&*_[]()!\\$~-+=.\n\r\t /;\"'", "www", "0a1b2c3d", "octocat", "1", "<wbr>", "&#8203;"]
)
NASTY_TEXT = st.one_of(
    st.lists(BITS, max_size=8).map("".join),
    st.text(max_size=40),
    st.text(st.characters(categories=["C", "Z", "P", "S"]), max_size=20),
)


BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"


def seen(value: str, kept: str = " ") -> str:
    """Return the text of a value that a reader should see, computed without Markdown."""
    named = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}

    def shown(character: str) -> str:
        selector = 0xFE00 <= ord(character) < 0xFE10 or 0xE0100 <= ord(character) < 0xE01F0
        unseen = unicodedata.category(character)[0] in "CZ" or character in BLANK or selector
        if character in kept or not unseen:
            return character
        return named.get(
            character, f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
        )

    return "".join(map(shown, value))


def unbroken(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\t", "    ")


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize("place", ["x {}", "- {}", "| a | b |\n| - | - |\n| {} | x |", "> {}", "**{}**, x"])
@pytest.mark.parametrize("shown", [text, code])
def test_a_text_is_shown_and_inactive_in_every_place(value: str, place: str, shown: Callable[[str], str]) -> None:
    page = Page(place.replace("{}", shown(value)))
    page.check()
    assert set(page.cells) <= {2}
    kept = [tag for tag, _ in page.tags if tag in ("a", "img", "h2", "h3", "pre", "details")]
    assert not kept
    assert len([tag for tag, _ in page.tags if tag == "li"]) <= 1


def name_is_seen(value: str) -> None:
    page = Page(f"| a | b |\n| - | - |\n| {code(value)} | x |\n")
    page.check()
    assert page.cells == [2, 2]
    shown = "".join(data for within, data in page.texts if within == "code")
    # A browser shows several spaces as one, and none at the end of a line.
    assert not re.search("^ | $|  ", shown)
    assert shown.replace("\xa0", " ") == seen(value)


def sentence_is_seen(value: str) -> None:
    page = Page(f"| a | b |\n| - | - |\n| {text(value)} | x |\n")
    page.check()
    assert page.cells == [2, 2]
    # Between the heads and the second cell.
    shown = re.sub(r"\s|\u200b", "", page.text)[2:-1]
    # The width of a gap is not kept; other blanks are visible.
    assert shown == re.sub(
        r"\s", "", seen("\n".join(" ".join(line.split()) for line in unbroken(value).split("\n")), " \n")
    )


def block_is_seen(value: str) -> None:
    page = Page(f"{block(value)}\n\nafter\n")
    page.check()
    shown = "".join(data for within, data in page.texts if within == "pre")
    assert shown == seen(unbroken(value).strip("\n"), " \n")
    assert page.texts[-2] == ("", "after")


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize("is_seen", [name_is_seen, sentence_is_seen, block_is_seen])
def test_known_hostile_texts_are_shown_as_they_are(value: str, is_seen: Callable[[str], None]) -> None:
    is_seen(value)


@given(NASTY_TEXT)
def test_any_text_is_shown_as_it_is(value: str) -> None:
    name_is_seen(value)
    sentence_is_seen(value)
    block_is_seen(value)


def test_invisible_characters_are_written_as_escapes() -> None:
    assert code("a\u202eb\u200bc\x1bd\u3164") == "<code>a&#92;u202eb&#92;u200bc&#92;u001bd&#92;u3164</code>"


def test_text_copied_from_code_is_the_value() -> None:
    digest = f"registry.example/image@sha256:{'0123456789abcdef' * 4}"
    assert "".join(data for within, data in Page(f"x {code(digest)}").texts if within) == digest
