"""Secrets that registries ask for, in the namespaces whose pods pull from them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

import pulumi

from components.addons import names
from components.addons.manifest import Manifest
from config.model.image_pull_secret import ImagePullSecret


def docker_config(secret: ImagePullSecret) -> str:
    """The Secret's one value, base64 of JSON.

    https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/
    """
    password = secret.password.get_secret_value()
    login = {
        "username": secret.username,
        "password": password,
        "auth": base64.b64encode(f"{secret.username}:{password}".encode()).decode(),
    }
    return base64.b64encode(json.dumps({"auths": {secret.server: login}}).encode()).decode()


class PullSecrets(pulumi.ComponentResource):
    """One Secret a namespace. The namespaces are there already; a pod names the Secret in its imagePullSecrets."""

    def __init__(
        self,
        name: str,
        secrets: Sequence[ImagePullSecret],
        *,
        instance: str,
        opts: pulumi.ResourceOptions,
        child: pulumi.ResourceOptions,
    ) -> None:
        super().__init__("kubeflow-spot:addons:PullSecrets", name, None, opts)
        for secret in secrets:
            # `Manifest` keeps it secret. As data: the API server keeps no stringData to compare with.
            data = {".dockerconfigjson": docker_config(secret)}
            for namespace in secret.namespaces:
                Manifest(
                    f"{name}-{namespace}-{secret.name}",
                    {
                        "apiVersion": "v1",
                        "kind": "Secret",
                        "metadata": {"name": secret.name, "namespace": namespace, "labels": names.labels(instance)},
                        "type": "kubernetes.io/dockerconfigjson",
                        "data": data,
                    },
                    pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(parent=self)),
                )
        self.register_outputs({})
