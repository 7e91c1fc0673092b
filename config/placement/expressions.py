"""Regular expressions of node group names as the cluster autoscaler reads them: Go's regexp.

Go's syntax is RE2's, and RE2 checks and matches here: Python's `re` takes `(?!a)` and `\\Z`, and
refuses `\\pL` and `[[:digit:]]`. Source: kubernetes/autoscaler expander/priority/priority.go;
pkg.go.dev/regexp/syntax ("the same general syntax [...] except for \\C"). One difference: RE2 reads
a count of nine digits and more as plain text, Go refuses it (parseInt and ErrInvalidRepeatSize in
Go's regexp/syntax/parse.go).
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
    """Return why the autoscaler cannot read an expression; empty if it can."""
    try:
        _compiled(expression)
    except ValueError as wrong:
        return str(wrong)
    return ""


def matches(expression: str, group: str) -> bool:
    """Return whether an expression matches a part of the name. Raise ValueError if invalid."""
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
