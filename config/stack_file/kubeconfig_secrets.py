"""Secrets in a kubeconfig: the fields in which one stands (kubernetes.io/docs/reference/config-api/kubeconfig.v1)."""

from __future__ import annotations

from typing import Any

import yaml

from config.base.hiding import LOGIN, LOGIN_FIELDS, secret_in

_LONGEST = 1 << 16
"""Characters of a kubeconfig that is parsed; YAML of a megabyte takes seconds. A longer one is searched as text."""


def holds_secret(text: str) -> bool:
    """Whether a kubeconfig has a secret in clear text: a key, a token or a password.

    The environment of a login program holds anything, such as a greeting with `password: ` in it, and is no login itself.
    """
    if secret_in(text, logins=False):
        return True
    if not LOGIN.search(text):
        return False
    # The words of a login may stand anywhere.
    if len(text) > _LONGEST:
        return True
    try:
        parsed = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return True
    return _holds_login(parsed, set()) if isinstance(parsed, dict) else True


def _holds_login(value: Any, seen: set[int]) -> bool:
    if isinstance(value, str):
        # An argument of a login program, such as --token=abc.
        return LOGIN.search(value) is not None
    if not isinstance(value, dict | list) or id(value) in seen:
        return False
    seen.add(id(value))  # an alias of YAML is the same object again
    if isinstance(value, list):
        return any(_holds_login(item, seen) for item in value)
    return any(
        bool(item) if key in LOGIN_FIELDS else key != "env" and _holds_login(item, seen)
        for key, item in value.items()
    )
