"""`gke-gcloud-auth-plugin` of the emulated cloud: the credential for one of its clusters, as kubectl and client libraries ask.

https://kubernetes.io/docs/reference/config-api/client-authentication.v1beta1/: the question is in KUBERNETES_EXEC_INFO, where
the cluster is only when the kubeconfig says `provideClusterInfo: true`. The real plugin answers with the token of whoever uses
gcloud, for any server; this one knows the servers of one sandbox, and no other gets a token.

Runs for every kubectl: it imports nothing that takes time.
"""

import json
import os
import shlex
import sys
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

NAME = "gke-gcloud-auth-plugin"

_API = "client.authentication.k8s.io/v1beta1"
_HOUR = timedelta(hours=1)
_CHECKOUT = Path(__file__).resolve().parents[2]


class Denied(Exception):
    """There is no token for what was asked."""


def install(folder: Path, clusters: Path) -> None:
    """Write the program into a folder that is to be on the PATH; it knows the control planes below `clusters`."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-P", "-m", "sandbox.gcp.auth_plugin", str(clusters)]
    text = f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(_CHECKOUT))} exec {shlex.join(words)}\n"
    # Not needed where the program runs.
    from sandbox.base.files import replace

    # At once: another command of the same stack may be running the old one.
    replace(folder / NAME, text.encode(), 0o755)


def credential(clusters: Path, question: str | None, now: datetime) -> dict[str, Any]:
    """Return the ExecCredential for a question. Raises Denied."""
    try:
        content = json.loads(question or "")
        version, spec = content["apiVersion"], content["spec"]
    except (ValueError, KeyError, TypeError):
        raise Denied(
            "KUBERNETES_EXEC_INFO is not an ExecCredential: this program is run by kubectl and the like"
        ) from None
    if version != _API:
        raise Denied(f"the kubeconfig asks by {version}; its user's exec must say apiVersion: {_API}")
    cluster = spec.get("cluster")
    if not cluster:
        raise Denied("which cluster is not said; the kubeconfig's user must have provideClusterInfo: true in its exec")
    return {
        "apiVersion": _API,
        "kind": "ExecCredential",
        "spec": {"interactive": bool(spec.get("interactive"))},
        "status": {
            "expirationTimestamp": (now + _HOUR).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "token": _token(clusters, cluster),
        },
    }


def _token(clusters: Path, cluster: Mapping[str, Any]) -> str:
    """Return the token of the control plane at a server of Google's, whose authority the asker trusts."""
    server = str(cluster.get("server")).rstrip("/")
    for settings in sorted(clusters.glob("*/cluster.json")):
        folder = settings.parent
        try:
            port = json.loads((folder / "ports.json").read_text())["kube-apiserver"]
            authority = b64encode((folder / "certificates" / "ca.crt").read_bytes()).decode()
            token = (folder / "token").read_text()
            cloud = json.loads(settings.read_text())["cloud"]
        except (OSError, ValueError, KeyError):
            continue  # was never started
        if cloud != "gcp" or server != f"https://127.0.0.1:{port}":
            continue
        # None where a DNS name is asked, whose certificate everybody trusts.
        if cluster.get("certificate-authority-data") not in (None, authority):
            raise Denied(f"{server} is {folder.name}, but the kubeconfig trusts another authority")
        return token
    raise Denied(f"{server} is no cluster of this sandbox's emulated Google Cloud")


def main() -> None:
    """Answer on standard output; one line on standard error and exit code 1 without a token."""
    try:
        answer = credential(Path(sys.argv[1]), os.environ.get("KUBERNETES_EXEC_INFO"), datetime.now(UTC))
    except Denied as denied:
        sys.exit(f"{NAME}: {denied}")
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
