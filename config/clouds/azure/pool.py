"""The settings of a pool that only AKS has, under its key `azure`."""

from __future__ import annotations

from pydantic import Field

from config.model.pool import AnyPool, PoolOptions


class AzureNodes(PoolOptions):
    """Settings of a pool's nodes that only AKS has."""

    # https://learn.microsoft.com/azure/aks/use-trusted-launch
    secure_boot: bool = Field(
        False,
        description="Secure Boot of Trusted Launch: nodes boot signed software alone. Not with the GPU driver that AKS installs.",
    )
    vtpm: bool = Field(
        False,
        description="A virtual TPM of Trusted Launch, which measures what a node boots. Generation 2 machines alone.",
    )


def nodes_of(pool: AnyPool) -> AzureNodes:
    """Return a pool's own settings, with AKS' defaults where the file has none."""
    options = pool.options
    return options if isinstance(options, AzureNodes) else AzureNodes()
