"""A cluster, declared in Python (docs/reference/library.md)."""

import pulumi
import pulumi_kubeflow_spot as kubeflow_spot

cluster = kubeflow_spot.KubeflowCluster(
    "ml",
    release="r2026-11",
    cluster=kubeflow_spot.ClusterArgs(name="ml-team"),
    cloud=kubeflow_spot.AzureArgs(
        provider="azure",
        location="westeurope",
        network=kubeflow_spot.AzureNetworkArgs(policy="calico"),
    ),
    system_pool=kubeflow_spot.SystemPoolArgs(machine="Standard_D4ds_v5", max_nodes=4),
    pools=[
        kubeflow_spot.PoolArgs(name="general", machine="Standard_D8ds_v5", max_nodes=6),
        kubeflow_spot.PoolArgs(name="t4", machine="Standard_NC4as_T4_v3", capacity="spot", max_nodes=8),
    ],
)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("remembered", cluster.remembered)
