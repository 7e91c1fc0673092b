package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/Azure/karpenter-provider-azure/pkg/auth"
	azurecache "github.com/Azure/karpenter-provider-azure/pkg/cache"
	"github.com/Azure/karpenter-provider-azure/pkg/cloudprovider"
	"github.com/Azure/karpenter-provider-azure/pkg/consts"
	"github.com/Azure/karpenter-provider-azure/pkg/controllers"
	azureoperator "github.com/Azure/karpenter-provider-azure/pkg/operator"
	"github.com/Azure/karpenter-provider-azure/pkg/operator/options"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/allocationstrategy"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/azclient"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/imagefamily"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instance"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instance/machinecache"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instancetype"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/kubernetesversion"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/launchtemplate"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/loadbalancer"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/networksecuritygroup"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/pricing"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/quota"
	"github.com/Azure/karpenter-provider-azure/pkg/utils/zones"
	"github.com/go-logr/zapr"
	"github.com/patrickmn/go-cache"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/metrics"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	corecontrollers "sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"
)

// patience is the time in which a starting control plane serves the definitions, and the emulated Azure answers.
const patience = 2 * time.Minute

// run is cmd/controller/main.go of karpenter-provider-azure v1.14.0.
func run(given settings) error {
	shorten(given.factor)
	azure, err := newEmulated(given.socket)
	if err != nil {
		return err
	}
	azure.use()
	zones.RegisterCSIZoneNormalization()
	ctx := injection.WithOptionsOrDie(context.Background(), coreoptions.Injectables...)
	logger := zapr.NewLogger(logging.NewLogger(ctx, "controller"))
	served := func(ctx context.Context) error {
		return azureoperator.WaitForCRDs(ctx, time.Second, ctrl.GetConfigOrDie(), logger)
	}
	if err := await(ctx, served); err != nil {
		return err
	}
	ctx, core := operator.NewOperator()
	wired, err := wire(ctx, core, azure, given)
	if err != nil {
		return err
	}
	provider := cloudprovider.New(
		wired.instanceTypes, wired.virtualMachines, wired.machines, core.EventRecorder, core.GetClient(), wired.images,
		core.InstanceTypeStore,
	)
	undecorated := metrics.Decorate(provider)
	decorated := overlay.Decorate(undecorated, core.GetClient(), core.InstanceTypeStore)
	cluster := state.NewCluster(core.Clock, core.GetClient(), decorated)
	core.
		WithControllers(ctx, corecontrollers.NewControllers(
			ctx, core.Manager, core.Clock, core.GetClient(), core.EventRecorder, decorated, undecorated, cluster,
			core.InstanceTypeStore,
		)...).
		WithControllers(ctx, controllers.NewControllers(
			ctx, core.Manager, core.Clock, core.GetClient(), core.EventRecorder, provider, wired.virtualMachines, wired.machines,
			wired.versions, wired.images, wired.instanceTypes, wired.quotas, core.KubernetesInterface, core.KubernetesInterface,
			dynamic.NewForConfigOrDie(core.GetConfig()), wired.azure.SubnetsClient(), wired.azure.DiskEncryptionSetsClient(),
			options.FromContext(ctx).ParsedDiskEncryptionSetID, options.FromContext(ctx).NetworkPolicy,
			options.FromContext(ctx).NetworkPlugin,
		)...).
		Start(ctx)
	return nil
}

// parts are those of the provider that its controllers share.
type parts struct {
	azure           *azclient.AZClient
	versions        kubernetesversion.KubernetesVersionProvider
	images          imagefamily.NodeImageProvider
	instanceTypes   *instancetype.DefaultProvider
	quotas          *quota.DefaultProvider
	virtualMachines *instance.DefaultVMProvider
	machines        *instance.DefaultAKSMachineProvider
}

