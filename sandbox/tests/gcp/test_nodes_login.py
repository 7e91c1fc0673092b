"""`gke-gcloud-auth-plugin` of the emulated cloud: who gets a token for what."""

import json
import os
import subprocess
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sandbox.gcp import workstation
from sandbox.gcp.auth_plugin import NAME, Denied, credential

API = "client.authentication.k8s.io/v1beta1"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def control_plane(clusters: Path, name: str, cloud: str, port: int) -> None:
    folder = clusters / name
    (folder / "certificates").mkdir(parents=True)
    (folder / "cluster.json").write_text(json.dumps({"cloud": cloud}))
    (folder / "ports.json").write_text(json.dumps({"kube-apiserver": port}))
    (folder / "certificates" / "ca.crt").write_text(f"authority of {name}")
    (folder / "token").write_text(f"token of {name}")


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    control_plane(tmp_path, "azure", "azure", 20001)
    control_plane(tmp_path, "ml", "gcp", 20002)
    control_plane(tmp_path, "other", "gcp", 20003)
    (tmp_path / "unstarted").mkdir()
    (tmp_path / "unstarted" / "cluster.json").write_text('{"cloud": "gcp"}')
    return tmp_path


def question(port: int, authority: str | None = "ml", **spec: Any) -> str:
    cluster = {"server": f"https://127.0.0.1:{port}"}
    if authority:
        cluster["certificate-authority-data"] = b64encode(f"authority of {authority}".encode()).decode()
    return json.dumps(
        {"apiVersion": API, "kind": "ExecCredential", "spec": {"interactive": False, "cluster": cluster, **spec}}
    )


def test_the_token_of_the_cluster_that_is_asked_for(clusters: Path) -> None:
    assert credential(clusters, question(20002), NOW) == {
        "apiVersion": API,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
        "status": {"expirationTimestamp": "2026-11-21T13:00:00Z", "token": "token of ml"},
    }
    assert credential(clusters, question(20003, "other"), NOW)["status"]["token"] == "token of other"
    # By a name whose certificate everybody trusts.
    assert credential(clusters, question(20002, None), NOW)["status"]["token"] == "token of ml"


@pytest.mark.parametrize(
    ("exec_info", "why"),
    [
        (question(20001, "azure"), r"https://127\.0\.0\.1:20001 is no cluster of this sandbox's emulated Google Cloud"),
        (question(20004), "is no cluster"),
        (question(20002, "other"), "is ml, but the kubeconfig trusts another authority"),
        (question(20002, cluster=None), "must have provideClusterInfo: true"),
        (question(20002).replace("v1beta1", "v1"), "must say apiVersion: client.authentication.k8s.io/v1beta1"),
        (None, "is run by kubectl and the like"),
        ("[]", "is run by kubectl and the like"),
    ],
)
def test_no_other_request_gets_a_token(clusters: Path, exec_info: str | None, why: str) -> None:
    with pytest.raises(Denied, match=why):
        credential(clusters, exec_info, NOW)


@pytest.mark.process
def test_the_program_on_the_path_answers_or_says_why_not(clusters: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"]}
    workstation.furnish(tmp_path / "a folder", clusters, environment)
    workstation.furnish(tmp_path / "a folder", clusters, environment)
    assert environment["PATH"] == f"{tmp_path / 'a folder'}{os.pathsep}{os.environ['PATH']}"

    def run(exec_info: str) -> subprocess.CompletedProcess[str]:
        variables = {**environment, "KUBERNETES_EXEC_INFO": exec_info}
        return subprocess.run([NAME], env=variables, capture_output=True, text=True, check=False)

    assert json.loads(run(question(20002)).stdout)["status"]["token"] == "token of ml"
    refused = run(question(20001))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("gke-gcloud-auth-plugin: https://127.0.0.1:20001 is no cluster")
    assert "token of" not in refused.stderr


def test_the_authorities_of_all_clusters_are_trusted(clusters: Path) -> None:
    workstation.trust(clusters)
    environment = {"PATH": "/bin"}
    workstation.furnish(clusters / "bin", clusters, environment)
    bundle = Path(environment["SSL_CERT_FILE"]).read_text()
    assert bundle == "authority of azureauthority of mlauthority of other"
