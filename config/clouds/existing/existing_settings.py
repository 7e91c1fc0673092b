"""The settings of an existing cluster, on any cloud or none: this program adds the layer inside and nothing else."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, StringConstraints

from config.model.cluster import CloudSettings
from config.model.fields import Model, worded

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
"""At most PATH_MAX characters (Linux, limits.h), no variables of a shell. White space around it is dropped: YAML's `|` adds a
line's end."""


class Kubeconfig(Model):
    """Credentials of the cluster; exactly one of `file`, `contents` and `stack`."""

    file: Path | None = Field(
        None,
        description="The path of a kubeconfig on the machine that runs Pulumi; `~` is the home directory.",
        examples=["~/.kube/config"],
    )
    context: str | None = Field(
        None,
        min_length=1,
        description="With `file`: a context in it. Default: the current one.",
        examples=["shared-cluster"],
    )
    contents: SecretStr | None = Field(
        None,
        min_length=1,
        description="The kubeconfig itself; set it with `pulumi config set --secret --path`.",
    )
    stack: str | None = Field(
        None,
        pattern=r"^[^/\s]+/[^/\s]+/[^/\s]+$",
        description="Another stack whose output is a kubeconfig, as organization/project/stack.",
        examples=["example/platform/prod"],
    )
    output: str = Field(
        "kubeconfig",
        min_length=1,
        description="With `stack`: the name of the output.",
        examples=["kubeconfig"],
    )


class Existing(CloudSettings):
    """Any existing cluster, by its kubeconfig."""

    provider: Literal["existing"] = Field(description="An existing cluster on any cloud.")
    name: str = Field(
        pattern=worded(
            r"^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$",
            "at most 63 letters, digits and -, first and last a letter or digit, such as shared-cluster",
        ),
        description="A name for the cluster, for outputs and names of resources.",
        examples=["shared-cluster"],
    )
    kubeconfig: Kubeconfig = Field(description="The credentials of the cluster.")

    @property
    def existing_name(self) -> str:
        """The name."""
        return self.name
