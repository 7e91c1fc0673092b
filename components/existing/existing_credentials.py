"""The kubeconfig of an existing cluster, from a file, the stack file, or another stack's output."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import yaml

from components.resources import outputs_of
from config.clouds.existing.existing_settings import Existing, Kubeconfig

KEY = "cloud.kubeconfig"
"""The key of the stack file."""

_SECRETS = frozenset({"token", "password", "client-key-data"})
"""Keys of a user that hold credentials in clear text (page of _FILES)."""

_FILES = {
    "certificate-authority": "certificate-authority-data",
    "client-certificate": "client-certificate-data",
    "client-key": "client-key-data",
}
"""https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/"""


def warn_of_secrets(text: str) -> None:
    """Log that a kubeconfig is a credential in itself."""
    if secrets := sorted(_secrets(text)):
        pulumi.log.warn(
            f"{KEY}: holds a credential of its own ({', '.join(secrets)}), which is kept, "
            "encrypted, in the state and in the "
            "output `kubeconfig`\n    use one whose user runs a command for it (exec), such as "
            "kubelogin or gke-gcloud-auth-plugin"
        )


def _secrets(kubeconfig: str) -> Iterator[str]:
    for user in yaml.safe_load(kubeconfig)["users"]:
        yield from _SECRETS & user["user"].keys()


def kubeconfig(spec: Existing) -> str:
    """Return the kubeconfig with one context and the content of the files it names. Secret: wrap
    what is passed on.

    Raise `pulumi.RunError` without a kubeconfig.
    """
    source = spec.kubeconfig
    if source.file:
        path = Path(source.file).expanduser()
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as failed:
            why = failed.strerror if isinstance(failed, OSError) else "it is not text"
            raise pulumi.RunError(f"{KEY}.file: {path.absolute()} cannot be read: {why}") from None
        return reduced(text, f"{KEY}.file", source.context, path.absolute().parent)
    if source.contents:
        return reduced(source.contents.get_secret_value(), f"{KEY}.contents", source.context)
    return reduced(_output(source), f"{KEY}.output", source.context)


def _output(source: Kubeconfig) -> str:
    """Return an output of another stack as a plain value.

    The cluster's contents decide what is declared, and a `pulumi.StackReference` resolves too late
    for that.
    """
    try:
        outputs = outputs_of(str(source.stack))
    except Exception as failed:
        # The SDK raises plain Exception for every error of a call.
        raise pulumi.RunError(
            f"{KEY}.stack: the outputs of {source.stack} cannot be read: {failed}"
        ) from None
    if not isinstance(outputs.get(source.output), str):
        known = ", ".join(sorted(outputs)) or "none"
        raise pulumi.RunError(
            f"{KEY}.output: stack {source.stack} has no text {source.output!r} among its "
            f"outputs\n  its outputs are: {known}"
        )
    return str(outputs[source.output])


def reduced(text: str, where: str, context: str | None = None, folder: Path | None = None) -> str:
    """Reduce a kubeconfig as `kubectl config view --minify --flatten` does: other clusters'
    credentials stay out.

    `folder`: the base of relative paths. Raise `pulumi.RunError`, which never shows the content.
    """
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError):
        # PyYAML raises other errors for invalid dates, numbers of 5,000 digits and lists 1,000
        # deep.
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("contexts"), list):
        raise pulumi.RunError(f"{where}: is no kubeconfig")
    name = context or document.get("current-context")
    chosen = _named(document, "contexts", "context", name)
    if chosen is None:
        known = (
            ", ".join(
                str(entry.get("name")) for entry in document["contexts"] if isinstance(entry, dict)
            )
            or "none"
        )
        what = f"there is no context {name!r}" if name else "no context is the current one"
        raise pulumi.RunError(
            f"{where}: {what}\n  set `cloud.kubeconfig.context` to one of: {known}"
        )
    cluster = _named(document, "clusters", "cluster", chosen.get("cluster"))
    user = _named(document, "users", "user", chosen.get("user"))
    if not cluster or user is None:
        raise pulumi.RunError(
            f"{where}: the context {name!r} names a cluster or a user that is missing"
        )
    return str(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": chosen["cluster"], "cluster": _flat(cluster, where, folder)}],
                "users": [{"name": chosen["user"], "user": _flat(user, where, folder)}],
                "contexts": [{"name": name, "context": chosen}],
                "current-context": name,
            },
            sort_keys=False,
        )
    )


def _named(document: dict[str, Any], entries: str, entry: str, name: Any) -> dict[str, Any] | None:
    for item in document.get(entries) or []:
        if (
            name is not None
            and isinstance(item, dict)
            and item.get("name") == name
            and isinstance(item.get(entry), dict)
        ):
            content: dict[str, Any] = item[entry]
            return content
    return None


def _flat(entry: dict[str, Any], where: str, folder: Path | None) -> dict[str, Any]:
    """Return the entry with the content of files in place of their paths, so that it works on every
    machine.

    The path of a token's file stays, made absolute as kubectl does, because the file changes while
    it is in use.
    """
    result = dict(entry)
    if "tokenFile" in result:
        result["tokenFile"] = str((folder or Path()) / str(result["tokenFile"]))
    for key, inline in _FILES.items():
        if key in result:
            path = (folder or Path()) / str(result.pop(key))
            try:
                result[inline] = base64.b64encode(path.read_bytes()).decode()
            except OSError as failed:
                raise pulumi.RunError(
                    f"{where}: {key}: {path} cannot be read: {failed.strerror}"
                ) from None
    return result
