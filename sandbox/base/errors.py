"""Errors for the person at the terminal; the command line prints them without a traceback."""


class SandboxError(Exception):
    """An error whose message names subject, problem and remedy."""


class ProgramError(SandboxError):
    """A program of the sandbox is missing and cannot be fetched or built."""
