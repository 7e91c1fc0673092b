"""Previews a stack on its real cloud, without the layer inside the cluster where the cluster's API server is out of reach.

usage: cloud_preview.py STACK FOLDER [OPTION OF `pulumi preview` ...]

A private API server, or one with authorized ranges, does not answer a hosted runner. The kubernetes provider then fails at its
first read, and nothing at all is previewed. So the address in the stack's own output is tried first; when nobody answers there,
the objects inside the cluster are left out of refresh and preview, and the summary says so in so many words.

Everybody reads the log and the summary of a public repository: they show values of properties, and outputs, only where PRIVATE is
`true`. Elsewhere they name the resources and the properties that change; why the output kubeconfig was not read stays out, too.

Environment: what `pulumi` and the clouds' providers want; PRIVATE; GITHUB_STEP_SUMMARY for the summary.
"""

from __future__ import annotations

import http.client
import os
import re
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

LAYER = "**$kubernetes:**"
"""The objects inside the cluster, by URN: `...KubeflowCluster$kubernetes:core/v1:ConfigMap::name`. Not the provider itself,
`...$pulumi:providers:kubernetes::name`, which is configured without an answer from the cluster."""
PATIENCE = 15.0  # seconds; an API server answers in milliseconds, a dropped packet never
MOST = 900_000
"""Bytes of output in the summary; GitHub takes 1 MiB a step."""
PACK = "--policy-pack"
NOT_PREVIEWED = "layer not previewed: unreachable"


def main(stack: str, folder: str, options: list[str]) -> int:
    """Preview the stack. Returns the exit code of `pulumi preview`."""
    server = address(kubeconfig(stack, folder))
    note = ""
    if server and not answers(server):
        note = f"{NOT_PREVIEWED} ({urlsplit(server).hostname})" if private() else NOT_PREVIEWED
        options = [*options, "--exclude", LAYER]
        print(f"::warning::{stack}: {note}", flush=True)
    options = [*options, *policies(stack, folder, options)]
    shown_values = "--diff" if private() else "--suppress-outputs"
    command = ["pulumi", "preview", "--stack", stack, "--non-interactive", "--color", "never", shown_values, *options]
    shown = bytearray()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as preview:
        assert preview.stdout
        for line in preview.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            shown += line[: max(0, MOST - len(shown))]
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a") as summary:
            summary.write(chapter(stack, note, shown.decode(errors="replace"), preview.returncode))
    return preview.returncode


def policies(stack: str, folder: str, options: list[str]) -> list[str]:
    """Return the option for the stack's own configuration of the policy pack, a file in its folder; none without pack or file."""
    if PACK not in options:
        return []
    config = f"{options[options.index(PACK) + 1]}/config.{stack}.json"
    return [f"{PACK}-config", config] if (Path(folder) / config).exists() else []


def kubeconfig(stack: str, folder: str) -> str:
    """Return the stack's output of that name, a secret; empty for a stack that has none yet."""
    command = ["pulumi", "stack", "output", "kubeconfig", "--show-secrets", "--stack", stack, "--non-interactive"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        # Pulumi's error may name the state's address.
        print(f"{stack}: no output kubeconfig" + (f": {done.stderr.strip()}" if private() else ""), flush=True)
    return "" if done.returncode else done.stdout


def address(kubeconfig: str) -> str:
    """Return the API server in a kubeconfig with one cluster, as YAML or JSON; empty where there is none."""
    found = re.search(r"""["']?\bserver["']?\s*:\s*["']?(https?://[^\s"',}]+)""", kubeconfig)
    return found[1] if found else ""


def answers(server: str) -> bool:
    """Return whether anybody answers there, be it with a refusal: no credential is sent, so any certificate will do."""
    parts = urlsplit(server)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=PATIENCE, context=context)
    else:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/readyz")
        connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        print(f"{server}: {error}" if private() else "the API server does not answer", flush=True)
        return False
    finally:
        connection.close()
    return True


def private() -> bool:
    """Return whether only people who may read the repository read the log."""
    return os.environ.get("PRIVATE") == "true"


def chapter(stack: str, note: str, output: str, code: int) -> str:
    """Return the stack's part of the summary. No run of backticks in the output can end its block."""
    longest = max((len(run) for run in re.findall("`+", output)), default=0)
    fence = "`" * max(3, longest + 1)
    said = f"**{note}**\n\n" if note else ""
    result = "" if code == 0 else f"`pulumi preview` ended with exit code {code}.\n\n"
    return f"### {stack}\n\n{said}{result}{fence}diff\n{output.rstrip()}\n{fence}\n\n"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
