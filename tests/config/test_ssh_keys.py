"""A public key is taken whole or not at all: its own lengths show where it was cut."""

from __future__ import annotations

import base64
import hashlib

import pytest

from config.stack_file import loader
from tests.config.stack import GOOD, good

BYTES = hashlib.sha256(b"a key that nobody has").digest()


def line(kind: str, *fields: bytes, named: str = "") -> str:
    """Return a public key as OpenSSH writes it, with these fields after its kind."""
    parts = ((named or kind).encode(), *fields)
    body = base64.b64encode(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).decode()
    return f"{kind} {body}"


WHOLE = (line("ssh-ed25519", BYTES), line("ssh-rsa", b"\x01\x00\x01", b"\x00" + BYTES * 8))


def refused(key: str) -> list[str]:
    raw = good(cloud={**GOOD["cloud"], "ssh": {"publicKey": key}})
    return [problem.what for problem in loader.read_stack(raw)[1] if problem.path == "cloud.ssh.publicKey"]


@pytest.mark.parametrize("key", WHOLE)
def test_a_whole_key_is_taken_with_and_without_a_comment(key: str) -> None:
    assert refused(key) == refused(f"{key} ops@example.com") == []


@pytest.mark.parametrize("key", WHOLE)
def test_a_key_that_is_cut_anywhere_is_refused(key: str) -> None:
    kind, body = key.split()
    for end in range(1, len(body.rstrip("="))):
        assert refused(f"{kind} {body[:end]}"), end
        assert refused(f"{kind} {body[:end]} ops@example.com"), end


@pytest.mark.parametrize(
    ("key", "what"),
    [
        (line("ssh-ed25519", BYTES[:-1]), "has 31 bytes, and such a key has 32"),
        (line("ssh-ed25519", BYTES, b"more"), "is cut"),
        (line("ssh-rsa", b"\x01\x00\x01"), "is cut"),
        (line("ssh-rsa", BYTES, named="ssh-ed25519"), "is a key of another kind"),
        (line("ssh-ed25519"), "is cut"),
    ],
)
def test_a_key_whose_fields_are_not_those_of_its_kind_is_refused(key: str, what: str) -> None:
    (problem,) = refused(key)
    assert what in problem
