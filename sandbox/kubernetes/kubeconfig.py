"""The server, trust and credentials that a kubeconfig names (https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/).

Deliberately does not: several files, proxies, the `auth-provider` of old, credentials that expire while a command runs.
"""

import json
import os
import ssl
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from sandbox.base.errors import SandboxError

_EXEC_SECONDS = 60


class Unusable(SandboxError):
    """A kubeconfig that nobody can use, or whose login program fails."""


@dataclass(frozen=True)
class Access:
    """Access to one API server."""

    server: str
    headers: Mapping[str, str]
    trust: ssl.SSLContext
    server_name: str | None = None
    """The name in the server's certificate, where that is not the server's address."""


def access(text: str) -> Access:
    """Return the access of the current context of a kubeconfig; its login program is run. Raises Unusable."""
    try:
        document = yaml.safe_load(text)
        context = _named(document, "context", document["current-context"])
        cluster = _named(document, "cluster", context["cluster"])
        user = _named(document, "user", context["user"]) if context.get("user") else {}
        server = str(cluster["server"]).rstrip("/")
        if login := user.get("exec"):
            user = {**user, **_credential(login, cluster)}
        return Access(server, _headers(user), _trust(cluster, user), cluster.get("tls-server-name"))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
        # What cannot be read may hold a token.
        raise Unusable("it is not what kubectl would read") from wrong
    except (OSError, ValueError, subprocess.SubprocessError) as wrong:
        raise Unusable(str(wrong)) from wrong


def _named(document: Mapping[str, Any], kind: str, name: str) -> dict[str, Any]:
    content = next((entry[kind] for entry in document[f"{kind}s"] if entry["name"] == name), None)
    if content is None:
        raise Unusable(f"it has no {kind} {name!r}")
    return dict(content)


def _headers(user: Mapping[str, Any]) -> dict[str, str]:
    if file := user.get("tokenFile"):
        return {"Authorization": f"Bearer {Path(file).read_text().strip()}"}
    if token := user.get("token"):
        return {"Authorization": f"Bearer {token}"}
    if name := user.get("username"):
        return {"Authorization": "Basic " + b64encode(f"{name}:{user.get('password', '')}".encode()).decode()}
    return {}


def _trust(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    """Return TLS with the cluster's authority, or those that everybody trusts, and the user's certificate."""
    authority = _content(cluster, "certificate-authority")
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = _content(user, "client-certificate"), _content(user, "client-key")
    if certificate is not None and key is not None:
        # Python takes them from files only.
        with TemporaryDirectory(prefix="kubeflow-spot-") as folder:
            file = Path(folder, "client.pem")
            file.touch(mode=0o600)
            file.write_bytes(certificate + b"\n" + key)
            context.load_cert_chain(file)
    return context


def _content(part: Mapping[str, Any], name: str) -> bytes | None:
    """Return a value that a kubeconfig has as base64 in `<name>-data`, or in a file."""
    if data := part.get(f"{name}-data"):
        return b64decode(data)
    return Path(part[name]).read_bytes() if part.get(name) else None


def _credential(login: Mapping[str, Any], cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a login program (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/)."""
    spec: dict[str, Any] = {"interactive": False}
    if login.get("provideClusterInfo"):
        names = ("server", "tls-server-name", "certificate-authority-data", "insecure-skip-tls-verify")
        spec["cluster"] = {name: cluster[name] for name in names if name in cluster}
    question = {"apiVersion": login["apiVersion"], "kind": "ExecCredential", "spec": spec}
    variables = {variable["name"]: variable["value"] for variable in login.get("env") or ()}
    done = subprocess.run(
        [login["command"], *(login.get("args") or ())],
        env={**os.environ, **variables, "KUBERNETES_EXEC_INFO": json.dumps(question)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_EXEC_SECONDS,
        check=False,
    )
    if done.returncode:
        raise Unusable(f"{login['command']} failed: {done.stderr.strip()}")
    status = json.loads(done.stdout)["status"]
    credential = {"token": status.get("token")}
    for name in ("client-certificate", "client-key"):
        first, second = name.split("-")
        if data := status.get(f"{first}{second.title()}Data"):
            credential[f"{name}-data"] = b64encode(data.encode()).decode()
    return credential