// wire is pkg/operator/operator.go of karpenter-provider-azure v1.14.0 (NewOperator), which cannot be called: it asks for the
// credentials of a pod.
func wire(ctx context.Context, core *operator.Operator, azure emulated, given settings) (*parts, error) {
	set := options.FromContext(ctx)
	environment, err := auth.EnvironmentFromName("AzurePublicCloud")
	if err != nil {
		return nil, err
	}
	account := &auth.Config{
		Cloud: "AzurePublicCloud", Location: given.location, SubscriptionID: given.subscription, ResourceGroup: given.resourceGroup,
	}
	client, err := azclient.NewAZClient(ctx, account, environment, credential{})
	if err != nil {
		return nil, err
	}
	client.SKUClient = azure.sizes(given.subscription)
	unavailable := azurecache.NewUnavailableOfferings()
	prices := pricing.NewProvider(ctx, environment, pricing.NewAPI(environment.Cloud), given.location, core.Elected())
	images := imagefamily.NewProvider(
		client.ImageVersionsClient, given.location, given.subscription, client.NodeImageVersionsClient,
		cache.New(imagefamily.ImageExpirationInterval, imagefamily.ImageCacheCleaningInterval),
	)
	quotas := quota.NewProvider(client.UsageClient, given.location)
	types := instancetype.NewDefaultProvider(
		given.location, cache.New(instancetype.InstanceTypesCacheTTL, azurecache.DefaultCleanupInterval), client.SKUClient, prices,
		unavailable, quotas,
	)
	if err := await(ctx, types.UpdateInstanceTypes); err != nil {
		return nil, fmt.Errorf("the emulated Azure names no machine sizes: %w", err)
	}
	resolver := imagefamily.NewDefaultResolver(core.GetClient(), images, types, client.NodeBootstrappingClient)
	networks := networksecuritygroup.NewProvider(client.NetworkSecurityGroupsClient, set.NodeResourceGroup)
	authority := base64.StdEncoding.EncodeToString(core.GetConfig().CAData)
	templates := launchtemplate.NewProvider(
		ctx, resolver, images, networks, &authority, set.ClusterEndpoint, account.TenantID, given.subscription, given.resourceGroup,
		set.KubeletIdentityClientID, set.NodeResourceGroup, given.location, set.ProvisionMode,
	)
	balancers := loadbalancer.NewProvider(
		client.LoadBalancersClient, cache.New(loadbalancer.LoadBalancersCacheTTL, azurecache.DefaultCleanupInterval),
		set.NodeResourceGroup,
	)
	choice := allocationstrategy.NewProvider()
	virtualMachines := instance.NewDefaultVMProvider(
		client, types, choice, templates, balancers, networks, unavailable, given.location, set.NodeResourceGroup, given.subscription,
		set.ProvisionMode, set.DiskEncryptionSetID, environment,
	)
	known := machinecache.New(ctx, client.AKSMachinesClient(), given.resourceGroup, set.ClusterName, set.AKSMachinesPoolName)
	machines := instance.NewAKSMachineProvider(
		client, types, choice, resolver, unavailable, given.subscription, given.resourceGroup, set.ClusterName,
		set.AKSMachinesPoolName, given.location, set.ProvisionMode == consts.ProvisionModeAKSMachineAPIHeaderBatch, known,
	)
	return &parts{
		azure:           client,
		versions:        kubernetesversion.NewKubernetesVersionProvider(core.KubernetesInterface, cache.New(azurecache.KubernetesVersionTTL, azurecache.DefaultCleanupInterval)),
		images:          images,
		instanceTypes:   types,
		quotas:          quotas,
		virtualMachines: virtualMachines,
		machines:        machines,
	}, nil
}

// await asks until the emulated Azure answers: it starts at the same time as this program.
func await(ctx context.Context, ask func(context.Context) error) error {
	until := time.Now().Add(patience)
	for {
		err := ask(ctx)
		if err == nil || time.Now().After(until) {
			return err
		}
		log.FromContext(ctx).V(1).Info("the emulated Azure does not answer yet", "error", err.Error())
		time.Sleep(200 * time.Millisecond)
	}
}
