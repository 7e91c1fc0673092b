"""Errors whose text is written for the person at the terminal; the command line prints them without a traceback."""


class SandboxError(Exception):
    """What went wrong and what to do about it, in words for the reader of a terminal."""


class ProgramError(SandboxError):
    """A program the sandbox runs cannot be found, fetched or built."""
