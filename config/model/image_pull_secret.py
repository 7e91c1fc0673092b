"""The settings of Secrets with which pods pull images."""

from __future__ import annotations

from pydantic import Field, SecretStr

from config.model.fields import Model, Namespace, worded


class ImagePullSecret(Model):
    """A Secret of type kubernetes.io/dockerconfigjson, for registries that a node's identity cannot pull from."""

    name: str = Field(
        pattern=worded(
            r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$",
            "lower-case letters, digits, - and ., first and last a letter or digit, such as acr-auth",
        ),
        description="The Secret's name.",
        examples=["acr-auth"],
    )
    server: str = Field(
        min_length=1,
        max_length=1000,
        description="The registry's host.",
        examples=["example.azurecr.io"],
    )
    username: str = Field(min_length=1, description="The login's name.", examples=["puller"])
    password: SecretStr = Field(
        min_length=1,
        description="The login's password; set it with `pulumi config set --secret --path`.",
    )
    namespaces: tuple[Namespace, ...] = Field(
        ("default",),
        min_length=1,
        description="Existing namespaces that get the Secret.",
        examples=[["team-a"]],
    )
