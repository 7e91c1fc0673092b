"""Values as CEL writes them, for the expressions of admission policies (https://kubernetes.io/docs/reference/using-api/cel/)."""

from __future__ import annotations

import json
from typing import Any

LABELS = "has(object.metadata.labels) ? object.metadata.labels : {}"


def value(plain: Any) -> str:
    """Text, a number, a list or a map as a literal.

    The API server wants values of one type in a map or a list; `dyn` hides the types of those that are not.
    """
    if isinstance(plain, dict):
        mixed = len({type(item) for item in plain.values()}) > 1 or any(isinstance(v, dict) for v in plain.values())
        entries = (f"{value(key)}: {f'dyn({value(item)})' if mixed else value(item)}" for key, item in plain.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(plain, list | tuple):
        return f"[{', '.join(map(value, plain))}]"
    # CEL's escapes are those of JSON, and its other forms of text are of no use here.
    return json.dumps(plain)
