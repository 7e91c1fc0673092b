"""The certificates of a control plane."""

import ipaddress
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from sandbox.cluster.control_plane import certificates
from sandbox.cluster.control_plane.certificates import ensure_certificates


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
