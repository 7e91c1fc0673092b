"""Image pull secrets: logins at registries, in the namespaces whose pods pull from them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

import pulumi_kubernetes as k8s

from components.layer.part import Inside, Part, metadata
from config.model.cluster import ImagePullSecret


def docker_config(secret: ImagePullSecret) -> str:
    """Return the Secret's one value, base64 of JSON.

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
    """One Secret in each namespace; a pod names it in its imagePullSecrets.

    It deliberately creates no namespaces and changes no service accounts.
    """

    def __init__(self, name: str, secrets: Sequence[ImagePullSecret], inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:PullSecrets", name, inside)
        for secret in secrets:
            # The SDK's class keeps `data` secret. The API server drops stringData, so it could not
            # be compared.
            data = {".dockerconfigjson": docker_config(secret)}
            for namespace in secret.namespaces:
                k8s.core.v1.Secret(
                    f"{name}-{namespace}-{secret.name}",
                    metadata=metadata(secret.name, self.instance, namespace),
                    type="kubernetes.io/dockerconfigjson",
                    data=data,
                    opts=self.child,
                )
        self.register_outputs({})
