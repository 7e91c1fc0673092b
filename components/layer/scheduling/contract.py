"""The contract with users' tools: a ConfigMap in kube-public that lists the pools and how a pod
gets on them.

kube-public grants no right to read; a Role opens this object. Its readers are groups, never
`system:authenticated`, which on GKE includes everybody with a Google account
(cloud.google.com/kubernetes-engine, page best-practices/rbac).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import yaml

from components.layer import names
from components.layer.part import Inside, Part, metadata
from config.model.scheduling import Placement
from config.placement import contract
from config.placement.node_pools import NodePool
from config.placement.pods import PLACEMENT_LABEL

NAMESPACE = "kube-public"
NAME = names.PROGRAM
"""The name in a cluster that the stack makes. In an existing one several stacks may publish, each
under a name of its own."""

REMEMBERED = "contract"
"""Key of the name among what the next update reads (`components.last_update`)."""

ROLE = "contract"

SERVICE_ACCOUNTS = "system:serviceaccounts"
"""The group of all service accounts (kubernetes.io/docs/reference/access-authn-authz/rbac)."""

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def own_contract(published: Iterable[Mapping[str, Any]], instance: str) -> Mapping[str, Any] | None:
    """Return this stack's contract among a cluster's; None without one."""
    return next((one for one in published if names.is_ours(names.labels_of(one), instance)), None)


def choose_name(
    instance: str, remembered: str | None, published: Iterable[Mapping[str, Any]] | None
) -> str:
    """Return the name under which the stack publishes. It never depends on what other stacks
    publish.

    `remembered`: the name of the last update. `published`: the contracts in an existing cluster,
    None in a new one.
    """
    if remembered or published is None:
        return remembered or NAME
    # Releases before the name was remembered took the short one where it was free.
    ours = own_contract(published, instance)
    return ours["metadata"]["name"] if ours else f"{NAME}-{instance}"


def data(
    release: str, pools: Sequence[NodePool], placements: Sequence[Placement] = tuple(Placement)
) -> dict[str, str]:
    """Return the ConfigMap's content: YAML for people, JSON for tools. `placements`: the label's
    values with an effect here.
    """
    content: dict[str, Any] = {
        "placements": [placement.value for placement in placements],
        "pools": contract.described_pools(pools),
        **contract.snippets(pools),
    }
    return {
        "release": release,
        "placementLabel": PLACEMENT_LABEL,
        **{f"{key}.yaml": as_yaml(value) for key, value in content.items()},
        **{f"{key}.json": json.dumps(value) for key, value in content.items()},
    }


def of_workloads(workloads: Mapping[str, Any] | None) -> dict[str, pulumi.Output[str]]:
    """Return the ConfigMap's part about users' storage, as outputs: new ids are unknown."""
    if not workloads:
        return {}
    known = pulumi.Output.from_input(workloads)
    return {"workloads.yaml": known.apply(as_yaml), "workloads.json": known.apply(json.dumps)}


def as_yaml(value: Any) -> str:
    """Return the text of `yaml.safe_dump`, written by libyaml if PyYAML has it: pure Python took a
    quarter of a pool's time.
    """
    return str(yaml.dump(value, Dumper=_DUMPER, sort_keys=False))


def as_output(
    name: str, pools: Sequence[NodePool], placements: Sequence[Placement] = tuple(Placement)
) -> dict[str, Any]:
    """Return the same content for the stack's outputs."""
    return {
        "namespace": NAMESPACE,
        "name": name,
        "placementLabel": PLACEMENT_LABEL,
        "placements": [placement.value for placement in placements],
        "snippets": contract.snippets(pools),
        "pools": contract.described_pools(pools),
    }


def access(
    name: str, readers: Sequence[str], instance: str
) -> tuple[k8s.rbac.v1.RoleInitArgs, k8s.rbac.v1.RoleBindingInitArgs]:
    """Return the Role to read the ConfigMap of this name, and its binding to all service accounts
    and the readers.

    The only verb is `get`: a resource name cannot limit list and watch (page rbac, "Referring to
    resources").
    """
    role = names.object_name(instance, ROLE)
    group = "rbac.authorization.k8s.io"
    called = metadata(role, instance, NAMESPACE)
    rule = k8s.rbac.v1.PolicyRuleArgs(
        api_groups=[""], resources=["configmaps"], resource_names=[name], verbs=["get"]
    )
    groups = sorted({SERVICE_ACCOUNTS, *readers})
    return (
        k8s.rbac.v1.RoleInitArgs(metadata=called, rules=[rule]),
        k8s.rbac.v1.RoleBindingInitArgs(
            metadata=called,
            role_ref=k8s.rbac.v1.RoleRefArgs(api_group=group, kind="Role", name=role),
            subjects=[
                k8s.rbac.v1.SubjectArgs(api_group=group, kind="Group", name=reader)
                for reader in groups
            ],
        ),
    )


class Contract(Part):
    """The ConfigMap, and the right of its readers. It deliberately holds no bounds and no prices:
    resizing is one update.
    """

    def __init__(
        self,
        name: str,
        published_as: str,
        content: Mapping[str, pulumi.Input[str]],
        readers: Sequence[str],
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:Contract", name, inside)
        config_map = metadata(published_as, self.instance, NAMESPACE)
        k8s.core.v1.ConfigMap(name, metadata=config_map, data=content, opts=self.child)
        role, binding = access(published_as, readers, self.instance)
        # Without the `bind` verb one can bind only a Role that exists and whose permissions one
        # holds: create the Role first (page rbac, "Privilege escalation prevention").
        k8s.rbac.v1.RoleBinding(name, binding, self.after(k8s.rbac.v1.Role(name, role, self.child)))
        self.register_outputs({})
