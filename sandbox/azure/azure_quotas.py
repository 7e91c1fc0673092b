"""A subscription's vCPU quotas, and the texts of what exceeds them.

Azure counts three things in each region: all regular machines (`cores`), those of one family, and all spot machines
(`lowPriorityCores`), whatever their family (https://learn.microsoft.com/azure/quotas/per-vm-quota-requests, spot-quota).
"""

from collections.abc import Collection

from sandbox.azure.azure_catalogue import machines, plain_region
from sandbox.cloud import quotas

CORES = "cores"
LOW_PRIORITY = "lowPriorityCores"

_MORE = (
    "If you want to increase the quota, please follow this instruction: "
    "https://learn.microsoft.com/en-us/azure/quotas/view-quotas. Surge nodes would also consume vcpu quota, please consider use "
    "smaller maxSurge or use maxUnavailable to proceed upgrade without surge nodes, details: aka.ms/aks/maxUnavailable."
)


class Excess(quotas.Excess):
    """A quota in vCPUs."""

    @property
    def at_the_door(self) -> str:
        """AKS' text for a request it refuses at once."""
        if self.name == CORES:
            # AKS error page quotaexceeded, and several public logs of 2025 and 2026.
            head = f"Insufficient regional vcpu quota left for location {self.region}. "
            return f"{head}left regional vcpu quota {self.left}, requested quota {self.required}. {_MORE}"
        # 1ChristianAlex/motordesk #14
        head = f"Insufficient vcpu quota requested {self.required}, remaining {self.left} for family {self.name} "
        return f"{head}for region {self.region}. {_MORE}"

    @property
    def later(self) -> str:
        """The compute service's text, when the machines are asked for."""
        # openshift/release #33708, scylladb/scylla-cluster-tests #4994
        named = {CORES: "Total Regional Cores", LOW_PRIORITY: "LowPriorityCores"}
        return (
            "Operation could not be completed as it results in exceeding approved "
            f"{named.get(self.name, f'{self.name} Cores')} quota. Additional details - Deployment Model: Resource Manager, "
            f"Location: {self.region}, Current Limit: {self.limit}, Current Usage: {self.used}, "
            f"Additional Required: {self.required}, (Minimum) New Limit Required: {self.used + self.required}."
        )


class Quotas(quotas.Quotas):
    """Limits in vCPUs: `{westeurope: {cores: 100, lowPriorityCores: 16, standardNCASv3_T4Family: 8}}`, names in any case."""

    where, example, unit = "quotas", "{cores: 100}", " of vCPUs"

    @staticmethod
    def region(text: str) -> str:
        return plain_region(text)

    @staticmethod
    def name(text: str) -> str:
        # The SKU API itself spells families as `standardDSv5Family` and as `Standard NCASv3_T4 Family`.
        return text.replace(" ", "").lower()

    @classmethod
    def known(cls, region: str) -> Collection[str]:
        return {cls.name(name) for name in (CORES, LOW_PRIORITY, *(machine.family for machine in machines().values()))}

    @classmethod
    def unknown(cls, region: str) -> str:
        return f"is neither {CORES}, {LOW_PRIORITY} nor a machine family of the catalogue"


UNLIMITED = Quotas()
