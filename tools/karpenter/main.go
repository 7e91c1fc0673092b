// Node auto-provisioning of AKS: Karpenter with the provider of Azure, whose requests an emulated Azure answers.
//
//	karpenter crds
//	karpenter simulate --azure SOCKET --location westeurope --subscription ID --resource-group NAME
//	karpenter run --azure SOCKET --location westeurope --subscription ID --resource-group NAME --clock-factor 60
//
// `crds` prints the definitions of the custom resources. `run` is the program that AKS runs for a cluster whose
// nodeProvisioningProfile has the mode Auto. KUBECONFIG names the cluster; the rest are environment variables of Karpenter and of
// Azure's provider (CLUSTER_NAME, VNET_SUBNET_ID and so on). Own are the transport (azure.go) and the factor (times.go) alone.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/Azure/karpenter-provider-azure/pkg/apis"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "crds" {
		exitOn(printDefinitions())
		return
	}
	commands := map[string]func(settings) error{"run": run, "simulate": simulate}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		exitOn(fmt.Errorf("usage: karpenter crds | karpenter run --azure SOCKET ... | karpenter simulate --azure SOCKET ..."))
	}
	command := commands[os.Args[1]]
	settings, err := parse(os.Args[2:])
	exitOn(err)
	// Karpenter reads what is left of the command line by itself.
	os.Args = os.Args[:1]
	exitOn(command(settings))
}

// settings are those for which Karpenter and its provider have no environment variable.
type settings struct {
	socket        string
	location      string
	subscription  string
	resourceGroup string
	factor        float64
}

func parse(arguments []string) (settings, error) {
	var read settings
	flags := flag.NewFlagSet("karpenter run", flag.ContinueOnError)
	flags.StringVar(&read.socket, "azure", "", "unix socket on which the emulated Azure Resource Manager answers")
	flags.StringVar(&read.location, "location", "", "region of the cluster")
	flags.StringVar(&read.subscription, "subscription", "", "subscription of the cluster")
	flags.StringVar(&read.resourceGroup, "resource-group", "", "resource group of the cluster")
	flags.Float64Var(&read.factor, "clock-factor", 1, "divisor of the times for which a refused offering is not asked for again")
	if err := flags.Parse(arguments); err != nil {
		return read, err
	}
	if read.socket == "" || read.location == "" || read.subscription == "" || read.resourceGroup == "" || read.factor <= 0 {
		return read, fmt.Errorf("--azure, --location, --subscription and --resource-group are needed, and a positive --clock-factor")
	}
	return read, nil
}

func printDefinitions() error {
	for _, definition := range apis.CRDs {
		text, err := yaml.Marshal(definition)
		if err != nil {
			return err
		}
		fmt.Printf("---\n%s", text)
	}
	return nil
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
