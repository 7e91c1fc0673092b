"""How Google Cloud refuses, and the text the bridged provider makes of it.

A refusal reads `googleapi: Error <status>: <message>, <reason>`; Terraform's provider puts words before it and the bridge wraps
it (go-multierror; pulumi-terraform-bridge sdk-v2, provider.go). What failed after it was accepted has no such prefix.

Texts are quoted from the source beside each rule. Where no source gives them the words are ours: the rule is marked
`as_read`, and what the user sees ends in "(as the sandbox reads it)".
"""

from sandbox.cloud.provider import Refused


class GcpRefused(Refused):
    """A refusal of a Google API, with its parts."""

    def __init__(self, status: int, message: str, reason: str) -> None:
        super().__init__(f"googleapi: Error {status}: {message}, {reason}")
        self.status, self.message, self.reason = status, message, reason


def bad_request(message: str) -> GcpRefused:
    return GcpRefused(400, message, "badRequest")


def invalid(message: str) -> GcpRefused:
    """Return Compute Engine's 400."""
    return GcpRefused(400, message, "invalid")


def not_found(id: str) -> GcpRefused:
    """Return GKE's 404."""
    # terraform-provider-google #5229
    return GcpRefused(404, f"Not found: {id}.", "notFound")


def no_resource(id: str) -> GcpRefused:
    """Return Compute Engine's 404."""
    # https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-using-reservations, and many logs
    return GcpRefused(404, f"The resource '{id}' was not found", "notFound")


def exists(id: str) -> GcpRefused:
    """Return Compute Engine's 409."""
    return GcpRefused(409, f"The resource '{id}' already exists", "alreadyExists")


def in_use(kind: str, id: str, by: str) -> GcpRefused:
    """Return Compute Engine's refusal to delete what another resource needs."""
    # pulumi-gcp #1253
    return GcpRefused(
        400, f"The {kind} resource '{id}' is already being used by '{by}'", "resourceInUseByAnotherResource"
    )


def wrapped(text: str) -> str:
    """Return one error as go-multierror prints it."""
    return f"1 error occurred:\n\t* {text}\n\n"
