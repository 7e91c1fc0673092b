"""How a request to an API server can end badly."""

from __future__ import annotations


class Unreachable(Exception):
    """No API server answers at the address of the kubeconfig."""


class ApiError(Exception):
    """The API server refuses a request. The text is its own message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
