"""Mutations of a stack file's bytes: what an editor, a merge or an attacker makes of YAML."""

from __future__ import annotations

import re
from random import Random

# fmt: off
TOKENS = [
    b"&a ", b"*a", b"<<: *a\n", b"<<: {name: x}\n", b"&a [*a]", b"!!binary aGVsbG8=", b"!!set {a}", b"!!omap [a: 1]",
    b"!own x", b"!!timestamp 2026-11-01", b"!!python/object/apply:os.getcwd []", b"? ", b"? [a, b]\n: c\n", b"---\n",
    b"...\n", b"%YAML 1.1\n", b"\t", b"\r", b"\r\n", b"\x00", b"\x1b", b"\x85", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff",
    b"\xed\xa0\x80", b'"\\ud800"', b'"\\x1b"', b'"\\q"', b"0o17", b"017", b"0x1F", b"1:30:00", b"2026-11-01", b"2026-13-45",
    b"2026-11-01T10:00:00Z", b"1_000", b"1e400", b".inf", b"-.inf", b".nan", b"9" * 400, b"9" * 4400, b"yes", b"No", b"~",
    b"null", b"{", b"}", b"[", b"]", b"|\n", b">-\n", b"'", b'"', b"#", b": ", b":", b"- ", b",", b"@", b"`", b"{{ x }}",
    b"${X}", b"1: x\n", b"true: x\n", b"null: x\n", b"1.5: x\n", b"2026-11-01: x\n", b"[" * 300 + b"]" * 300,
    b"{a: " * 1200 + b"}" * 1200, b"secure: AAABAA==\n", b"secure: [1]\n", b"\n\n", b"", b"config:\n",
    b"encryptionsalt: v1:x:v1:y\n",
]
# fmt: on
LAUGHS = b"a: &a [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + n, 98 + n, b", ".join([b"*%c" % (97 + n)] * 10)) for n in range(8)
)
"""A billion values in a few lines."""


def mutated(text: str, random: Random) -> bytes:
    """The bytes of the text after a few mutations."""
    content = text.encode()
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        content = _mutated(content, random)
    return content + LAUGHS if random.random() < 0.01 else content


def _mutated(content: bytes, random: Random) -> bytes:
    at = random.randint(0, len(content))
    lines = content.split(b"\n")
    line = random.randrange(len(lines))
    match random.choice((0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 8, 8, 8)):
        case 0:
            return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
        case 1:
            return content[:at] + content[at + random.randint(1, 40) :]
        case 2:
            return content[:at] + random.choice(TOKENS) + content[at:]
        case 3:
            lines.insert(random.randrange(len(lines)), lines[line])
        case 4:
            del lines[line]
        case 5:
            lines[line] = random.choice((b"  ", b" ", b"\t", b"- ")) + lines[line]
        case 6:
            lines[line] = lines[line].removeprefix(b"  ")
        case 7:
            if match := list(re.finditer(rb"[a-z0-9.]{3,}", content)):
                word = random.choice(match)
                new = random.choice(
                    (word[0][:-1], word[0] + b"1", word[0].upper(), random.choice(match)[0], random.choice(TOKENS))
                )
                return content[: word.start()] + new + content[word.end() :]
        case _:
            # In place of a value.
            head, colon, _ = lines[line].partition(b": ")
            lines[line] = head + colon + random.choice(TOKENS)
    return b"\n".join(lines)
