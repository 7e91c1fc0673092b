"""Contents of an existing cluster: read once, before anything is declared.

Uses the official client, which runs exec plugins such as kubelogin. Deliberately changes nothing in
the cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import yaml

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

from components.layer import names
from components.layer.autoscaler import expander
from components.layer.scheduling import contract
from config.clouds.traits import RulesKind

_PUBLISHED = f"{names.PART_OF}={names.PROGRAM}"

_SECONDS = 15
"""For each answer."""

_RIGHTS = (
    "must be allowed to list DaemonSets and ClusterPolicies in the whole cluster and to change "
    "objects in kube-system and"
    " kube-public"
)
"""The rights of the kubeconfig's user that the layer needs."""


@dataclass(frozen=True)
class Contents:
    """Objects as the API server holds them."""

    version: str
    """The API server's, such as 1.36.2; only the minor version, such as 1.35, if it emulates an
    older one."""
    daemon_sets: tuple[Mapping[str, Any], ...] = ()
    policies: tuple[Mapping[str, Any], ...] = ()
    """ClusterPolicies of NVIDIA's GPU operator."""
    expander: Mapping[str, Any] | None = None
    """The ConfigMap of the priority expander."""
    contracts: tuple[Mapping[str, Any], ...] = ()
    """The ConfigMaps by which stacks of this program tell users' tools about the pools."""
    compute_class: Mapping[str, Any] | None = None
    """GKE's object of the requested name, of any owner."""


def read_contents(kubeconfig: str, key: str, compute_class: str | None = None) -> Contents:
    """Read everything the layer needs.

    `key`: the key of the stack file by which errors name the cluster; `compute_class`: the name of
    the stack's class. Raise `pulumi.RunError` if the cluster does not answer or refuses.
    """
    # A new cluster does not need this import, which takes half a second.
    from kubernetes import client

    with connected(kubeconfig, key) as api:
        version = get(key, "the version", client.VersionApi(api).get_code)
        daemon_sets = get(
            key, "DaemonSets", client.AppsV1Api(api).list_daemon_set_for_all_namespaces
        )
        # The kind is missing in a cluster without the operator.
        custom = client.CustomObjectsApi(api)
        operators = ("nvidia.com", "v1", "clusterpolicies")
        policies = get(key, "ClusterPolicies", custom.list_cluster_custom_object, *operators)
        classes = None
        if compute_class:
            name = ("cloud.google.com", "v1", "computeclasses", compute_class)
            classes = get(key, "a ComputeClass", custom.get_cluster_custom_object, *name)
        read_map = client.CoreV1Api(api).read_namespaced_config_map
        priorities = get(key, "a ConfigMap", read_map, expander.NAME, expander.NAMESPACE)
        list_maps = client.CoreV1Api(api).list_namespaced_config_map
        contracts = get(key, "ConfigMaps", list_maps, contract.NAMESPACE, label_selector=_PUBLISHED)
    return Contents(
        _version(version or {}),
        tuple((daemon_sets or {}).get("items", ())),
        tuple((policies or {}).get("items", ())),
        priorities,
        tuple((contracts or {}).get("items", ())),
        classes,
    )


def serves(kubeconfig: str, key: str, kind: RulesKind, namespace: str | None) -> bool:
    """Return whether the cluster has the kind. Raise as `read_contents`."""
    from kubernetes import client

    group, version = kind.api_version.split("/")
    rights = f"must be allowed to list and change {kind.plural} of {group}"
    with connected(kubeconfig, key) as api:
        custom = client.CustomObjectsApi(api)
        read, place = custom.list_cluster_custom_object, [group, version]
        if namespace:
            read, place = custom.list_namespaced_custom_object, [*place, namespace]
        return get(key, kind.kind, read, *place, kind.plural, rights=rights, limit=1) is not None


def _version(answer: Mapping[str, Any]) -> str:
    """Return the emulated version, which decides on kinds and fields.

    https://kubernetes.io/docs/concepts/cluster-administration/compatibility-version
    """
    own = str(answer.get("gitVersion", "")).removeprefix("v")
    emulated = f"{answer.get('emulationMajor') or ''}.{answer.get('emulationMinor') or ''}"
    return emulated if len(emulated) > 1 and not own.startswith(f"{emulated}.") else own


@contextmanager
def connected(kubeconfig: str, key: str) -> Iterator[ApiClient]:
    """Yield a client of the cluster. Raise `pulumi.RunError` for an unusable kubeconfig."""
    from kubernetes import config
    from kubernetes.config import ConfigException

    try:
        api: ApiClient = config.new_client_from_config_dict(yaml.safe_load(kubeconfig))
    except (ConfigException, yaml.YAMLError, TypeError, AttributeError) as wrong:
        # A YAML error would show the line, which may hold a token.
        why = _line(wrong) if isinstance(wrong, ConfigException) else "kubectl could not read it"
        raise pulumi.RunError(f"{key}: the kubeconfig cannot be used: {why}") from None
    api.configuration.retries = False
    with api:
        yield api


def get(
    key: str,
    what: str,
    call: Callable[..., Any],
    *arguments: str,
    rights: str = _RIGHTS,
    **query: str | int,
) -> dict[str, Any] | None:
    """Return the answer as plain data; None when no object has that name.

    Raise `pulumi.RunError` when the server does not answer, or refuses: `rights` says what its user
    needs.
    """
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError

    host = call.__self__.api_client.configuration.host  # type: ignore[attr-defined]
    try:
        answer = call(*arguments, **query, _preload_content=False, _request_timeout=_SECONDS)
        content: dict[str, Any] = json.loads(answer.data)
    except ApiException as refused:
        if refused.status == 404:
            return None
        if refused.status == 0:  # no trust in its certificate
            raise pulumi.RunError(_silent(key, host, refused.reason)) from None
        raise pulumi.RunError(
            f"{key}: the cluster's API server, {host}, refuses to show {what}: {refused.status} "
            f"{refused.reason}\n"
            f"  the kubeconfig's user {rights}"
        ) from None
    except HTTPError as silent:
        raise pulumi.RunError(_silent(key, host, silent)) from None
    except ValueError:
        raise pulumi.RunError(f"{key}: the server at {host} is no API server") from None
    return content


def _silent(key: str, host: str, why: object) -> str:
    return f"{key}: the cluster's API server, {host}, does not answer: {_line(why)}"


def _line(error: object) -> str:
    return " ".join(str(error).split())
