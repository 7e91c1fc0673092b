"""Placement: the contract, who may read it, the policies in force, and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checks.check import Check, Remark, note, ok, wrong
from checks.ready.checks import provisioned
from checks.ready.cluster import BrokenContract, Cluster, Contract, NoContract
from checks.ready.snapshot import Object
from components.layer import cel, names

_GUARDS = ("guard-platform", "guard-profiles")
_DEFAULTS = "defaults"
_KEPT = "kept-pods"
"""What keeps Karpenter from moving pods that may not run on spot."""
_UP = "run `pulumi up`"


def _contract(cluster: Cluster) -> Iterator[Remark]:
    try:
        contract = cluster.contract
    except NoContract:
        yield wrong(
            "the contract, a ConfigMap in kube-public, is missing: tools do not know the pools",
            f"{_UP}; `scheduling.enabled: false` declares none",
        )
        return
    except BrokenContract as fault:
        yield wrong(f"the contract, a ConfigMap in kube-public, cannot be read: {fault}", _UP)
        return
    role = names.object_name(contract.instance, "contract")
    readable = all(
        any(item["metadata"]["name"] == role for item in cluster.objects(kind))
        for kind in ("publicRoles", "publicBindings")
    )
    if not readable:
        yield wrong(
            f"the Role or RoleBinding kube-public/{role} is missing: service accounts cannot read"
            " the contract",
            _UP,
        )
    else:
        yield ok(
            f"stack {contract.instance}, release {contract.release}: {len(contract.pools)} pools"
        )


def _policies(cluster: Cluster) -> Iterator[Remark]:
    contract = cluster.contract
    faults = list(_guard_faults(cluster, contract))
    served = {
        resource["name"] for resource in (cluster.part("admission") or {}).get("resources", ())
    }
    if "mutatingadmissionpolicies" in served:
        for role in (_DEFAULTS, *([_KEPT] if provisioned.moves_pods(cluster) else [])):
            faults += _missing(
                names.object_name(contract.instance, role),
                "MutatingAdmissionPolicy",
                cluster.objects("mutatingPolicies"),
                cluster.objects("mutatingBindings"),
            )
    yield from faults
    if not any(fault.state == "wrong" for fault in faults):
        yield ok(f"the policies of stack {contract.instance} are there, bound and accepted")


def _guard_faults(cluster: Cluster, contract: Contract) -> Iterator[Remark]:
    policies, bindings = (
        cluster.objects("validatingPolicies"),
        cluster.objects("validatingBindings"),
    )
    for role in _GUARDS:
        name = names.object_name(contract.instance, role)
        faults = list(_missing(name, "ValidatingAdmissionPolicy", policies, bindings))
        yield from faults
        if faults:
            continue
        policy = next(item for item in policies if item["metadata"]["name"] == name)
        actions = {
            action
            for binding in bindings
            if binding["spec"]["policyName"] == name
            for action in binding["spec"].get("validationActions") or ()
        }
        if "Deny" not in actions:
            yield note(
                f"{name} refuses nothing: its binding says"
                f" {', '.join(sorted(actions)) or 'nothing'}",
                "set `scheduling.guard.mode: enforce` if that is not wanted",
            )
        yield from _stale(name, policy, contract)
        warnings = (
            ((policy.get("status") or {}).get("typeChecking") or {}).get("expressionWarnings")
        ) or ()
        if warnings:
            yield wrong(
                f"{name}: the API server warns of {warnings[0].get('fieldRef', 'an expression')}",
                _UP,
            )


def _stale(name: str, policy: Object, contract: Contract) -> Iterator[Remark]:
    """Yield a defect for each spot pool or taint that the guard does not know."""
    variables: Mapping[str, str] = {
        item["name"]: item["expression"] for item in policy["spec"].get("variables") or ()
    }
    known, taints = variables.get("spot", ""), variables.get("taints", "")
    for pool in contract.pools:
        if not pool.spot:
            continue
        if cel.value(pool.label) not in known:
            yield wrong(
                f"{name} does not know the spot pool {pool.label}: a pod may require it", _UP
            )
        elif pool.taints and not any(cel.value(taint.key) in taints for taint in pool.taints):
            yield wrong(
                f"{name} does not know the taints of spot pool {pool.label}: a notebook may"
                " tolerate them",
                _UP,
            )


def _missing(name: str, kind: str, policies: object, bindings: object) -> Iterator[Remark]:
    assert isinstance(policies, list | tuple)
    assert isinstance(bindings, list | tuple)
    if all(item["metadata"]["name"] != name for item in policies):
        yield wrong(f"{kind} {name} is missing", _UP)
    elif all(item["spec"].get("policyName") != name for item in bindings):
        yield wrong(f"{kind} {name} is bound to nothing, so it has no effect", _UP)


def _checkpoints(cluster: Cluster) -> Iterator[Remark]:
    checkpoints = cluster.contract.checkpoints
    if not checkpoints:
        yield note(
            "the contract names no storage for checkpoints: a pod that is evicted from spot"
            " starts anew"
        )
    else:
        yield note(
            f"checkpoints go to {checkpoints}; whether it answers, a kubeconfig alone does not show"
        )


CHECKS = (
    Check("contract", _contract, "docs/placement.md"),
    Check("policies", _policies, "docs/placement.md"),
    Check("checkpoints", _checkpoints),
)
