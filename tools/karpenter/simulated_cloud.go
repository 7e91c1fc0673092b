package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v9"
	"github.com/Azure/karpenter-provider-azure/pkg/apis/v1beta1"
	"github.com/Azure/karpenter-provider-azure/pkg/auth"
	azurecache "github.com/Azure/karpenter-provider-azure/pkg/cache"
	azurecloud "github.com/Azure/karpenter-provider-azure/pkg/cloudprovider"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/allocationstrategy"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instance/offerings"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instancetype"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/labels"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/pricing"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/quota"
	"github.com/Azure/skewer"
	"github.com/awslabs/operatorpkg/status"
	"github.com/patrickmn/go-cache"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// machine is one that Karpenter asked for.
type machine struct {
	claim        *v1.NodeClaim
	instanceType *cloudprovider.InstanceType
	zone         string
	capacityType string
}

// simulatedCloud is the provider of Azure in a drill. Sizes, prices, the choice of an offering, and for how long a refused one is left
// alone are the provider's own code; the machines are the drill's.
type simulatedCloud struct {
	real        azurecloud.CloudProvider
	types       *instancetype.DefaultProvider
	choice      *allocationstrategy.DefaultProvider
	refused     *refused
	kube        client.Client
	drill       *bridge
	mu          sync.Mutex
	machines    map[string]machine
	refusedSoon []failure
}

// failure is a machine of which Azure says after its request that it does not make it.
type failure struct {
	ProviderID string `json:"providerID"`
	Code       string `json:"code"`
	Message    string `json:"message"`
}

// newSimulatedCloud reads sizes and prices from the emulated Azure.
func newSimulatedCloud(ctx context.Context, given settings, clock *simulatedClock, kube client.Client, drill *bridge) (*simulatedCloud, error) {
	azure, err := newEmulated(given.socket)
	if err != nil {
		return nil, err
	}
	azure.use()
	environment, err := auth.EnvironmentFromName("AzurePublicCloud")
	if err != nil {
		return nil, err
	}
	refused := newRefused(clock)
	prices := pricing.NewProvider(ctx, environment, pricing.NewAPI(environment.Cloud), given.location, nil)
	sizes := instancetype.NewDefaultProvider(
		given.location, cache.New(instancetype.InstanceTypesCacheTTL, azurecache.DefaultCleanupInterval), azure.sizes(given.subscription),
		prices, refused.UnavailableOfferings, quota.NewProvider(nil, given.location),
	)
	if err := await(ctx, sizes.UpdateInstanceTypes); err != nil {
		return nil, fmt.Errorf("the emulated Azure names no machine sizes: %w", err)
	}
	priced := func(context.Context) error {
		if prices.OnDemandLastUpdated().Equal(pricing.InitialPriceUpdate) {
			return fmt.Errorf("the emulated Azure names no prices")
		}
		return nil
	}
	if err := await(ctx, priced); err != nil {
		return nil, err
	}
	return &simulatedCloud{
		types: sizes, choice: allocationstrategy.NewProvider(), refused: refused, kube: kube, drill: drill, machines: map[string]machine{},
	}, nil
}

func (c *simulatedCloud) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	all, err := c.typesFor(ctx, claim.Spec.NodeClassRef.Name)
	if err != nil {
		return nil, err
	}
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	var fitting []*cloudprovider.InstanceType
	for _, each := range all {
		// cloudprovider.go of the provider, resolveInstanceTypes.
		if wanted.Compatible(each.Requirements, v1beta1.AllowUndefinedWellKnownAndRestrictedLabels) == nil &&
			len(each.Offerings.Compatible(wanted).Available()) > 0 && resources.Fits(claim.Spec.Resources.Requests, each.Allocatable()) {
			fitting = append(fitting, each)
		}
	}
	chosen := c.choice.Allocate(ctx, fitting, wanted)
	if chosen == nil {
		return nil, cloudprovider.NewInsufficientCapacityError(fmt.Errorf("all requested instance types were unavailable during launch"))
	}
	size, zone, capacityType := chosen.InstanceType, chosen.Zone(), chosen.CapacityType()
	pool := claim.Labels[v1.NodePoolLabelKey]
	answer := c.drill.ask(call{Call: "create", Name: claim.Name, Pool: pool, Size: size.Name, Zone: zone, CapacityType: capacityType})
	made := built(claim, size, zone, capacityType, answer.ProviderID)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machines[answer.ProviderID] = machine{made, size, zone, capacityType}
	if answer.Code != "" {
		c.refusedSoon = append(c.refusedSoon, failure{answer.ProviderID, answer.Code, answer.Message})
	}
	return made, nil
}

