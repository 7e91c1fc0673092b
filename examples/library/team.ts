// A cluster, declared in TypeScript (docs/reference/library.md).
import { KubeflowCluster } from "@pulumi/kubeflow-spot";

const cluster = new KubeflowCluster("ml", {
    release: "r2026-11",
    cluster: { name: "ml-team" },
    cloud: { provider: "azure", location: "westeurope", network: { policy: "calico" } },
    systemPool: { machine: "Standard_D4ds_v5", maxNodes: 4 },
    pools: [
        { name: "general", machine: "Standard_D8ds_v5", maxNodes: 6 },
        { name: "t4", machine: "Standard_NC4as_T4_v3", capacity: "spot", maxNodes: 8 },
    ],
});

export const kubeconfig = cluster.kubeconfig;
export const remembered = cluster.remembered;
