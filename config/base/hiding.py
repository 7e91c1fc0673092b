"""What a text must not show or hold: secrets, and placeholders of templates."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SECRETS = {
    # RFC 7468; the text may be cut, and a line break may be written as \\n.
    "a private key": re.compile(
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|(?=['\"`])|\Z)",
        re.DOTALL,
    ),
    # The base64 of the same first line, as kubeconfigs have it.
    "an encoded private key": re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*"),
    # RFC 7519: a header that begins with {" in base64url.
    "a token": re.compile(
        r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,}(\.[A-Za-z0-9_-]*)*"
        # docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
        r"|(?<![A-Za-z0-9])(gh[pousr]_|github_pat_)[A-Za-z0-9_]{16,}"
        # docs.cloud.google.com/docs/authentication/token-types: access tokens; API keys.
        r"|(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{10,}|(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}"
        # www.pulumi.com/docs/administration/access-identity/access-tokens
        r"|(?<![A-Za-z0-9])pul-[0-9a-f]{40}"
    ),
    # Azure's connection strings and shared access signatures.
    "a key": re.compile(r"\b(AccountKey|SharedAccessKey|sig)=[A-Za-z0-9+/%=_-]{16,}"),
    # RFC 3986, 3.2.1: the user information of an address.
    "a password": re.compile(r"(?<=://)[^/@:\s]*:[^/@\s]+(?=@)"),
}

LOGIN_FIELDS = (
    "password",
    "token",
    "client-key-data",
    "id-token",
    "refresh-token",
    "access-token",
    "client-secret",
)
"""Fields of a kubeconfig with a secret (kubernetes.io/docs/reference/config-api/kubeconfig.v1)."""

LOGIN = re.compile(rf"""['"]?\b({"|".join(LOGIN_FIELDS)})['"]?\s*[:=]\s*(?!\.\.\.)[^\s,}}]+""")
"""Such a field with its value."""

_DOCUMENT = re.compile(r"\n|\\n|(?<!\$)\{")
"""A text of several lines (a break may be written as \\n), or an object; else `token:x` is a
name."""


def secret_in(text: str, *, logins: bool = True) -> str | None:
    """Return the kind of secret in a text, in words; None if none is known. `logins`: also of
    `LOGIN`.
    """
    forms = _forms(text) if logins else _SECRETS.items()
    return next((kind for kind, form in forms if form.search(text)), None)


def hidden(text: str) -> str:
    """Return the text with a word in place of each secret."""
    for kind, form in _forms(text):
        text = form.sub(f"({kind}, not shown)", text)
    return text


def _forms(text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    yield from _SECRETS.items()
    if _DOCUMENT.search(text):
        yield "a login", LOGIN


_WHOLE = (
    # Pipelines, shells and Terraform, Helm, documentation, Windows. Three letters at least:
    # `%C3%A4` is an encoded letter.
    r"\$\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|<[^<>]*>|%[A-Za-z_]\w{2,}%"
)

PLACEHOLDER = re.compile(rf"\s*({_WHOLE})\s*")
"""A text that is nothing else. A password may have any of their characters in it."""

PLACEHOLDER_INSIDE = re.compile(
    rf"{_WHOLE}|\$\{{[^}}]*\}}?|\$\([^)]*\)?|\$[A-Za-z_]\w*|(?<=/)\.\.\.(?=/|$)"
)
"""A placeholder inside of a text, also a cut one, a shell's `$name`, and our remedies' dots."""
