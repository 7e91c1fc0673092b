"""Secret values as Pulumi writes them in a state or a request: an object with a signature of its own.

https://github.com/pulumi/pulumi/blob/master/sdk/python/lib/pulumi/runtime/rpc.py
"""

from typing import Any

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"


def is_secret(value: Any) -> bool:
    """Whether a value is secret."""
    return isinstance(value, dict) and value.get(SIGNATURE) == SECRET


def has_secret(value: Any) -> bool:
    """Whether a value is secret or something in it is."""
    if isinstance(value, dict):
        return is_secret(value) or any(map(has_secret, value.values()))
    return isinstance(value, list) and any(map(has_secret, value))
