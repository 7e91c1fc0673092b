"""A text that is nearly YAML as it was probably meant: line by line, by the parser's word."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import product

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_SECRET = re.compile(r"passw|secret|token|credential|kubeconfig|key\b|\S{40}", re.IGNORECASE)
"""Words of a line that may hold a secret: no message shows it."""

_FORMS = (
    (r"^(\s*)-(?=[A-Za-z\"'{\[])", r"\1- "),
    (r"^(\s*)[\u2010-\u2015] ", r"\1- "),
    (r"^(\s*(?:- )?[A-Za-z][\w:.-]*) ?= ?(?=\S)", r"\1: "),
    (r"^(\s*(?:- )?[\w:-]*\w) +([^\s:#]+)$", r"\1: \2"),
    (r"^(\s*[\w:-]*\w) *$", r"\1:"),
    (r" //", " #"),
    (r" #[^,\]}]*,", ""),
    (r", *$", ""),
    (r"[\]}] *$", ""),
    (r"^(.*\"[^\"]*?)(?=[\]},]| +#|$)", r'\1"'),
    (r"^(.*'[^']*?)(?=[\]},]| +#|$)", r"\1'"),
    (r"( +#.*)?$", r"]\1"),
    (r"( +#.*)?$", r"}\1"),
    (r"(?<=[\w\"'\]}]) +([A-Za-z][\w-]*: )", r", \1"),
    (r"^(\s*[a-z]+-[a-z]+): (?=[a-z]\w*: )", r"\1:"),
    (r": ([^\"'#]*\S)", r': "\1"'),
    (r"^(\s*)  (name: .*)$", r"\1- \2"),
)
"""What a line was probably meant to be, by its form: the first that the parser takes is it."""


_PASSAGES = (
    (r"^<{7}.*\n((?:.*\n)*?)={7}.*\n(?:.*\n)*?>{7}.*$", r"\n\1"),
    (r"^```.*$", ""),
    ("\u00a0", " "),
    (r"(^[^#\n\"']*: *)(\{\{.*?\}\}\S*)", r'\1"\2"'),
)
"""What is mended in all of a text at once: conflicts of git, of which the first side stays, fences, spaces, templates."""


def _with_lines(meant: str, found: re.Match[str]) -> str:
    """Return what a passage means, in as many lines: those below it keep their numbers."""
    new = found.expand(meant)
    return new + "\n" * (found[0].count("\n") - new.count("\n"))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, and an empty one: the parser may stop behind the last."""
    return [*text.splitlines(), ""]


def faulty_line(text: str) -> int | None:
    """Return the line where the parser stops, from 0 on; None for YAML."""
    try:
        YAML(typ="safe", pure=True).load(text)
    except YAMLError as broken:
        marks = (getattr(broken, name, None) for name in ("problem_mark", "context_mark"))
        return next((mark.line for mark in marks if mark), 0)
    except (RecursionError, TypeError, ValueError):
        return None  # of another kind: no line is at fault
    return None


def mend(text: str, number: int, said: str = "") -> tuple[str, str] | None:
    """Return the text with one fault mended, at a line or next to it, and the line then; None if no form helps.

    `said` is what its message says to write.
    """
    for form, meant in _PASSAGES:
        if (after := re.sub(form, partial(_with_lines, meant), text, flags=re.MULTILINE)) != text:
            return after, ""
    stopped = faulty_line(text)
    if stopped is None:
        return None
    lines = lines_of(text)
    for index in dict.fromkeys((number, stopped, stopped - 1)):
        best, reached = None, max(stopped, index)
        for line in _meant(lines, index, said if index == number else ""):
            after = "\n".join([*lines[:index], line, *lines[index + 1 :]]) + "\n"
            further = faulty_line(after)
            if further is None:
                return after, line
            if further > reached:
                best, reached = (after, line), further
        if best:
            return best
    above = columns(lines[number - 1])
    widths = sorted(_WIDTHS, key=lambda width: columns(lines[number].expandtabs(width)) != above)
    for width in widths if "\t" in lines[number] else ():
        after = re.sub(r"^[ \t]+", partial(_spaces, width), text, flags=re.MULTILINE)
        further = faulty_line(after)
        if further is None or further > stopped:
            return after, lines_of(after)[number]
    return indent_more(text, number)


_SETTING = re.compile(r"\s*[a-z]+(-[a-z]+)*:\w+:(\s|$)")
"""A setting with its namespace, as below `config`."""


def top_column(lines: list[str], stopped: int) -> int | None:
    """Return the column of the settings above, if a line, from 1 on, is a setting that stands deeper; else None."""
    if not 0 < stopped <= len(lines) or not _SETTING.match(lines[stopped - 1]):
        return None
    above = [columns(line) for line in lines[: stopped - 1] if _SETTING.match(line)]
    return min(above) if above and min(above) < columns(lines[stopped - 1]) else None


def to_the_settings(text: str, number: int) -> tuple[str, str] | None:
    """Return the text with a setting, and what is below it, moved left to the column of the settings above."""
    lines = lines_of(text)
    column = top_column(lines, number + 1)
    if column is None:
        return None
    own = columns(lines[number])
    end = next((n for n in range(number + 1, len(lines)) if lines[n].strip() and columns(lines[n]) <= own), len(lines))
    moved = [line[min(columns(line), own - column) :] for line in lines[number:end]]
    after = "\n".join([*lines[:number], *moved, *lines[end:]]) + "\n"
    return (after, moved[0]) if faulty_line(after) is None else None


