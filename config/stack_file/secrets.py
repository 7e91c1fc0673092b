"""Settings that must be Pulumi secrets: clear or made-up text is an error, and never shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args, get_origin

import yaml
from pydantic import SecretStr

from config.base import hiding
from config.base.hiding import LOGIN, LOGIN_FIELDS, secret_in
from config.base.problems import Problem, as_path
from config.model.fields import Model
from config.model.structure import by_key, holds_secret

_LONGEST = 1 << 16
"""Characters of a kubeconfig that is parsed; a longer one is searched as text, for YAML of a
megabyte takes seconds."""


def kubeconfig_holds_secret(text: str) -> bool:
    """Return whether a kubeconfig has a secret in clear text: a key, a token or a password.

    A login program's environment may hold anything, such as a greeting with `password: `, and is
    ignored.
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


IsSecret = Callable[[str], bool]
"""Whether a setting at a path, in the user's spelling, came as a Pulumi secret."""


def secret_problems(
    settings: Mapping[str, Any],
    types: Mapping[str, Any],
    is_secret: IsSecret | None,
    prefix: str,
    as_written: Callable[[str], str],
) -> Iterator[Problem]:
    """Yield a problem for each secret in clear text and each placeholder.

    A secret that looks like a placeholder may be a password: warn.
    """
    for key, value in settings.items():
        for path, text in _secrets(value, types[key], key):
            written = as_written(path)
            # The right place: what stands at a wrong one has to move.
            remedy = f"pulumi config set --secret --path '{prefix}{path}'"
            if hiding.PLACEHOLDER.fullmatch(text) and is_secret and is_secret(written):
                yield Problem(
                    written,
                    "looks like a placeholder, which nothing replaces (its text is not shown)",
                    f"leave it if it is the value itself, or set that: `{remedy}`"
                    if prefix
                    else "leave it if it is the value itself, or pass that, as a secret",
                    warning=True,
                )
            elif hiding.PLACEHOLDER.fullmatch(text):
                yield Problem(
                    written,
                    "is a placeholder, in which nothing puts a value (its text is not shown)",
                    f"set the value itself: `{remedy}`"
                    if prefix
                    else "pass the value itself, as a secret",
                )
            elif is_secret and not is_secret(written) and _must_be_hidden(path, text):
                yield Problem(
                    written,
                    "is in clear text, for every reader of this file or its history (not shown "
                    "here)",
                    f"make a new one, and set it with `{remedy}`"
                    if prefix
                    else (
                        "make a new one, and pass it as a secret (`pulumi.Output.secret`, "
                        "`Config.require_secret`)"
                    ),
                )


def _must_be_hidden(path: str, text: str) -> bool:
    # A kubeconfig that names a login program holds no secret.
    return not path.endswith(".contents") or kubeconfig_holds_secret(text)


def _secrets(value: Any, annotation: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of each setting of the type SecretStr."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        for key, field in by_key(annotation).items() if isinstance(value, dict) else ():
            if key in value and holds_secret(field.annotation):
                yield from _secrets(value[key], field.annotation, path + as_path(key))
    elif annotation is SecretStr:
        if isinstance(value, str):
            yield path, value
    elif get_origin(annotation) is tuple:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _secrets(item, get_args(annotation)[0], f"{path}[{index}]")
    else:
        for inner in get_args(annotation):
            yield from _secrets(value, inner, path)
