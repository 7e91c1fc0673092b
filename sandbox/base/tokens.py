"""Tokens in a process's environment, which programs of other revisions and installers of packages have no use for.

A sandbox needs no account, so nothing that would open one is passed on. Files of the user, such as what `az login` leaves, are out
of this module's reach.
"""

import re
from collections.abc import Mapping

_WORDS = re.compile(r"(^|_)(TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIAL|KEY|PAT|AUTH)S?(_|\d*$)", re.IGNORECASE)
_CLOUDS = ("ACTIONS_", "ARM_", "AWS_", "AZURE_", "CLOUDSDK_", "GH_", "GOOGLE_", "PULUMI_ACCESS", "VAULT_")
"""GitHub's ACTIONS_ID_TOKEN_REQUEST_URL and _TOKEN bring an identity on every cloud that trusts the job's environment."""


def without_tokens(environment: Mapping[str, str], *, but: str = "\0") -> dict[str, str]:
    """Return an environment less the variables that are tokens, or lead to one, by their names.

    Those whose names begin with `but` stay: an installer's own, such as the password of a package index.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(but) or not (_WORDS.search(name) or name.upper().startswith(_CLOUDS))
    }