def one_list(text: str, number: int) -> tuple[str, str] | None:
    """Return the text with the list under a repeated key as the end of the one under the first; None for other values.

    Single lines between the two go to the end: all others keep their numbers.
    """
    lines = lines_of(text)
    key, own = lines[number].strip(), columns(lines[number])
    first = next((n for n in range(number) if lines[n].strip() == key and columns(lines[n]) == own), None)
    if first is None or not all(lines[n + 1].lstrip().startswith("-") for n in (first, number)):
        return None
    end, last = _below(lines, first), _below(lines, number)
    between = lines[end:number]
    if any(columns(line) != own for line in between if line.strip() and not line.lstrip().startswith("#")):
        return None
    blank = [""] * (number + 1 - end)
    after = "\n".join([*lines[:end], *blank, *lines[number + 1 : last], *lines[last:], *between]) + "\n"
    return (after, "") if faulty_line(after) is None else None


def _below(lines: list[str], number: int) -> int:
    """Return the line behind a key and its list, whose dashes may stand in the key's column."""
    own = columns(lines[number])
    for following in range(number + 1, len(lines)):
        line = lines[following]
        if line.strip() and columns(line) <= own and not line.lstrip().startswith(("#", "- ")):
            return following
    return len(lines)


def without_line(text: str, number: int) -> tuple[str, str]:
    """Return the text with an empty line in place of one, as `mend` does."""
    lines = lines_of(text)
    return "\n".join([*lines[:number], "", *lines[number + 1 :]]) + "\n", ""


def indent_more(text: str, number: int) -> tuple[str, str] | None:
    """Return the text with a line, perhaps with what is as deep or deeper below it, moved right or left."""
    lines = lines_of(text)
    own = columns(lines[number])
    below = next((n for n in range(number, len(lines)) if lines[n].strip() and columns(lines[n]) < own), len(lines))
    for shift, end in product(_SHIFTS, (number + 1, below)):
        moved = [" " * (columns(line) + shift) + line.strip() for line in lines[number:end]]
        after = "\n".join([*lines[:number], *moved, *lines[end:]]) + "\n"
        if faulty_line(after) is None:
            return after, moved[0]
    return None


_SHIFTS = (1, -1, 2, -2, 3, -3, 4, -4)
"""Columns to the right."""


def columns(line: str) -> int:
    """Return the columns that a line is indented by."""
    return len(line) - len(line.lstrip())


def _spaces(width: int, indent: re.Match[str]) -> str:
    return indent[0].expandtabs(width)


_WIDTHS = (2, 4, 6, 8)
"""Columns that a tab may stand for."""


def _meant(lines: list[str], index: int, said: str) -> Iterator[str]:
    if not 0 <= index < len(lines) or "\t" in lines[index]:
        return
    if said:
        yield re.sub(r"^(\s*(?:- )?).*", lambda begin: begin[1] + said.removeprefix("- "), lines[index])
    line = lines[index].translate(dict.fromkeys(range(0x201C, 0x201F), '"'))
    if line != lines[index]:
        yield line
    for form, meant in _FORMS:
        new = re.sub(form, meant, line, count=1)
        if new != line:
            yield new


def entry_above(lines: list[str], stopped: int) -> int | None:
    """Return the line of the last key of a list's entry whose dash has the indent of the line that stopped; from 1 on."""
    key = re.match(r"\s*[A-Za-z\"']", lines[stopped - 1]) if 0 < stopped <= len(lines) else None
    own = columns(lines[stopped - 1]) if key else 0
    for number in range(stopped - 1, 0, -1):
        line = lines[number - 1]
        if not own or not line.strip() or columns(line) < own:
            return None
        if columns(line) == own:
            last = next((n for n in range(stopped - 1, number, -1) if columns(lines[n - 1]) == own + 2), None)
            return last if line.lstrip().startswith("- ") else None
    return None


def of_values(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, except comments and texts of several lines, which `|` and `>` begin."""
    block: int | None = None
    for number, line in enumerate(lines, 1):
        indent = columns(line)
        if block is not None and (not line.strip() or indent > block):
            continue
        block = indent if re.search(r"[|>][+-]?\d?\s*$", line) else None
        if plain := re.sub(r"(^|\s)#.*", "", line).rstrip():
            yield number, plain


def shown(line: str, before: str) -> str:
    """Return what to do about a line, `before`, that has become another, as a message says it; empty if the new one
    may hold a secret, or goes on below.
    """
    shift = columns(line) - columns(before)
    if "\t" in before and line.strip() == before.strip():
        return f"begin it with {columns(line)} spaces"
    if line.strip() == before.strip() and shift:
        return f"move it {abs(shift)} column{'s' if abs(shift) > 1 else ''} to the {'right' if shift > 0 else 'left'}"
    if not re.search(r"\w[\"']?: \S", line):
        return ""  # perhaps a part of a text of several lines
    whole = all(line.count(left) == line.count(right) for left, right in ("{}", "[]"))
    return f"write `{line.strip()}`" if whole and not _SECRET.search(line) else ""
