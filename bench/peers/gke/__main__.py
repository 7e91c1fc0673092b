"""A GKE cluster as people write one: in the style of Pulumi's examples, with the SDK's classes."""

import json

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes

config = pulumi.Config()
machine = config.get("machine") or "e2-standard-4"
nodes = config.get_int("nodes") or 1
project = pulumi.Config("gcp").require("project")
region = pulumi.Config("gcp").require("region")

network = gcp.compute.Network("gke", auto_create_subnetworks=False)

subnet = gcp.compute.Subnetwork(
    "gke",
    region=region,
    network=network.id,
    ip_cidr_range="10.8.0.0/20",
    private_ip_google_access=True,
    secondary_ip_ranges=[
        gcp.compute.SubnetworkSecondaryIpRangeArgs(range_name="pods", ip_cidr_range="10.16.0.0/14"),
        gcp.compute.SubnetworkSecondaryIpRangeArgs(range_name="services", ip_cidr_range="10.20.0.0/20"),
    ],
)

cluster = gcp.container.Cluster(
    "gke",
    location=region,
    network=network.id,
    subnetwork=subnet.id,
    remove_default_node_pool=True,
    initial_node_count=1,
    deletion_protection=False,
    ip_allocation_policy=gcp.container.ClusterIpAllocationPolicyArgs(
        cluster_secondary_range_name="pods", services_secondary_range_name="services"
    ),
    release_channel=gcp.container.ClusterReleaseChannelArgs(channel="REGULAR"),
    workload_identity_config=gcp.container.ClusterWorkloadIdentityConfigArgs(workload_pool=f"{project}.svc.id.goog"),
)

account = gcp.serviceaccount.Account("nodes", account_id="peer-nodes", display_name="Nodes of the cluster")

pool = gcp.container.NodePool(
    "spot",
    cluster=cluster.id,
    initial_node_count=nodes,
    autoscaling=gcp.container.NodePoolAutoscalingArgs(min_node_count=0, max_node_count=4),
    node_config=gcp.container.NodePoolNodeConfigArgs(
        machine_type=machine,
        spot=True,
        service_account=account.email,
        oauth_scopes=["https://www.googleapis.com/auth/cloud-platform"],
    ),
)


def kubeconfig(name: str, endpoint: str, authority: str) -> str:
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "gke-gcloud-auth-plugin",
            "interactiveMode": "Never",
            "provideClusterInfo": True,
        }
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": name, "cluster": {"server": f"https://{endpoint}", "certificate-authority-data": authority}}
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
            "users": [{"name": name, "user": user}],
        }
    )


access = pulumi.Output.all(cluster.name, cluster.endpoint, cluster.master_auth.cluster_ca_certificate).apply(
    lambda parts: kubeconfig(*parts)
)
kubernetes.Provider("gke", kubeconfig=access, opts=pulumi.ResourceOptions(depends_on=[pool]))
pulumi.export("kubeconfig", pulumi.Output.secret(access))
