"""A cluster that somebody else made, on any cloud or none: this program adds the layer inside and nothing else."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from config.model.cloud import CloudSettings
from config.model.fields import Model


class Kubeconfig(Model):
    """Where the credentials of the cluster come from; exactly one of `file`, `contents` and `stack`."""

    file: str | None = Field(None, min_length=1, description="a path on the machine that runs Pulumi")
    context: str | None = Field(
        None, min_length=1, description="with `file`: a context in it; default: the current one"
    )
    contents: SecretStr | None = Field(None, description="the kubeconfig itself: `pulumi config set --secret --path`")
    stack: str | None = Field(
        None, pattern=r"^[^/]+/[^/]+/[^/]+$", description="another stack, as organization/project/stack"
    )
    output: str = Field("kubeconfig", min_length=1, description="with `stack`: the name of its output")


class Existing(CloudSettings):
    """Any existing cluster, by its kubeconfig."""

    provider: Literal["existing"]
    name: str = Field(
        pattern=r"^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$",
        description="what outputs and resources call the cluster",
    )
    kubeconfig: Kubeconfig

    @property
    def existing_name(self) -> str:
        """The name."""
        return self.name
