"""What Azure's answers mean for a stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checks.check import Check, Remark, ok, some, wrong
from checks.preflight.answers import Answers, Document
from checks.preflight.azure import azure_names, azure_reservations, azure_rights, placement_scores
from checks.preflight.demand import Need
from checks.preflight.quotas import Drawn, Limit, drawn_of, judge, reserved
from config.clouds.azure.azure_settings import Azure


def _settings(answers: Answers) -> Azure:
    cloud = answers.demand.spec.cloud
    assert isinstance(cloud, Azure)
    return cloud


def _location(answers: Answers) -> str:
    """Return the stack's region, or that of the existing cluster."""
    return _settings(answers).location or str((answers.part("cluster") or {}).get("location") or "")


def _skus(answers: Answers) -> Mapping[str, Document]:
    """Return the sizes of the region by lower-cased name: Azure compares names without case."""
    return {
        str(item["name"]).lower(): item
        for item in answers.part("skus") or ()
        if item.get("resourceType") == "virtualMachines"
    }


def _capability(sku: Document, name: str) -> str:
    return next(
        (
            str(item.get("value"))
            for item in sku.get("capabilities") or ()
            if item.get("name") == name
        ),
        "",
    )


def _machines(answers: Answers) -> Iterator[Remark]:
    skus, location, fine = _skus(answers), _location(answers), True
    for need in answers.demand.needs:
        for remark in _of_machine(need, skus.get(need.machine.lower()), location):
            fine = False
            yield remark
    if fine:
        yield ok(f"{location} has {some({need.machine for need in answers.demand.needs})}")


def _of_machine(need: Need, sku: Document | None, location: str) -> Iterator[Remark]:
    if sku is None:
        yield wrong(
            f"{location} has no {need.machine}, which pool {need.pool} wants",
            "choose another machine or region: az vm list-skus",
        )
        return
    barred: set[str] = set()
    for restriction in sku.get("restrictions") or ():
        why = restriction.get("reasonCode", "")
        if restriction.get("type") == "Location":
            yield wrong(
                f"{need.machine} of pool {need.pool} is closed to this subscription in {location}"
                f" ({why})",
                "ask Azure's support for the size in the region, or choose another",
            )
            return
        barred |= set((restriction.get("restrictionInfo") or {}).get("zones") or ())
    offered = {
        zone for info in sku.get("locationInfo") or () for zone in info.get("zones") or ()
    } - barred
    missing = sorted(set(need.zones) - offered)
    if missing:
        yield wrong(
            f"{need.machine} of pool {need.pool} is not offered in zone {', '.join(missing)} of"
            f" {location}",
            f"set its `zones` to {', '.join(sorted(offered)) or 'none'}"
            if offered
            else "leave `zones` out, or choose another machine",
        )
    if need.spot and _capability(sku, "LowPriorityCapable").lower() == "false":
        yield wrong(
            f"Azure sells no {need.machine} as spot, which pool {need.pool} wants",
            "choose another machine",
        )


def _quota(answers: Answers) -> Iterator[Remark]:
    skus, up = _skus(answers), _live(answers)
    drawn = [
        part
        for need in answers.demand.needs
        if not need.reserved
        for part in _draws(
            need, skus.get(need.machine.lower()), up.get((need.pool, need.machine.lower()), 0)
        )
    ]
    limits: dict[str, Limit | None] = dict.fromkeys((part.quota for part in drawn), None)
    spelt = {_family(quota): quota for quota in limits}
    for usage in answers.part("usages") or ():
        name = spelt.get(_family(str(usage["name"]["value"])))
        if name:
            limits[name] = Limit(float(usage["limit"]), float(usage["currentValue"]))
    yield from judge(
        drawn, limits, "vCPUs", "ask for more quota (docs/azure.md, Quotas), or lower `maxNodes`"
    )
    yield from reserved(need.pool for need in answers.demand.needs if need.reserved)


def _live(answers: Answers) -> Mapping[tuple[str, str], int]:
    """Return the number of live nodes by pool and lower-cased size."""
    pools = _properties(answers).get("agentPoolProfiles") or ()
    return {
        (pool["name"], str(pool.get("vmSize", "")).lower()): int(pool.get("count") or 0)
        for pool in pools
    }


def _properties(answers: Answers) -> Document:
    """Return the live cluster's properties; empty without a cluster. Raises `NotSeen`."""
    return (answers.part("cluster") or {}).get("properties") or {}


def _draws(need: Need, sku: Document | None, up: int) -> Iterator[Drawn]:
    """Yield the quotas of a pool: spot draws only on `lowPriorityCores`, others on `cores` and
    their family (pages quotas, spot-vms)."""
    family = str((sku or {}).get("family") or (need.known.family if need.known else ""))
    vcpus = int(_capability(sku, "vCPUs") or 0) if sku else need.known.vcpus if need.known else 0
    for quota in ("lowPriorityCores",) if need.spot else ("cores", family):
        if quota and vcpus:
            yield drawn_of(need, quota, vcpus, up)


def _family(name: str) -> str:
    """Normalize a family name, which SKUs and usages spell differently."""
    return name.replace(" ", "").lower()


