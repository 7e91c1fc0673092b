"""Image pull secrets: logins at registries, in the namespaces whose pods pull from them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from components.layer import names
from components.layer.manifest import Manifest
from components.layer.part import Inside, Part
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


class PullSecrets(Part):
    """One Secret a namespace. The namespaces must exist; a pod names the Secret in its imagePullSecrets."""

    def __init__(
        self,
        name: str,
        secrets: Sequence[ImagePullSecret],
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:PullSecrets", name, inside)
        for secret in secrets:
            # `Manifest` keeps it secret. As data: the API server keeps no stringData to compare with.
            data = {".dockerconfigjson": docker_config(secret)}
            for namespace in secret.namespaces:
                Manifest(
                    f"{name}-{namespace}-{secret.name}",
                    {
                        "apiVersion": "v1",
                        "kind": "Secret",
                        "metadata": {
                            "name": secret.name,
                            "namespace": namespace,
                            "labels": names.labels(self.instance),
                        },
                        "type": "kubernetes.io/dockerconfigjson",
                        "data": data,
                    },
                    self.child,
                )
        self.register_outputs({})
