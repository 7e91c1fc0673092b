"""Regular expressions of node group names as the cluster autoscaler reads them: Go's regexp, whose syntax is RE2's.

RE2 itself checks and matches them, because Python's `re` differs both ways: it takes `(?!a)` and `\\Z`, and not `\\pL` or
`[[:digit:]]`. Source: kubernetes/autoscaler expander/priority/priority.go; pkg.go.dev/regexp/syntax, by which Go takes "the same
general syntax [...] except for \\C". In one thing their parsers differ: of a count of nine digits and more RE2 makes plain text,
Go an error (parseInt and ErrInvalidRepeatSize in Go's regexp/syntax/parse.go).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_ONE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")

_PLAIN = re.compile(r"\\.|\[\^?\]?(\\.|[^]\\])*\]", re.DOTALL)
"""What holds no count: escaped characters, and classes of characters."""
_COUNT_FOR_GO_ALONE = re.compile(r"\{([1-9][0-9]{8,}(,[0-9]*)?|[0-9]+,[1-9][0-9]{8,})\}")


def fault(expression: str) -> str:
    """Why the autoscaler could not read an expression; empty when it can."""
    try:
        _compiled(expression)
    except ValueError as wrong:
        return str(wrong)
    return ""


def matches(expression: str, group: str) -> bool:
    """Whether an expression matches any part of a node group's name. Raises ValueError for a text that is not one."""
    return _compiled(expression).search(group) is not None


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    # Imported here only: most stacks have no lines but the program's own.
    import re2

    if _ONE_BYTE.search(expression):
        raise ValueError(r"invalid escape sequence: \C")
    if count := _COUNT_FOR_GO_ALONE.search(_PLAIN.sub("", expression)):
        raise ValueError(f"invalid repeat count: {count[0]}")
    options = re2.Options()
    # Else every refusal is also a line on stderr.
    options.log_errors = False
    try:
        return re2.compile(expression, options)
    except re2.error as wrong:
        reason = wrong.args[0]
        raise ValueError(
            reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        ) from wrong