def _version(answers: Answers) -> Iterator[Remark]:
    if not answers.demand.new:
        yield ok("the cluster exists, and keeps its version")
        return
    wanted, location = answers.demand.spec.kubernetes_version, _location(answers)
    running = str(_properties(answers).get("currentKubernetesVersion") or "")
    if f"{running}.".startswith(f"{wanted}."):
        yield ok(f"the cluster runs Kubernetes {running} already")
        return
    offered = {
        str(item["version"]): item for item in (answers.part("versions") or {}).get("values") or ()
    }
    minor = ".".join(wanted.split(".")[:2])
    entry = offered.get(minor)
    patches = (entry or {}).get("patchVersions") or {}
    if entry is None or (wanted != minor and wanted not in patches):
        yield wrong(
            f"AKS has no Kubernetes {wanted} in {location}; it has"
            f" {', '.join(sorted(offered)) or 'none'}",
            "choose a release or `cluster.kubernetesVersion` of that list",
        )
    elif entry.get("isPreview"):
        yield wrong(
            f"Kubernetes {wanted} is a preview in {location}",
            "choose a release with an older version",
        )
    elif (
        not _settings(answers).long_term_support
        and (plans := (entry.get("capabilities") or {}).get("supportPlan"))
        and "KubernetesOfficial" not in plans
    ):
        yield wrong(
            f"Kubernetes {wanted} has long-term support alone in {location}",
            "choose a newer release, or set `cloud.longTermSupport: true` and `cloud.tier:"
            " Premium`",
        )
    elif _settings(answers).long_term_support and "AKSLongTermSupport" not in (
        (entry.get("capabilities") or {}).get("supportPlan") or ()
    ):
        yield wrong(
            f"Kubernetes {wanted} has no long-term support",
            "leave `cloud.longTermSupport` out, or choose another version",
        )
    else:
        yield ok(f"AKS has Kubernetes {wanted} in {location}")


_PROVIDERS = (
    "Microsoft.ContainerService",
    "Microsoft.Compute",
    "Microsoft.Network",
    "Microsoft.ManagedIdentity",
    "Microsoft.Storage",
)
_OF_LOGS = ("Microsoft.OperationalInsights", "Microsoft.OperationsManagement", "Microsoft.Insights")
_OF_METRICS = ("Microsoft.Monitor", "Microsoft.Insights", "Microsoft.AlertsManagement")


def _registered(answers: Answers) -> Iterator[Remark]:
    cloud = _settings(answers)
    wanted = {
        *_PROVIDERS,
        *(_OF_LOGS if cloud.monitoring.logs else ()),
        *(_OF_METRICS if cloud.monitoring.metrics else ()),
    }
    if cloud.encryption.kms:
        wanted.add("Microsoft.KeyVault")
    states = {
        str(item["namespace"]).lower(): item.get("registrationState")
        for item in answers.part("providers") or ()
    }
    missing = sorted(name for name in wanted if states.get(name.lower()) != "Registered")
    for name in missing:
        yield wrong(
            f"the provider {name} is not registered",
            f"az provider register --namespace {name} --wait",
        )
    if cloud.encryption.at_host:
        feature = answers.part("feature")
        if ((feature or {}).get("properties") or {}).get("state") != "Registered":
            missing.append("feature")
            yield wrong(
                "the feature Microsoft.Compute/EncryptionAtHost is not registered, and"
                " `encryption.atHost` needs it",
                "az feature register --namespace Microsoft.Compute --name EncryptionAtHost",
            )
    if not missing:
        yield ok(f"{len(wanted)} providers are registered")


_PAGES = "learn.microsoft.com/"
_RIGHT = "Reader on the subscription (docs/azure.md, Rights)"

CHECKS: tuple[Check[Answers], ...] = (
    Check("machines", _machines, f"{_PAGES}rest/api/compute/resource-skus/list", _RIGHT),
    Check(
        "reservations",
        azure_reservations.reservations,
        f"{_PAGES}rest/api/compute/capacity-reservations/list-by-capacity-reservation-group;"
        f" {_PAGES}azure/aks/use-capacity-reservation-groups",
        "Reader on the capacity reservation group",
    ),
    Check(
        "quota",
        _quota,
        f"{_PAGES}rest/api/compute/usage/list; {_PAGES}azure/virtual-machines/quotas",
        _RIGHT,
    ),
    Check(
        "spot",
        placement_scores.spot,
        f"{_PAGES}azure/virtual-machine-scale-sets/spot-placement-score",
    ),
    Check(
        "version",
        _version,
        f"{_PAGES}rest/api/aks/managed-clusters/list-kubernetes-versions",
        _RIGHT,
    ),
    Check(
        "registered",
        _registered,
        f"{_PAGES}azure/azure-resource-manager/management/resource-providers-and-types",
        _RIGHT,
    ),
    Check(
        "permissions",
        azure_rights.permissions_held,
        f"{_PAGES}rest/api/authorization/permissions",
        _RIGHT,
    ),
    Check("names", azure_names.names, f"{_PAGES}rest/api/aks/managed-clusters/get", _RIGHT),
    Check(
        "bucket",
        azure_names.bucket,
        f"{_PAGES}rest/api/storagerp/storage-accounts/check-name-availability",
        "Reader on the subscription, and on the account of `existing`",
    ),
)
