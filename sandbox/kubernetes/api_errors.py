"""Errors of requests to an API server."""

from sandbox.base.errors import SandboxError


class Unreachable(SandboxError):
    """No API server answers at the address of the kubeconfig."""


class ApiError(SandboxError):
    """The API server refuses a request. The text is its own message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
