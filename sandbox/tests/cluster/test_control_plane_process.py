"""Versions and certificates of a control plane, and the record of its processes."""

import ipaddress
import json
import signal
import stat
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from sandbox.base.errors import SandboxError
from sandbox.cluster.control_plane import certificates
from sandbox.cluster.control_plane.certificates import ensure_certificates
from sandbox.cluster.control_plane.process import Process, stop_all
from sandbox.cluster.control_plane.start import emulated_version
from sandbox.tests.stack import until

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.mark.parametrize(
    ("wanted", "emulated"), [("1.36", None), ("1.36.9", None), ("1.35.3", "1.35"), ("1.33", "1.33")]
)
def test_versions_within_reach_are_emulated(wanted: str, emulated: str | None) -> None:
    assert emulated_version(wanted, "1.36.2") == emulated


@pytest.mark.parametrize("wanted", ["1.37", "1.32"])
def test_other_versions_are_refused_with_the_supported_ones(wanted: str) -> None:
    with pytest.raises(SandboxError, match=r"1\.33 to 1\.36"):
        emulated_version(wanted, "1.36.2")


@pytest.mark.process
def test_a_reused_pid_is_never_signalled(tmp_path: Path) -> None:
    """A record with another start time or command line is not the process of that pid."""
    process = Process("sleeper", tmp_path)
    process.launch(SLEEP, [], {})
    try:
        record = json.loads(process.record.read_text())
        for change in ({"created": record["created"] - 3600}, {"command": ["other"]}):
            process.write(record | change)
            assert process.find() is None
            stop_all([process])
            assert process.exit_code() is None, "somebody else's process was stopped"
        process.write(record | {"pid": None})  # A start that was killed between launch and record.
        assert process.find()
    finally:
        assert process.child
        process.child.kill()
        process.child.wait()


@pytest.mark.process
def test_a_process_deaf_to_sigterm_is_killed(tmp_path: Path) -> None:
    process = Process("deaf", tmp_path)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    process.launch([sys.executable, "-c", code], [], {})
    assert until(lambda: "deaf" in process.log_tail())
    stop_all([process], grace=0.3)
    assert process.find() is None
    assert process.exit_code() == -signal.SIGKILL


def load(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_the_serving_certificate_covers_loopback_and_the_first_service_address(tmp_path: Path) -> None:
    ensure_certificates(tmp_path / "c", "10.7.0.0/16")
    names = load(tmp_path / "c" / "serving.crt").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"localhost", "kubernetes.default.svc"} <= set(names.get_values_for_type(x509.DNSName))
    expected = {ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("10.7.0.1")}
    assert set(names.get_values_for_type(x509.IPAddress)) == expected


def test_clients_have_the_names_of_kubernetes_roles_and_are_signed_by_the_authority(tmp_path: Path) -> None:
    ensure_certificates(tmp_path / "c", "10.0.0.0/16")
    authority = load(tmp_path / "c" / "ca.crt")
    for name, (user, group) in certificates.CLIENTS.items():
        certificate = load(tmp_path / "c" / f"{name}.crt")
        certificate.verify_directly_issued_by(authority)
        assert [part.value for part in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == [user]
        groups = [part.value for part in certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
        assert groups == ([group] if group else [])


def test_files_are_private_complete_and_created_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(certificates, "serving_names", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ensure_certificates(tmp_path / "c", "10.0.0.0/16")
    assert list(tmp_path.iterdir()) == []
    ensure_certificates(tmp_path / "c", "10.0.0.0/16")
    before = {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "c").iterdir()} == {0o600}
    ensure_certificates(tmp_path / "c", "10.0.0.0/16")
    assert {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()} == before
