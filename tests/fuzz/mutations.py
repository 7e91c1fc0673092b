"""Mutations of a stack file's settings, and of its bytes. Gentle ones mostly stay legal; wild ones do not care."""

import copy
import re
from collections.abc import Callable
from random import Random
from typing import Any

from tests.fuzz import corpus, values
from tests.fuzz.corpus import Place

Settings = dict[str, Any]
Mutation = Callable[[Settings, str, Random], None]
"""Changes settings in place, those of a file of this provider."""


def get(settings: Settings, place: Place) -> Any:
    value: Any = settings
    for part in place:
        value = value[part]
    return value


def put(settings: Settings, place: Place, value: Any) -> None:
    get(settings, place[:-1])[place[-1]] = value


def remove(settings: Settings, place: Place) -> None:
    del get(settings, place[:-1])[place[-1]]


def _any_place(settings: Settings, random: Random) -> Place:
    return random.choice([place for place, _ in corpus.places(settings)])


def _place_of(kind: type | tuple[type, ...], settings: Settings, random: Random) -> Place | None:
    found = [place for place, value in corpus.places(settings) if isinstance(value, kind)]
    return random.choice(found) if found else None


def set_key(settings: Settings, provider: str, random: Random) -> None:
    """Give any key of any object of the file a value that is allowed there."""
    objects = [(), *(place for place, value in corpus.places(settings) if isinstance(value, dict))]
    place = random.choice(objects)
    known = (corpus.node(place, provider) or {}).get("properties")
    if known:
        where = (*place, random.choice(list(known)))
        if where != ("cloud", "provider"):
            put(settings, where, values.allowed(where, provider, settings, random))


def change_value(settings: Settings, provider: str, random: Random) -> None:
    """Change a value into another one that is allowed there."""
    place = _any_place(settings, random)
    if place[0] != "release" and place != ("cloud", "provider") and corpus.node(place, provider):
        put(settings, place, values.allowed(place, provider, settings, random))


def change_number(settings: Settings, provider: str, random: Random) -> None:
    """Move a number a little, or to an edge."""
    place = _place_of((int, float), settings, random)
    if place:
        number = get(settings, place)
        put(
            settings,
            place,
            random.choice((number + 1, number - 1, number * 2, number * 10, 0, 1, -number, str(number))),
        )


def of_another_file(settings: Settings, provider: str, random: Random) -> None:
    """Take a value from the same place of another file for the same cloud."""
    place = random.choice([place for place in corpus.values() if len(place) < 4])
    others = corpus.suiting(place, provider)
    if others and place != ("cloud", "provider") and 0 not in place:
        parent = settings
        for part in place[:-1]:
            parent = parent.setdefault(str(part), {}) if isinstance(parent, dict) else {}
        if isinstance(parent, dict):
            parent[str(place[-1])] = copy.deepcopy(random.choice(others))


def remove_any(settings: Settings, provider: str, random: Random) -> None:
    remove(settings, _any_place(settings, random))


def another_pool(settings: Settings, provider: str, random: Random) -> None:
    """Add one more pool: a copy of one of this file or another, under another name."""
    pools = settings.get("pools")
    others = corpus.suiting(("pools", 0), provider)
    if isinstance(pools, list) and others:
        pool = copy.deepcopy(random.choice([*pools, *others]))
        if isinstance(pool, dict):
            pool["name"] = f"more{len(pools)}"
        pools.insert(random.randint(0, len(pools)), pool)


def nasty_value(settings: Settings, provider: str, random: Random) -> None:
    put(settings, _any_place(settings, random), values.nasty(random))


def edge_number(settings: Settings, provider: str, random: Random) -> None:
    """Change a number into one at an edge, of another kind or out of all proportion."""
    place = _place_of((int, float), settings, random)
    if place:
        number = random.choice(values.NUMBERS)
        put(settings, place, str(number) if random.random() < 0.2 and abs(number) < 10**300 else number)


def nasty_key(settings: Settings, provider: str, random: Random) -> None:
    place = _place_of(dict, settings, random) or ()
    key = random.choice([*values.TEXTS, *corpus.keys()])
    put(settings, (*place, key), values.nasty(random))


def rename_key(settings: Settings, provider: str, random: Random) -> None:
    """Write a key with a typo or in another case, or as another key."""
    place = _any_place(settings, random)
    key = place[-1]
    if isinstance(key, str) and key:
        at = random.randrange(len(key))
        new = random.choice(
            (key[:at] + key[at + 1 :], key.upper(), key + "s", key.swapcase(), random.choice(corpus.keys()))
        )
        value = get(settings, place)
        remove(settings, place)
        put(settings, (*place[:-1], new), value)


def wrap(settings: Settings, provider: str, random: Random) -> None:
    """Put a value into a list or an object, or the first value of such a one in its place."""
    place = _any_place(settings, random)
    value = get(settings, place)
    forms: list[Any] = [[value], {"value": value}, str(value), {str(n): item for n, item in enumerate([value])}]
    if isinstance(value, dict):
        forms += [list(value), list(value.values()), *list(value.values())[:1]]
    if isinstance(value, list):
        forms += [*value[:1], {str(n): item for n, item in enumerate(value)}]
    put(settings, place, random.choice(forms))


def swap(settings: Settings, provider: str, random: Random) -> None:
    """Exchange two values."""
    one, other = _any_place(settings, random), _any_place(settings, random)
    first, second = copy.deepcopy(get(settings, one)), copy.deepcopy(get(settings, other))
    if one[: len(other)] != other and other[: len(one)] != one:
        put(settings, one, second)
        put(settings, other, first)


def of_anywhere(settings: Settings, provider: str, random: Random) -> None:
    """Take a value from any place of any file, another cloud's too."""
    at = random.choice(list(corpus.values()))
    put(settings, _any_place(settings, random), copy.deepcopy(random.choice(corpus.values()[at])[1]))


def repeat_item(settings: Settings, provider: str, random: Random) -> None:
    place = _place_of(list, settings, random)
    if place and (items := get(settings, place)):
        items.insert(random.randint(0, len(items)), copy.deepcopy(random.choice(items)))


def change_text(settings: Settings, provider: str, random: Random) -> None:
    """Take characters of a text away, repeat or add some."""
    place = _place_of(str, settings, random)
    if place:
        text = get(settings, place)
        at = random.randint(0, len(text))
        extra = random.choice(("-", ".", "/", "_", " ", "0", "9", "A", "é", "\n", "\x1b", "\ud800", "x" * 70, text))
        put(
            settings,
            place,
            random.choice((text[:at] + extra + text[at:], text[:at], text[at:], text.upper(), text.title())),
        )


GENTLE: tuple[Mutation, ...] = (
    *(set_key, set_key, set_key, change_value, change_value, change_number, of_another_file, remove_any, another_pool),
)
WILD: tuple[Mutation, ...] = (
    *(nasty_value, nasty_value, nasty_value, nasty_key, rename_key, wrap, swap, of_anywhere, repeat_item, change_text),
    change_text,
    edge_number,
    edge_number,
)

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


def mutated_text(text: str, random: Random) -> bytes:
    """Return the bytes of a stack file after a few mutations: what an editor, a merge or an attacker makes of YAML."""
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
