"""The workspace: scratch copies of the project and stack files for the engine, which writes into them.

The user's own files are only read.

Left to itself the engine adds a salt to the stack file and deletes the keys of a stack whose secrets are kept by a cloud's
key service. The copies therefore have no secrets provider, and each `secure:` value, which only that provider could read,
is replaced by a marked fake.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox.base.errors import SandboxError
from sandbox.base.files import ANEW, write_private
from sandbox.base.home import Home
from sandbox.base.yaml_file import read_yaml

FAKE = "sandbox-fake-secret"
"""The beginning of the text that the program gets for an encrypted value. Another value has another ending, so that a preview
shows the change."""

_EXAMPLES = "examples:accept"
"""A setting that any program may read: this stack reaches no real cloud, so values of examples may stand in it."""

_ENGINE_KEYS = ("secretsprovider", "encryptedkey", "encryptionsalt")


def prepare(home: Home, *, program: bool = True) -> str:
    """Write the scratch copies; returns the project's name.

    Without the `program` running, the last copy replaces a missing stack file: it holds the salt of the stack's secrets.
    Raises SandboxError when the project or stack file is missing or is not YAML.
    """
    copy = home.workspace / f"Pulumi.{home.stack}.yaml"
    source = _source(home) if copy.exists() and not program else stack_file(home)
    settings = read_yaml(home.project / "Pulumi.yaml")
    home.workspace.mkdir(parents=True, exist_ok=True)
    home.backend.mkdir(parents=True, exist_ok=True)
    settings.pop("backend", None)
    # The program is run inline, from the checkout.
    settings.pop("main", None)
    settings["runtime"] = "python"
    for plugin in (settings.get("plugins") or {}).get("providers") or ():
        # Relative to the project file.
        plugin["path"] = str(home.project / plugin["path"])
    write_private(home.workspace / "Pulumi.yaml", _written(settings))

    if source.exists():
        link = as_written(home) / copy.name
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(source.resolve())
        write_private(copy, engine_copy(source, _salt(copy)))
    return str(settings.get("name", home.project.name))


def mended(home: Home, text: str) -> Home:
    """Return the home with another text for the stack file, which a preview reads once."""
    path = home.workspace / "mended" / stack_file(home).name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_private(path, text.encode())
    return home.with_options(path)


def as_written(home: Home) -> Path:
    """Return the folder in which the program finds the stack file as the user wrote it: in the copy secrets are replaced."""
    return home.workspace / "as-written"


def engine_copy(source: Path, salt: Mapping[str, Any] = MappingProxyType({})) -> bytes:
    """Return the engine's copy of a stack file, with the salt of its secrets. Raises SandboxError for a file that
    cannot be one.
    """
    stack = {key: value for key, value in read_yaml(source).items() if key not in _ENGINE_KEYS}
    config = stack.get("config") or {}
    if not isinstance(config, dict):
        raise SandboxError(f"{source.name}: `config` is not an object")
    stack["config"] = {
        _EXAMPLES: "true",
        **{key: _without_secrets(value, key, source.name) for key, value in config.items()},
    }
    return _written({**stack, **salt})


def _salt(copy: Path) -> dict[str, Any]:
    """Return the salt that the engine keeps in its copy to check the passphrase; the engine makes a missing one."""
    try:
        return {"encryptionsalt": read_yaml(copy)["encryptionsalt"]}
    except (SandboxError, KeyError):
        return {}


def stack_file(home: Home) -> Path:
    """Return the stack's own file. Raises SandboxError, with the names of the stacks, when it does not exist."""
    path = _source(home)
    if path.exists():
        return path
    if home.config_file:
        raise SandboxError(f"the file of stack {home.stack!r}, {path}, does not exist; `--config-file` names another")
    known = sorted(p.name[len("Pulumi.") : -len(".yaml")] for p in home.project.glob("Pulumi.*.yaml"))
    raise SandboxError(
        f"there is no stack {home.stack!r}: {path.name} does not exist; stacks here: {', '.join(known) or 'none'}"
    )


def _source(home: Home) -> Path:
    return home.config_file or home.project / f"Pulumi.{home.stack}.yaml"


def passphrase(home: Home) -> str:
    """Return the passphrase of this sandbox's state: random, made once, readable by its owner only.

    Raises SandboxError where it is gone and a state needs it: with another one the engine opens no secret.
    """
    path = home.directory / "passphrase"
    if not path.exists():
        if any(home.backend.glob(f".pulumi/stacks/*/{home.stack}.json")):
            raise SandboxError(f"{path} is gone, and the state of stack {home.stack!r} is encrypted with it.\n  {ANEW}")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, secrets.token_urlsafe(24).encode())
    return path.read_text()


# What Pulumi encrypts is three parts with `v1` first (sdk/go/common/resource/config/crypt.go), or base64 with its own service.
_ENCRYPTED = re.compile(r"v1:.*|(?:[A-Za-z0-9+/]{4}){6,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", re.DOTALL)


def _without_secrets(value: Any, place: str, title: str) -> Any:
    if isinstance(value, dict):
        if set(value) == {"secure"}:
            encrypted = str(value["secure"])
            if not _ENCRYPTED.fullmatch(encrypted):
                remedy = f"revoke it if others may have read it, and set the new one: `pulumi config set --secret --path '{place}'`"
                raise SandboxError(
                    f"{title}: {place}.secure: is clear text, which Pulumi cannot decrypt (not shown here)\n  {remedy}"
                )
            return f"{FAKE}-{hashlib.sha256(encrypted.encode()).hexdigest()[:8]}"
        return {key: _without_secrets(inner, f"{place}.{key}", title) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_secrets(inner, f"{place}[{index}]", title) for index, inner in enumerate(value)]
    return value


def _written(content: dict[str, Any]) -> bytes:
    # JSON is YAML with one reading.
    return json.dumps(content, indent=2, default=str).encode()