// built returns a claim as the provider completes it (instance/aksmachineinstanceutils.go, BuildNodeClaimFromAKSMachineTemplate).
func built(claim *v1.NodeClaim, size *cloudprovider.InstanceType, zone, capacityType, providerID string) *v1.NodeClaim {
	made := &v1.NodeClaim{}
	made.Name = claim.Name
	made.Labels = merged(
		labels.GetAllSingleValuedRequirementLabels(size.Requirements),
		labels.GetWellKnownSingleValuedRequirementLabels(scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)),
		map[string]string{
			corev1.LabelTopologyZone: zone, v1.CapacityTypeLabelKey: capacityType, v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey],
		},
	)
	nonzero := func(all corev1.ResourceList) corev1.ResourceList {
		kept := corev1.ResourceList{}
		for name, amount := range all {
			if !amount.IsZero() {
				kept[name] = amount
			}
		}
		return kept
	}
	made.Status.Capacity, made.Status.Allocatable = nonzero(size.Capacity), nonzero(size.Allocatable())
	made.Status.ProviderID = providerID
	return made
}

// fail takes note of a machine that Azure does not make: its claim goes, and its offerings are left alone (aksmachineinstance.go,
// handleMachineProvisioningError; cloudprovider.go, handleInstancePromise).
func (c *simulatedCloud) fail(ctx context.Context, failed failure) error {
	c.mu.Lock()
	gone, known := c.machines[failed.ProviderID]
	delete(c.machines, failed.ProviderID)
	c.mu.Unlock()
	if !known {
		return nil
	}
	sku, err := c.types.Get(ctx, gone.instanceType.Name)
	if err != nil {
		return err
	}
	c.refused.mark(ctx, sku, gone, failed)
	return client.IgnoreNotFound(c.kube.Delete(ctx, &v1.NodeClaim{ObjectMeta: gone.claim.ObjectMeta}))
}

func (c *simulatedCloud) Delete(_ context.Context, claim *v1.NodeClaim) error {
	id := claim.Status.ProviderID
	c.mu.Lock()
	_, known := c.machines[id]
	delete(c.machines, id)
	c.mu.Unlock()
	if !known {
		return cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("%s is gone", id))
	}
	c.drill.ask(call{Call: "delete", Name: id})
	return nil
}

func (c *simulatedCloud) Get(_ context.Context, id string) (*v1.NodeClaim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, known := c.machines[id]; known {
		return found.claim.DeepCopy(), nil
	}
	return nil, cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("%s is gone", id))
}

func (c *simulatedCloud) List(context.Context) ([]*v1.NodeClaim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*v1.NodeClaim
	for _, each := range c.machines {
		all = append(all, each.claim.DeepCopy())
	}
	return all, nil
}

// lose forgets a machine that Azure took away.
func (c *simulatedCloud) lose(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.machines, id)
}

func (c *simulatedCloud) GetInstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return c.typesFor(ctx, pool.Spec.Template.Spec.NodeClassRef.Name)
}

func (c *simulatedCloud) typesFor(ctx context.Context, class string) ([]*cloudprovider.InstanceType, error) {
	found := &v1beta1.AKSNodeClass{}
	if err := c.kube.Get(ctx, types.NamespacedName{Name: class}, found); err != nil {
		return nil, err
	}
	return c.types.List(ctx, found)
}

func (c *simulatedCloud) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil // No image and no version changes in a drill.
}

func (c *simulatedCloud) RepairPolicies() []cloudprovider.RepairPolicy {
	return c.real.RepairPolicies()
}
func (c *simulatedCloud) Name() string { return c.real.Name() }

func (c *simulatedCloud) GetSupportedNodeClasses() []status.Object {
	return c.real.GetSupportedNodeClasses()
}

// refused is the provider's record of what Azure refused, whose times are the drill's.
type refused struct {
	*azurecache.UnavailableOfferings
	caches [2]*cache.Cache
	clock  *simulatedClock
	ends   [2]map[string]time.Time
}

func newRefused(clock *simulatedClock) *refused {
	single, family := cache.New(cache.NoExpiration, 0), cache.New(cache.NoExpiration, 0)
	return &refused{
		azurecache.NewUnavailableOfferingsWithCache(single, family), [2]*cache.Cache{single, family}, clock,
		[2]map[string]time.Time{{}, {}},
	}
}

// mark lets the provider judge the error, and keeps for how long it leaves which offerings alone.
func (r *refused) mark(ctx context.Context, sku *skewer.SKU, gone machine, failed failure) {
	began := time.Now()
	before := [2]map[string]cache.Item{r.caches[0].Items(), r.caches[1].Items()}
	detail := armcontainerservice.ErrorDetail{Code: &failed.Code, Message: &failed.Message}
	_ = offerings.NewErrorDetailHandler(r.UnavailableOfferings).
		Handle(ctx, sku, gone.instanceType, gone.zone, gone.capacityType, detail)
	for number, each := range r.caches {
		for name, item := range each.Items() {
			if old, known := before[number][name]; !known || old.Expiration != item.Expiration {
				left := time.Unix(0, item.Expiration).Sub(began)
				r.ends[number][name] = r.clock.Now().Add(left.Round(time.Second))
				// The real time must not end it.
				each.Set(name, item.Object, cache.NoExpiration)
			}
		}
	}
}

// expire forgets what has ended by the drill's time; whether anything has.
func (r *refused) expire() bool {
	ended := false
	for number, ends := range r.ends {
		for name, end := range ends {
			if !r.clock.Now().Before(end) {
				delete(ends, name)
				r.caches[number].Delete(name)
				ended = true
			}
		}
	}
	return ended
}
