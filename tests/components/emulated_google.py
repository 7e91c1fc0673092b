"""The emulated Google Cloud behind Pulumi's mocks.

`seed` creates the existing resources that a stack file refers to, so that each reference is checked.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.cloud.cluster_runtime import Endpoint
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.gcp.gcp_provider import GcpProvider
from sandbox.gcp.resources import gcp_identity
from sandbox.tests.azure.conftest import RecordingRuntime
from tests.components.emulation import Emulated
from tests.components.pools import GKE_CLUSTER

_NETWORK = "gcp:compute/network:Network"
_SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
_ACCOUNT = "gcp:serviceaccount/account:Account"
_PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
_KEY_MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
_SUBNET_MEMBER = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"


class _Runtime(RecordingRuntime):
    def endpoint(self, cluster_id: str) -> Endpoint:
        return Endpoint("203.0.113.10", "Y2E=")


class EmulatedGoogle(Emulated):
    """The emulated Google Cloud, with what stacks refer to."""

    prefix = "gcp:"

    def __init__(self, state: Path) -> None:
        super().__init__(GcpProvider(GcpCloud(state, _Runtime())))

    def seed(self, settings: Mapping[str, Any]) -> None:
        """Make what the settings of a stack, as in its file's `config`, refer to."""
        cloud = settings["kubeflow-spot:cloud"]
        project = cloud["project"]
        account = cloud.get("serviceAccount", "")
        if account.endswith(f"@{project}.iam.gserviceaccount.com"):
            self.make(_ACCOUNT, {"project": project, "accountId": account.partition("@")[0]})
        if vpc := cloud.get("network", {}).get("existing"):
            self._network(vpc.get("project", project), _region(cloud["location"]), vpc)
            if vpc.get("grantAccess") is False:
                self._let_in(project, vpc.get("project", project), _region(cloud["location"]), vpc["subnet"])
        if bucket := settings.get("kubeflow-spot:workloads", {}).get("checkpoints", {}).get("existing"):
            place = {"project": "example-shared", "location": "EU", "uniformBucketLevelAccess": True}
            self.make("gcp:storage/bucket:Bucket", {**place, "name": bucket})
        encryption = cloud.get("encryption", {})
        if encryption.get("grantAccess") is False:
            for name, agent in (
                ("secretsKey", gcp_identity.kubernetes_agent),
                ("bootDiskKey", gcp_identity.compute_agent),
            ):
                if name not in encryption:
                    continue
                key = {"cryptoKeyId": encryption[name], "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter"}
                self.make(_KEY_MEMBER, {**key, "member": f"serviceAccount:{agent(project)}"})
        if existing_cluster := cloud.get("existingCluster"):
            ranges = {"subnet": "theirs", "podRange": "pods", "serviceRange": "services"}
            network, subnet = self._network(
                project, _region(existing_cluster["location"]), {"name": "theirs", **ranges}
            )
            self.make(
                GKE_CLUSTER,
                {
                    "project": project,
                    "location": existing_cluster["location"],
                    "name": existing_cluster["name"],
                    "network": network,
                    "subnetwork": subnet,
                    "initialNodeCount": 1,
                    "workloadIdentityConfig": {"workloadPool": f"{project}.svc.id.goog"},
                    "ipAllocationPolicy": {
                        "clusterSecondaryRangeName": "pods",
                        "servicesSecondaryRangeName": "services",
                    },
                },
            )

    def _let_in(self, project: str, host: str, region: str, subnet: str) -> None:
        """Make the grants of a Shared VPC's owner."""
        kubernetes, google = gcp_identity.kubernetes_agent(project), gcp_identity.google_apis_account(project)
        role = {"project": host, "role": "roles/container.hostServiceAgentUser"}
        self.make(_PROJECT_MEMBER, {**role, "member": f"serviceAccount:{kubernetes}"})
        for agent in (kubernetes, google):
            on = {"project": host, "region": region, "subnetwork": subnet, "role": "roles/compute.networkUser"}
            self.make(_SUBNET_MEMBER, {**on, "member": f"serviceAccount:{agent}"})

    def _network(self, project: str, region: str, names: Mapping[str, str]) -> tuple[str, str]:
        network, _ = self.make(_NETWORK, {"project": project, "name": names["name"], "autoCreateSubnetworks": False})
        subnet, _ = self.make(
            _SUBNETWORK,
            {
                "project": project,
                "region": region,
                "name": names["subnet"],
                "network": network,
                "ipCidrRange": "10.8.0.0/20",
                "privateIpGoogleAccess": True,
                "secondaryIpRanges": [
                    {"rangeName": names["podRange"], "ipCidrRange": "10.16.0.0/14"},
                    {"rangeName": names["serviceRange"], "ipCidrRange": "10.20.0.0/20"},
                ],
            },
        )
        return network, subnet


def _region(location: str) -> str:
    return "-".join(location.split("-")[:2])
