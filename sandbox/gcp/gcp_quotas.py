"""A project's quotas: the vCPUs and GPUs allowed in a region, and the errors beyond them.

Metrics are Compute Engine's (docs.cloud.google.com/compute/resource-usage): CPUs by family, of which accelerator-optimized ones
need none but A2; GPUs by model; the same again for spot and preemptible machines, which use the standard quota until a preemptible
one was requested, then only that (second hand, UNCONFIRMED); and all GPUs of the project together.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from sandbox.cloud import quotas
from sandbox.cloud.facts import tables
from sandbox.cloud.state import Body, Resources
from sandbox.gcp import gcp_catalogue, gcp_errors, gcp_ids, instance_groups
from sandbox.gcp.gcp_catalogue import machines
from sandbox.gcp.resources.gcp_requests import POOL

GLOBAL = "global"
"""Stands for a region where a limit is the project's."""

ALL_GPUS = "GPUS_ALL_REGIONS"

_CPUS: dict[str, str] = tables("gcp")["quotas"]["cpus"]
_GPUS: dict[str, str] = tables("gcp")["quotas"]["gpus"]
_PREEMPTIBLE_CPUS = "PREEMPTIBLE_CPUS"

Usage = Counter[tuple[str, str]]
"""By region and metric."""


class Excess(quotas.Excess):
    """A quota of a region, or of the whole project."""

    @property
    def at_the_door(self) -> str:
        # vanvalenlab/kiosk-console #367; the word for a quota of the whole project is UNCONFIRMED
        scope = "global" if self.region == GLOBAL else "regional"
        return (
            f"nsufficient {scope} quota to satisfy request: resource \"{self.name}\": request requires '{self.required}.0' "
            f"and is short '{self.required - self.left}.0'. project has a quota of '{self.limit}.0' with '{self.left}.0' "
            "available. "
        )

    @property
    def later(self) -> str:
        """Compute Engine's text, when the autoscaler asks for machines."""
        # https://cloud.google.com/compute/resource-usage, and many logs
        where = "globally" if self.region == GLOBAL else f"in region {self.region}"
        return f"Quota '{self.name}' exceeded. Limit: {self.limit}.0 {where}."


class Quotas(quotas.Quotas):
    """Limits such as `{europe-west4: {PREEMPTIBLE_NVIDIA_L4_GPUS: 4, CPUS: 24}, global: {GPUS_ALL_REGIONS: 8}}`."""

    where, example = "quotas.gcp", "{NVIDIA_L4_GPUS: 4}"
    no_region = f"neither a region of Google Cloud nor {GLOBAL}"

    @classmethod
    def known(cls, region: str) -> Collection[str]:
        if region == GLOBAL:
            return {ALL_GPUS}
        gpus = set(_GPUS.values())
        preemptible = {_PREEMPTIBLE_CPUS, *(f"PREEMPTIBLE_{metric}" for metric in gpus)}
        return {*_CPUS.values(), *gpus, *preemptible} if gcp_catalogue.zones_of_region(region) else set()

    @classmethod
    def unknown(cls, region: str) -> str:
        return f"is no quota of Compute Engine's here, such as {', '.join(sorted(cls.known(region))[:3])}"

    def usage(self, resources: Resources) -> Usage:
        """Return the usage of all pools."""
        usage: Usage = Counter()
        for pool in resources.of_type(POOL):
            for metric, amount in self._of_a_node(pool.body, gcp_ids.region(pool.body["location"])):
                usage[metric] += amount * instance_groups.size(resources, pool)
        return usage

    def _of_a_node(self, pool: Body, region: str) -> Iterator[tuple[tuple[str, str], int]]:
        config, known = pool["nodeConfig"], self.limits.get(region, {})
        machine = machines()[config["machineType"]]
        # Page dws-flex-start-training: flex-start needs the quota of preemptible GPUs.
        reclaimable = any(config.get(way) for way in ("spot", "preemptible", "flexStart"))
        if cpus := _CPUS.get(machine.family):
            preemptible = reclaimable and _PREEMPTIBLE_CPUS in known
            yield (region, _PREEMPTIBLE_CPUS if preemptible else cpus), machine.vcpus
        for accelerator in config.get("guestAccelerators") or []:
            metric = _GPUS.get(accelerator["type"])
            if metric:
                preemptible = reclaimable and f"PREEMPTIBLE_{metric}" in known
                yield (region, f"PREEMPTIBLE_{metric}" if preemptible else metric), accelerator["count"]
            yield (GLOBAL, ALL_GPUS), accelerator["count"]

    def exceeded(self, before: Usage, after: Usage) -> list[Excess]:
        """Return the quotas that a change exceeds; those exceeded before count only when usage grows."""
        excesses = []
        for (region, metric), amount in sorted(after.items()):
            limit, used = self.limit(region, metric), before[region, metric]
            if limit is not None and amount > limit and amount > used:
                excesses.append(Excess(region, metric, limit, used, amount - used))
        return excesses


UNLIMITED = Quotas()


def refusal(excesses: list[Excess], project: str) -> gcp_errors.GcpRefused:
    """Return GKE's 403 for a request that exceeds quotas."""
    more = f"View and manage quotas at https://console.cloud.google.com/iam-admin/quotas?usage=USED&project={project}."
    if len(excesses) == 1:
        text = f"I{excesses[0].at_the_door}{more}"
    else:
        # kaiwaehner/hivemq-mqtt-tensorflow-kafka-realtime-iot-machine-learning-training-inference #48
        text = "".join(f"\n\t({i}) i{excess.at_the_door}{more}" for i, excess in enumerate(excesses, 1))
    refused = gcp_errors.GcpRefused(403, text, "forbidden")
    return refused.as_read() if any(excess.region == GLOBAL for excess in excesses) else refused
