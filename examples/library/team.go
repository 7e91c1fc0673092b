// A cluster, declared in Go (docs/reference/library.md).
package main

import (
	spot "github.com/pulumi/pulumi-kubeflow-spot/sdk/go/kubeflow-spot"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		cluster, err := spot.NewKubeflowCluster(ctx, "ml", &spot.KubeflowClusterArgs{
			Release: pulumi.String("r2026-11"),
			Cluster: &spot.ClusterArgs{Name: pulumi.String("ml-team")},
			Cloud: &spot.AzureArgs{
				Provider: pulumi.String("azure"),
				Location: pulumi.String("westeurope"),
				Network:  &spot.AzureNetworkArgs{Policy: pulumi.String("calico")},
			},
			SystemPool: &spot.SystemPoolArgs{Machine: pulumi.String("Standard_D4ds_v5"), MaxNodes: pulumi.Int(4)},
			Pools: spot.PoolArray{
				&spot.PoolArgs{Name: pulumi.String("general"), Machine: pulumi.String("Standard_D8ds_v5"), MaxNodes: pulumi.Int(6)},
				&spot.PoolArgs{
					Name:     pulumi.String("t4"),
					Machine:  pulumi.String("Standard_NC4as_T4_v3"),
					Capacity: pulumi.String("spot"),
					MaxNodes: pulumi.Int(8),
				},
			},
		})
		if err != nil {
			return err
		}
		ctx.Export("kubeconfig", cluster.Kubeconfig)
		ctx.Export("remembered", cluster.Remembered)
		return nil
	})
}
