"""Certificates and keys of one control plane, made once and kept for its life.

Kubernetes reads a client's common name as the user, and the organisation as the group
(https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates); the built-in roles
bind `system:kube-scheduler` and `system:kube-controller-manager` by these names.
"""

import ipaddress
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.base.files import write_private

VALIDITY = timedelta(days=3650)
CLIENTS = {  # file name: (user, group or None)
    "etcd-client": ("kube-apiserver", None),
    "admin": ("sandbox-admin", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "kube-scheduler": ("system:kube-scheduler", None),
    # kwok plays the kubelets of all nodes, which no identity of one node may do.
    "kwok": ("kwok", "system:masters"),
}


def ensure_certificates(folder: Path, service_cidr: str) -> None:
    """Make `folder` with all certificates unless it exists: `<name>.crt` and `<name>.key`, mode 0600.

    Names are `ca`, `serving` (API server, scheduler and controller manager on 127.0.0.1), those in CLIENTS, and
    `service-accounts` (`.key` signs their tokens, `.pub` checks them). A start killed halfway leaves no folder.
    """
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        authority = Authority(unfinished)
        authority.issue("serving", "kube-apiserver", None, serving_names(service_cidr))
        for name, (user, group) in CLIENTS.items():
            authority.issue(name, user, group)
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        write_private(unfinished / "service-accounts.key", encoded(key))
        write_private(unfinished / "service-accounts.pub", public)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def serving_names(service_cidr: str) -> x509.SubjectAlternativeName:
    """Return all names of the API server: loopback, and the `kubernetes` Service with the first address of its range."""
    service = "kubernetes.default.svc"
    names = ("localhost", "kubernetes", "kubernetes.default", service, f"{service}.cluster.local")
    addresses = (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_network(service_cidr)[1])
    return x509.SubjectAlternativeName(
        [*(x509.DNSName(name) for name in names), *(x509.IPAddress(address) for address in addresses)]
    )


class Authority:
    """A certificate authority that writes its certificates to one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = subject("kubeflow-spot-sandbox", None)
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        certificate = (
            self.draft(self.name, self.key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self.key, hashes.SHA256())
        )
        self.write("ca", certificate, self.key)

    def draft(self, owner: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        """Return a certificate with names, number, key identifiers and validity, without key usage."""
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(owner)
            .issuer_name(self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))  # for a clock that is set back by a day
            .not_valid_after(now + VALIDITY)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            # OpenSSL in strict mode (from Python 3.13) refuses a chain without this extension.
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )

    def issue(self, name: str, user: str, group: str | None, names: x509.SubjectAlternativeName | None = None) -> None:
        """Write a serving certificate when `names` are given, else a client certificate."""
        key = ec.generate_private_key(ec.SECP256R1())
        purpose = ExtendedKeyUsageOID.SERVER_AUTH if names else ExtendedKeyUsageOID.CLIENT_AUTH
        usage = x509.KeyUsage(True, False, False, False, False, False, False, False, False)
        builder = (
            self.draft(subject(user, group), key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        )
        if names:
            builder = builder.add_extension(names, critical=False)
        self.write(name, builder.sign(self.key, hashes.SHA256()), key)

    def write(self, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        """Write a certificate and its key as PEM."""
        write_private(self.folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))
        write_private(self.folder / f"{name}.key", encoded(key))


def subject(user: str, group: str | None) -> x509.Name:
    """Return a certificate's owner: user and group."""
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def encoded(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a private key as unencrypted PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
