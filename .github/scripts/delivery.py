"""Hands a stack's entry of .github/delivery.toml to the next steps: the address of its state, and the identity of one role.

usage: delivery.py STACK deployer|reader     outputs `state` and the keys of IDENTITY, empty where the role has none
       delivery.py                           outputs `STACK=on` for each stack that is delivered

The file is read beside this script, in the workflow's own commit of main: never in the commit that is previewed. Variables of the
repository or of an environment will not do: nobody reviews them. An engine believes its state: the state names plugins to download
and run, and its address names the server that gets the job's tokens. So an address has one of three forms.

Environment: GITHUB_OUTPUT.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gh import Refused

FILE = Path(__file__).resolve().parents[1] / "delivery.toml"
HOSTED = "https://api.pulumi.com"
_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
IDENTITY = {
    "azure-client-id": _UUID,
    "azure-tenant-id": _UUID,
    "azure-subscription-id": _UUID,
    "gcp-provider": r"projects/[0-9]+/locations/global/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+",
    "gcp-service-account": r"[a-z0-9-]+@[a-z0-9.:-]+\.iam\.gserviceaccount\.com",
}
"""Keys of an identity, and the forms of their values."""
WHOLE = (
    ("azure-client-id", "azure-tenant-id", "azure-subscription-id"),
    ("gcp-provider", "gcp-service-account"),
)
"""What a login on each cloud takes."""
ROLES = ("deployer", "reader")
STATE = re.compile(
    # Names: learn.microsoft.com, resource-name-rules; cloud.google.com/storage/docs/buckets#naming. No other parameter: `domain` of
    # azblob sends the job's token to any server (gocloud.dev/blob/azureblob, URLOpener), as `endpoint` of s3 does.
    rf"azblob://[a-z0-9-]{{3,63}}\?storage_account=[a-z0-9]{{3,24}}|gs://[a-z0-9._-]{{3,63}}(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*|{re.escape(HOSTED)}"
)
FORMS = f"azblob://CONTAINER?storage_account=ACCOUNT, gs://BUCKET, or {HOSTED}"


def problems(content: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each mistake in the file, with its path."""
    seen: dict[str, str] = {}
    for stack, entry in content.items():
        if not re.fullmatch(r"[A-Za-z0-9._-]+", stack) or not isinstance(entry, dict):
            yield f"{stack}: is no table with a stack's name; write [STACK]"
            continue
        for key in entry.keys() - {"state", *ROLES}:
            yield f"{stack}.{key}: is unknown; write one of state, {', '.join(ROLES)}"
        state = entry.get("state")
        if not isinstance(state, str) or not STATE.fullmatch(state):
            yield f"{stack}.state: {state!r} is no address of a state; write {FORMS}"
        elif state != HOSTED and seen.setdefault(state, stack) != stack:
            yield f"{stack}.state: is the state of {seen[state]} as well; give each stack a container or bucket of its own"
        for role in ROLES:
            yield from _identity(f"{stack}.{role}", entry.get(role))


def _identity(path: str, identity: object) -> Iterator[str]:
    if not isinstance(identity, dict) or not identity:
        yield f"{path}: is missing; write [{path}] with the identity's keys: {', '.join(IDENTITY)}"
        return
    for key, value in identity.items():
        if key not in IDENTITY:
            yield f"{path}.{key}: is unknown; write one of {', '.join(IDENTITY)}"
        elif not isinstance(value, str) or not re.fullmatch(IDENTITY[key], value):
            yield f"{path}.{key}: {value!r} has another form than {IDENTITY[key]}"
    for keys in WHOLE:
        missing = [key for key in keys if key not in identity]
        if missing and len(missing) < len(keys):
            yield f"{path}: a login also takes {', '.join(missing)}"


def read(file: Path | None = None) -> dict[str, Any]:
    """Return the delivered stacks by name. Raises Refused with every mistake of the file."""
    file = file or FILE
    try:
        content = tomllib.loads(file.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{file.name}: {error}") from error
    if wrong := list(problems(content)):
        raise Refused("\n".join(f"{file.name}: {problem}" for problem in wrong))
    return content


def main(arguments: list[str]) -> None:
    """Write the outputs. Raises Refused for a faulty file, and for a stack that is not delivered."""
    stacks = read()
    if not arguments:
        outputs = dict.fromkeys(stacks, "on")
    else:
        stack, role = arguments
        if stack not in stacks:
            raise Refused(
                f"{FILE.name}: has no table [{stack}]; add it with its state, reader and deployer (docs/delivery.md)"
            )
        outputs = {"state": stacks[stack]["state"]} | {key: stacks[stack][role].get(key, "") for key in IDENTITY}
    with Path(os.environ["GITHUB_OUTPUT"]).open("a") as file:
        file.writelines(f"{key}={value}\n" for key, value in outputs.items())


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3) or sys.argv[2:] not in ([], ["deployer"], ["reader"]):
        sys.exit(__doc__)
    try:
        main(sys.argv[1:])
    except Refused as why:
        sys.exit(f"error: {why}")
