"""Kubeconfig: a client that is logged in as its user, or one sentence why not."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from checks.findings import Unasked, line

_LONGEST = 300
"""Characters of what a login command says."""


def open_client(kubeconfig: str | None, context: str | None = None) -> Any:
    """Return an `ApiClient` for a kubeconfig file; None is kubectl's default. Raises `Unasked`."""
    # The import takes half a second.
    from kubernetes import client, config
    from kubernetes.config import ConfigException

    if kubeconfig is not None and not Path(kubeconfig).expanduser().is_file():
        raise Unasked(f"{kubeconfig}: there is no such kubeconfig")
    path, name = kubeconfig and str(Path(kubeconfig).expanduser()), kubeconfig or "the kubeconfig"
    try:
        with _client_log() as logged:
            api: Any = config.new_client_from_config(path, context)
        user = _user(path, context)
    except ConfigException as wrong:
        raise Unasked(f"{name} cannot be used: {line(wrong)}") from None
    except OSError as failed:
        raise Unasked(
            f"{failed.filename}, which {name} names, cannot be read: {failed.strerror}"
        ) from None
    except Exception:
        # PyYAML's and the client's errors of a file that is none; they may show a line that holds a
        # token.
        raise Unasked(f"{name} is no kubeconfig") from None
    assert isinstance(api, client.ApiClient)
    _refuse_nobody(api.configuration, name, user, logged)
    return api


def _refuse_nobody(
    configuration: Any, name: str, user: Mapping[str, Any] | None, logged: list[str]
) -> None:
    """Raise `Unasked` if the user's login failed.

    The client only logs that and continues anonymously (kubernetes 37.0, config/kube_config.py):
    each 403 would look like a missing right.
    """
    if user is None:
        raise Unasked(f"{name} names a user in its context, and has none of that name")
    # A certificate of the file is no proof that a command answered.
    logged_in = bool(configuration.api_key) or bool(configuration.cert_file and not logged)
    if logged_in:
        return
    why = line("; ".join(logged))[:_LONGEST]
    if command := user.get("exec"):
        hint = line(command.get("installHint") or "")[:_LONGEST]
        raise Unasked(
            f"the login command `{command.get('command')}` of {name} does not log"
            f" in{why and f' ({why})'}: install it or log in"
            f" again, and try `kubectl get nodes`{hint and f'; {hint}'}"
        )
    if provider := user.get("auth-provider"):
        raise Unasked(
            f"the login `auth-provider: {provider.get('name')}` of {name} does not log"
            f" in{why and f' ({why})'}: log in again, or"
            " write the kubeconfig anew"
        )


def _user(path: str | None, context: str | None) -> Mapping[str, Any] | None:
    """Return the context's user; None if the file lacks that user."""
    from kubernetes.config import kube_config

    content = kube_config.KubeConfigMerger(
        path or kube_config.KUBE_CONFIG_DEFAULT_LOCATION
    ).config.value
    contexts = {item.value["name"]: item.value["context"] for item in content["contexts"]}
    name = contexts[context or content["current-context"]].get("user")
    users = {
        item.value["name"]: item.value.get("user") or {} for item in content.get("users") or ()
    }
    return users.get(name) if name else {}


@contextmanager
def _client_log() -> Iterator[list[str]]:
    """Collect what the client logs instead of raising; it uses the root logger."""
    texts: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(record.getMessage())

    handler = Kept(logging.ERROR)
    logging.getLogger().addHandler(handler)
    try:
        yield texts
    finally:
        logging.getLogger().removeHandler(handler)
