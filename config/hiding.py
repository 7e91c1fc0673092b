"""Hiding of values that may be secrets from messages, wherever somebody wrote them."""

from __future__ import annotations

import re

_SECRETS = {
    # RFC 7468; the text may be cut, and a line break may be written as \\n.
    "a private key": re.compile(
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|(?=['\"`])|\Z)", re.DOTALL
    ),
    # The base64 of the same first line, as kubeconfigs have it.
    "an encoded private key": re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*"),
    # RFC 7519: a header that begins with {" in base64url.
    "a token": re.compile(
        r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,}(\.[A-Za-z0-9_-]*)*"
        # docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
        r"|(?<![A-Za-z0-9])(gh[pousr]_|github_pat_)[A-Za-z0-9_]{16,}"
        # docs.cloud.google.com/docs/authentication/token-types: access tokens; API keys.
        r"|(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{10,}|(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"
        # www.pulumi.com/docs/administration/access-identity/access-tokens
        r"|(?<![A-Za-z0-9])pul-[0-9a-f]{40}"
    ),
    # Azure's connection strings and shared access signatures.
    "a key": re.compile(r"\b(AccountKey|SharedAccessKey|sig)=[A-Za-z0-9+/%=_-]{16,}"),
    # Fields of a kubeconfig (kubernetes.io/docs/reference/config-api/kubeconfig.v1).
    "a login": re.compile(
        r"""['"]?\b(password|token|client-key-data|id-token|refresh-token|access-token|client-secret)['"]?\s*[:=]\s*"""
        r"""(?!\.\.\.)[^\s,}]+"""
    ),
}


def secret_in(text: str) -> str | None:
    """The kind of secret that a text holds, in words; None when none is known in it."""
    return next((kind for kind, form in _SECRETS.items() if form.search(text)), None)


def hidden(text: str) -> str:
    """A text with a word in place of each secret in it."""
    for kind, form in _SECRETS.items():
        text = form.sub(f"({kind}, not shown)", text)
    return text
