// A cluster, declared in C# (docs/reference/library.md).
using System.Collections.Generic;
using Pulumi;
using Pulumi.KubeflowSpot;
using Pulumi.KubeflowSpot.Inputs;

return await Deployment.RunAsync(() =>
{
    var cluster = new KubeflowCluster("ml", new()
    {
        Release = "r2026-11",
        Cluster = new ClusterArgs { Name = "ml-team" },
        Cloud = new AzureArgs
        {
            Provider = "azure",
            Location = "westeurope",
            Network = new AzureNetworkArgs { Policy = "calico" },
        },
        SystemPool = new SystemPoolArgs { Machine = "Standard_D4ds_v5", MaxNodes = 4 },
        Pools =
        {
            new PoolArgs { Name = "general", Machine = "Standard_D8ds_v5", MaxNodes = 6 },
            new PoolArgs { Name = "t4", Machine = "Standard_NC4as_T4_v3", Capacity = "spot", MaxNodes = 8 },
        },
    });
    return new Dictionary<string, object?>
    {
        ["kubeconfig"] = cluster.Kubeconfig,
        ["remembered"] = cluster.Remembered,
    };
});
