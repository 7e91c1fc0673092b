"""A stack whose secrets a key service encrypts: the sandbox previews it without that service and keeps its file unchanged."""

import json
import os
from pathlib import Path

import pytest

from sandbox.tests.stack import Stack

pytestmark = pytest.mark.engine

SECURE = "v1:8qCAmxMzJqHbRfnX:0Ro5gVDIDL0OqXvKJhEnbVnvlQ=="
# Order, comments, quotes and empty lines as no YAML library writes them, and no line end at the end.
HEAD = """\
# the platform team's; ask before you edit
secretsprovider: {provider}
encryptedkey:   {key}   # by {provider}


"""
TAIL = f"""
  kubeflow-spot:imagePullSecrets:
  - "name": acr-auth
    server: 'partner.azurecr.io'
    username: puller
    password: {{ secure: {SECURE} }}
    namespaces: [ default,   kube-public ]
  - {{name: nvcr, server: nvcr.io, username: $oauthtoken, password: {{"secure": "{SECURE}"}}}}  # NGC"""
PROVIDERS = {
    "dev": "azurekeyvault://ml-platform.vault.azure.net/keys/pulumi",
    "staging": "gcpkms://projects/example-ml/locations/europe-west4/keyRings/pulumi/cryptoKeys/staging",
}


def state(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return content, mode and modification time (ns) of every tracked or untracked file."""
    paths = (path for path in folder.iterdir() if path.is_file())
    return {path.name: (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) for path in paths}


@pytest.mark.parametrize(("name", "provider"), PROVIDERS.items(), ids=PROVIDERS)
def test_a_stack_with_a_key_service_and_encrypted_values_previews_and_its_file_stays_byte_for_byte(
    name: str, provider: str, tmp_path: Path
) -> None:
    stack = Stack.copy(tmp_path, name)
    stack.file.write_text(HEAD.format(provider=provider, key="QUJDREVGR0g=") + stack.file.read_text().rstrip() + TAIL)
    os.chmod(stack.file, 0o640)
    before = state(stack.project)
    secrets = {f"ml-{name}-pull-{rest}" for rest in ("default-acr-auth", "kube-public-acr-auth", "default-nvcr")}
    # The first time the engine creates the stack; the second time it would ask the key service in the file.
    for _ in range(2):
        printed = stack.run("preview", "--json").stdout
        steps = [(step["op"], step["name"]) for step in json.loads(printed)["steps"]]
        assert {("create", secret) for secret in secrets} <= set(steps)
        assert SECURE not in printed
        assert state(stack.project) == before
