"""The provider of a cluster's objects."""

from __future__ import annotations

import os

import pulumi

from components.layer.manifest import sdk_version

ENVIRONMENT = {
    "deleteUnreachable": "PULUMI_K8S_DELETE_UNREACHABLE",
    "enableConfigMapMutable": "PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE",
    "enablePatchForce": "PULUMI_K8S_ENABLE_PATCH_FORCE",
    "enableSecretMutable": "PULUMI_K8S_ENABLE_SECRET_MUTABLE",
    "enableServerSideApply": "PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY",
    "skipUpdateUnreachable": "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE",
    "suppressDeprecationWarnings": "PULUMI_K8S_SUPPRESS_DEPRECATION_WARNINGS",
    "suppressHelmHookWarnings": "PULUMI_K8S_SUPPRESS_HELM_HOOK_WARNINGS",
    "upsertExistingObjects": "PULUMI_K8S_UPSERT_EXISTING_OBJECTS",
}
"""Switches that are off unless the program or the caller's environment sets them; the SDK's class reads the same names."""

_WORDS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class Provider(pulumi.ProviderResource):
    """The provider. The state shows no difference from the SDK's `pulumi_kubernetes.Provider` (docs/adr/0012)."""

    def __init__(
        self,
        name: str,
        *,
        kubeconfig: pulumi.Input[str],
        cluster_identifier: str,
        opts: pulumi.ResourceOptions,
        **switches: bool,
    ) -> None:
        """`switches`: by the names of the wire."""
        from_environment = {key: _WORDS.get(os.environ.get(variable, "")) for key, variable in ENVIRONMENT.items()}
        # Switches go as JSON texts: a provider's inputs are its configuration, which is text.
        texts = {
            key: str(value).lower() for key, value in {**from_environment, **switches}.items() if value is not None
        }
        super().__init__(
            "kubernetes",
            name,
            {"kubeconfig": kubeconfig, "clusterIdentifier": cluster_identifier, **texts},
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=sdk_version()), opts),
        )
