"""The settings of an existing cluster on any cloud: the program adds only the layer inside."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, StringConstraints

from config.model.cluster import CloudSettings
from config.model.fields import Model, optional, worded

Path = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        min_length=1,
        max_length=4096,
        pattern=worded(
            r"^([^$]|\$[^A-Za-z_{(])*\$?$",
            "the path itself, such as ~/.kube/config: `~` is replaced, $HOME is not",
        ),
    ),
]
"""A path without shell variables, at most PATH_MAX characters (Linux, limits.h). White space around
it is dropped: YAML's `|` adds a line's end."""


class Kubeconfig(Model):
    """Credentials of the cluster; exactly one of `file`, `contents` and `stack`."""

    file: Path | None = optional(
        None,
        "A kubeconfig on the machine that runs Pulumi.",
        "~/.kube/config",
    )
    context: str | None = optional(
        None,
        "With `file`: a context in it. Default: the current one.",
        "shared-cluster",
        min_length=1,
    )
    contents: SecretStr | None = optional(
        None,
        "The kubeconfig itself; set it with `pulumi config set --secret --path`.",
        min_length=1,
    )
    stack: str | None = optional(
        None,
        "Another stack with a kubeconfig as an output: organization/project/stack.",
        "example/platform/prod",
        pattern=r"^[^/\s]+/[^/\s]+/[^/\s]+$",
    )
    output: str = optional(
        "kubeconfig", "With `stack`: the name of the output.", "kubeconfig", min_length=1
    )


class Existing(CloudSettings):
    """Any existing cluster, by its kubeconfig."""

    provider: Literal["existing"] = Field(description="An existing cluster on any cloud.")
    name: str = Field(
        pattern=worded(
            r"^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$",
            "at most 63 letters, digits and -, such as shared-cluster; no - first or last",
        ),
        description="A name for the cluster, for outputs and names of resources.",
        examples=["shared-cluster"],
    )
    kubeconfig: Kubeconfig = Field(description="The credentials of the cluster.")

    @property
    def existing_name(self) -> str:
        """The name."""
        return self.name
