"""Questions to a production stack that leaves to GKE's defaults who gets in and whose keys are used (docs/adr/0011).

They warn and never refuse. Dataplane V2, private nodes, logs and workload identity are this program's defaults in every stack.
"""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.rules.draft import Draft
from config.rules.production_rules import undecided


def _address(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not {"ip_endpoint", "authorized_ranges"} & gcp.access.model_fields_set:
        yield from undecided(
            draft,
            "cloud.access.ipEndpoint",
            "everybody on the internet may try the API server's address",
            "`ipEndpoint: none`, which leaves the DNS name and its check of roles, or `authorizedRanges` with your own",
            "`ipEndpoint: public`",
        )


def _everybody(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # kubeflow/manifests 26.03 binds to system:authenticated: kubeflow-pipelines-public, kubeflow-trainer-public and
    # kubeflow-trainer-view-cluster-runtimes.
    if "roles_for_everybody" not in gcp.access.model_fields_set:
        yield from undecided(
            draft,
            "cloud.access.rolesForEverybody",
            "one RoleBinding can give everybody with a Google account a role",
            "`rolesForEverybody: authenticated`, which Kubeflow's manifests need, or `refused`",
            "`rolesForEverybody: allowed`",
        )


def _key(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if "secrets_key" not in gcp.encryption.model_fields_set:
        yield from undecided(
            draft,
            "cloud.encryption.secretsKey",
            "Secrets in etcd have no key of yours",
            "`secretsKey: projects/.../locations/.../keyRings/.../cryptoKeys/...` of a key in the cluster's region",
            "`secretsKey: null`",
        )


NEW_CLUSTER_RULES = (_address, _everybody, _key)
