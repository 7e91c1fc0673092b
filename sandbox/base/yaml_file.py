"""YAML files, read as the engine reads them."""

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.tokens import AnchorToken

from sandbox.base import yaml_mending
from sandbox.base.errors import SandboxError

MOST_CHARACTERS = 4 << 20
MOST_VALUES = 100_000
"""Also those that aliases repeat: eight lines can stand for a billion."""
MOST_NESTED = 100


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the object in a YAML file. Raises SandboxError for a missing file or other content."""
    try:
        text = path.read_text()
    except FileNotFoundError as missing:
        raise SandboxError(f"{path.name} does not exist in {path.parent}") from missing
    except UnicodeDecodeError as broken:
        raise SandboxError(f"{path.name} is not YAML: {broken}") from broken
    return parsed(text, path.name)


def parsed(text: str, title: str) -> dict[str, Any]:
    """Return the object in a YAML text; errors name its title. Raises SandboxError for other content."""
    # YAML 1.2, as in the engine's own reader: `yes` is a text, and a repeated key is an error.
    if len(text) > MOST_CHARACTERS:
        raise SandboxError(f"{title} has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    try:
        content = YAML(typ="safe", pure=True).load(text)
        _refuse_entities(text, title)
    except RecursionError:
        raise _too_deep(title) from None
    except YAMLError as broken:
        raise _not_yaml(text, title, broken) from None
    except TypeError:
        # Of a list with an object in it as a key, the library asks for a hash.
        raise SandboxError(f"{title} is not YAML: an object or list stands as a key") from None
    except ValueError as broken:
        # A date without such a day, or a number of more digits than Python reads.
        raise SandboxError(f"{title} is not YAML: {broken}") from None
    if content is None:
        raise SandboxError(f"{title} is empty")
    if not isinstance(content, dict):
        raise SandboxError(f"{title} is not a YAML object: write `key: value` lines")
    _check(content, title)
    return content


class NotYaml(SandboxError):
    """A text that is no YAML. `mended` is the text that it probably means, with the same lines; empty if nobody knows."""

    mended: str = ""


def _not_yaml(text: str, title: str, broken: YAMLError) -> NotYaml:
    """Return the error of every fault, as far as each can be mended."""
    told: list[str] = []
    place, whole = title, ""
    while len(told) < _MOST_FAULTS and not whole:
        line, words = _fault(text, broken)
        way = next((way for said, way in _WAYS.items() if said in words), yaml_mending.mend)
        snippet = re.search(r"write `(?!key: value)([^`]+)`", words)
        said = (snippet[1],) if snippet and "..." not in snippet[1] and way is yaml_mending.mend else ()
        mended = way(text, line - 1, *said) if line and way and len(text) < _MENDED else None
        if own := yaml_mending.shown(mended[1], yaml_mending.lines_of(text)[line - 1]) if mended and line else "":
            unsaid = re.search(r"write `(key: value|[^`]*: \.\.\.)`", words)
            more = "" if "write " in words or "indent it, and" in words else f"; {own}"
            words = words.replace(unsaid[0], own) if unsaid else words + more
        if not told and line:
            place = f"{title}:{line}"
        told.append(f"line {line}: {words}" if told and line else words)
        if mended is None:
            break
        text = mended[0]
        try:
            whole = text if isinstance(YAML(typ="safe", pure=True).load(text), dict) else ""
            break
        except YAMLError as further:
            broken = further
        except (RecursionError, TypeError, ValueError):
            break
    rest = "" if whole else "; the rest is read once this is mended"
    error = NotYaml(f"{place}: is not YAML: {'; then '.join(told)}{rest}")
    error.mended = whole
    return error


_MOST_FAULTS = 8
_MENDED = 1 << 16
"""Characters of a text that is mended: each attempt reads all of it."""
_WAYS = {
    "outside its entry": yaml_mending.indent_more,
    "indented too deep": yaml_mending.to_the_settings,
    "keep one of them": yaml_mending.without_line,
    "put what is below": yaml_mending.one_list,
    "no anchor": None,
}
"""How a fault is mended, by its words; None: only its author knows."""


def _refuse_entities(text: str, title: str) -> None:
    """Raise SandboxError for an HTML entity that this reader takes for an anchor, as at the beginning of `&quot;on&quot;`."""
    if not re.search(r"&(quot|apos|amp|lt|gt|nbsp|#\d+);", text):
        return
    for token in YAML(typ="safe", pure=True).scan(text):
        if isinstance(token, AnchorToken) and ";" in token.value:
            entity = f"&{token.value.partition(';')[0]};"
            place = f"{title}:{token.start_mark.line + 1}"
            raise SandboxError(f"{place}: is not YAML: {entity} is HTML; write the character itself")


_TAB = r"found character '\\t'"
_WORDS = {
    _TAB: "a tab indents this line; indent with spaces",
    "found character '`'": "take the backticks away; a text may stand without quotes",
    r"found character '(.)' that cannot start": "a text that begins with {0} needs quotes",
    "mapping values are not allowed": "a `:` stands where no key can; indent the line as its neighbours, or quote "
    "a text with `: `",
    "sequence entries are not allowed": "a list begins on the line below its key; write `- ...` there",
    "could not find expected ':'": "the line has no `:`; write `key: value`, or `#` before a comment",
    r"expected <block end>, but found '(?:<block mapping start>|<block sequence start>|-|\?)'": "the line is not "
    "indented as those above it; give all keys of an object, and all `-` of a list, the same indent",
    r"expected <block end>, but found '([}\]])'": "a {0} closes what is not open; take it away",
    "expected <block end>, but found ','": "a comma follows the value, where none can stand; delete it",
    "expected <block end>": "text follows where the value has ended; put the whole value in quotes",
    r"expected ',' or '(.)'": "a comma is missing, or the list or object is not closed with {0}",
    'found duplicate key "(.*?)"': "the key `{0}` stands twice in one object",
    r"found undefined alias '(.*)'": "no anchor `&{0}` stands above in this file: define it, or write its keys out; a text that "
    "begins with * needs quotes",
    "found unexpected end of stream": "a quote is not closed",
    "found unknown escape character": "write the text with a backslash in single quotes",
    "could not determine a constructor for the tag '(.*)'": "{0} is a tag of another tool; write the value itself",
    "found unhashable key": "an object or list stands as a key; write a text before the `:`",
    "expected the node content": "a value is missing, or a bracket is closed that is not open; put a text with brackets in quotes",
    "but found another document": "a second document begins with `---`; leave one",
}
"""What the parser reports, as a regular expression, in words. A repeated key comes with both values, which are not shown."""


def _fault(text: str, broken: YAMLError) -> tuple[int | None, str]:
    """Return the line of a fault, from 1 on, and the fault in words. The parser stops later than some faults stand."""
    lines = yaml_mending.lines_of(text)
    if templates := [number for number, line in yaml_mending.of_values(lines) if re.search(r"\{\{|\{%", line)]:
        return templates[0], _TEMPLATE + _also(templates)
    for number, line in enumerate(lines, 1):
        if re.match(r"(<{7}|={7}|>{7})( |$)", line):
            return number, "a conflict marker of git; keep one of the two sides, and delete the three markers"
        if line.startswith("```"):
            return number, "the line is a fence of Markdown; delete it, and the one at the end if there is one"
        if "\u00a0" in line.partition("#")[0]:
            return number, "a non-breaking space (U+00A0) stands in the line; type ordinary spaces"
    if tabs := [number for number, line in enumerate(lines, 1) if re.match(r"\s*\t\s*\S", line)]:
        return tabs[0], _WORDS[_TAB] + _also(tabs)
    mark = getattr(broken, "problem_mark", None)
    if mark is None:
        return None, _in_words(broken)
    stopped, problem = mark.line + 1, str(getattr(broken, "problem", ""))
    if twice := re.match('found duplicate key "(.*?)"', problem):
        above = (n for n in range(mark.line, 0, -1) if lines[n - 1][mark.column :].startswith(f"{twice[1]}:"))
        first = next(above, None)
        holds_more = re.search(r":\s*(#.*)?$", lines[mark.line])
        remedy = "put what is below it under the first" if holds_more else "keep one of them"
        lines_of_both = (lines[first - 1], lines[mark.line]) if first else ()
        maps = [held for each in lines_of_both for held in re.findall(r"^\s*[\w-]+: \{(.*)\}\s*$", each)]
        if len(maps) == 2 and yaml_mending.shown(": ".join(("x", *maps)), ""):
            remedy = f"keep one of them, or write both in one: `{twice[1]}: {{{', '.join(maps)}}}`"
        if twice[1] == "name":
            remedy = "another pool begins with a dash: write `- name: ...`"
        return stopped, f"{_in_words(broken)}{f', first in line {first}' if first else ''}; {remedy}"
    if anchor := re.match("found undefined alias '(.*)'", problem):
        near = get_close_matches(anchor[1], re.findall(r"(?<=[\s:])&([\w-]+)", text[: mark.index]), 1)
        if near:
            return stopped, f"no anchor `&{anchor[1]}` stands above; did you mean `*{near[0]}`?"
        uses = [number for number, line in enumerate(lines, 1) if re.search(rf"\*{re.escape(anchor[1])}\b", line)]
        return stopped, _in_words(broken) + _also(uses)
    begin = getattr(broken, "context_mark", None)
    if problem.startswith("found unexpected end of stream") and begin:
        return begin.line + 1, _in_words(broken)
    if problem.startswith("expected ',' or") and begin and _odd_quotes(lines[begin.line]):
        return begin.line + 1, "a quote is not closed"
    if problem.startswith("could not find expected ':'") and begin:
        stopped = begin.line + 1
    if begin and (bracket := re.match(r"expected ',' or '(.)'", problem)):
        before, (opened, *remark) = lines[mark.line][: mark.column], re.split(r"\s#", lines[begin.line], maxsplit=1)
        if mark.line > begin.line and len(re.findall(r"[{[]", opened)) > len(re.findall(r"[}\]]", opened)):
            swallowed = remark and bracket[1] in remark[0]
            why = "a `#` begins a comment, which swallows" if swallowed else "the list or object is not closed with"
            return begin.line + 1, f"{why} {bracket[1]}"
        if lines[mark.line][mark.column :].startswith(":") and (key := re.search(r"\S+$", before)):
            return stopped, f"a comma is missing before `{key[0]}`"
    if 0 < stopped <= len(lines) and re.match(r"\s*[\u2010-\u2015] ", lines[stopped - 1]):
        return stopped, "the line begins with a long dash; type a hyphen, `-`"
    if problem.startswith("expected <block end>"):
        odd = next((n for n, line in yaml_mending.of_values(lines[:stopped]) if _odd_quotes(line)), stopped)
        if odd < stopped:
            return odd, "a quote is not closed"
    if problem.startswith("expected <block end>") and (column := yaml_mending.top_column(lines, stopped)) is not None:
        return stopped, f"a setting is indented too deep; begin the line in column {column + 1}, as the settings above"
    if problem.startswith("expected <block end>") and (item := yaml_mending.entry_above(lines, stopped)):
        return stopped, f"the line stands outside its entry of the list; indent it, and what is below, as line {item}"
    for number in (stopped, stopped - 1):
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        if " //" in line:
            return number, "`//` begins no comment; a comment begins with #"
        if re.match(r'\w+( "[^"]*")+ *\{', line):
            return number, "a block of Terraform's language; write `key: value` lines"
        if re.match(r"(param|var|resource|module|output|targetScope|variable|locals) ", line):
            return number, "a line of Bicep or Terraform; remove it"
        if re.match(r"-[A-Za-z\"'{\[]", line):
            return number, "a `-` of a list needs a space after it"
        if assigned := re.match(r"(?:- )?([A-Za-z][\w:.-]*) ?= ?\S", line):
            return number, f"a `=` stands in place of the colon; write `{assigned[1]}: ...`"
        if two := re.fullmatch(r"(?:- )?([\w.-]+: )([\w-]+: [^:#{}\"']+)", line):
            outer, inner = two[1].strip(), two[2].strip()
            if re.search(rf"^\s*{re.escape(outer)}\w", text, re.MULTILINE):
                return number, f"a space stands after `{outer}`; write `{outer}{inner}`"
            return number, f"two keys stand on one line; write `{outer} {{{inner}}}`, or the second below the first"
        below = lines[number] if number < len(lines) else ""
        if re.fullmatch(r"[\w-]+:[\w-]+", line) and yaml_mending.columns(below) > yaml_mending.columns(
            lines[number - 1]
        ):
            return number, f"the line has no colon at its end; write `{line}:`"
        if (short := re.fullmatch(r"([\w-]+:)([\w-]+) ([^:#]+)", line)) and f"\n  {short[1]}" in text:
            whole = short[1] + short[2]
            return number, f"a colon is missing after `{whole}`; write `{whole}: {short[3]}`"
        if joined := _JOINED.fullmatch(line):
            return number, f"a space is missing after the colon; write `{joined[1]}: {joined[2]}`"
        if problem.startswith(("mapping values", "could not find")) and re.fullmatch(
            r"(- )?[\w.\"'-]+( [^:#]+)?", line
        ):
            return number, "the line has no `:`; write `key: value`, or `#` before a comment"
    return stopped, _in_words(broken)


_TEMPLATE = "a template, `{{ }}`, which nothing renders here; write the value itself, or render the file first"
_JOINED = re.compile(r"(?:- )?([A-Za-z][\w-]*):([^\s:/][^:]*)")


def _also(numbers: list[int]) -> str:
    """Return the further lines with the same fault."""
    further = ", ".join(map(str, numbers[1:20]))
    return f" (also line{'s' if len(numbers) > 2 else ''} {further})" if further else ""


def _odd_quotes(line: str) -> bool:
    return re.sub(r"\s#.*", "", line).count('"') % 2 == 1


def _in_words(broken: YAMLError) -> str:
    """Return problem and remedy; the library also quotes the lines, which may hold a password."""
    problem = str(getattr(broken, "problem", None) or "a character stands here that YAML does not allow")
    for pattern, words in _WORDS.items():
        if found := re.match(pattern, problem):
            first = getattr(broken, "context_mark", None)
            begin = f" (it begins in line {first.line + 1})" if first and "not closed" in words else ""
            return words.format(*found.groups()) + begin
    return problem.partition(" with value ")[0]


def _check(content: dict[Any, Any], title: str) -> None:
    """Raise SandboxError for what would not end, or what the engine's form of the file, which is JSON, does not hold."""
    waiting: list[tuple[Any, int]] = [(content, 1)]
    count = 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            raise SandboxError(f"{title} has more than {MOST_VALUES:,} values, with those that its aliases repeat")
        if depth > MOST_NESTED:
            raise _too_deep(title)
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += ((item, depth + 1) for item in inside)
        for key in value if isinstance(value, dict) else ():
            if not isinstance(key, str | int | float | None) or _is_half(key):
                raise SandboxError(f"{title} has a key that is no text: {str(key)[:60]!a}")
        if isinstance(value, bytes | set) or _is_half(value):
            raise SandboxError(f"{title} has a value that is no text, number, list or object: {str(value)[:60]!a}")


_HALF = re.compile("[\ud800-\udfff]")
"""Halves of a character, which an escape can write. Go's YAML reader, which is the engine's, refuses them."""


def _is_half(value: Any) -> bool:
    return isinstance(value, str) and _HALF.search(value) is not None


def _too_deep(title: str) -> SandboxError:
    return SandboxError(f"{title} has values nested more than {MOST_NESTED} deep")
