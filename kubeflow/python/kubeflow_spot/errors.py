"""The error of this package."""


class ContractError(Exception):
    """The contract cannot be read, or holds nothing for what is asked.

    The message names the subject, the problem and the remedy; users' tools catch this class alone:
    `except ContractError as error: print(error)`.
    """
