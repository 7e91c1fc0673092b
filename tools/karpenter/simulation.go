package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-logr/zapr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/node/termination"
	"sigs.k8s.io/karpenter/pkg/controllers/node/termination/terminator"
	claimdisruption "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/expiration"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/garbagecollection"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/lifecycle"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/podevents"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/controllers/state/informer"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/cost"
	"sigs.k8s.io/karpenter/pkg/state/nodepoolhealth"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"
	podutil "sigs.k8s.io/karpenter/pkg/utils/pod"
)

const (
	// batchIdle and batchLongest are for how long Karpenter waits for further pods (operator/options: BATCH_IDLE_DURATION,
	// BATCH_MAX_DURATION).
	batchIdle, batchLongest = time.Second, 10 * time.Second
	// polling is the time between two looks for nodes to disrupt (disruption/controller.go).
	polling = 10 * time.Second
	// nominated is for how long a node is kept for pods that are to come, which ends without a change (state/cluster.go).
	nominated = 20 * time.Second
	// revalidation is the time after which Karpenter looks again though nothing has changed (state/cluster.go, ConsolidationState).
	revalidation = 5 * time.Minute
	// collection is the time between two looks for machines that are gone (nodeclaim/garbagecollection/controller.go).
	collection = 2 * time.Minute

	firstRetry, longestRetry = time.Second, time.Minute
	mostRounds               = 10000
)

// work is a call of a controller that is due some time.
type work struct {
	controller string
	object     key
}

// simulation runs Karpenter's own controllers by a drill's clock, in place of controller-runtime's manager, whose clock is the
// machine's.
type simulation struct {
	ctx     context.Context
	clock   *simulatedClock
	drill   *bridge
	objects *objects
	cloud   *simulatedCloud
	cluster *state.Cluster

	provisioner *provisioning.Provisioner
	disruption  *disruption.Controller
	commands    *disruption.Queue
	evictions   *terminator.Queue
	collector   *garbagecollection.Controller

	reconcilers map[string]func(key) (reconcile.Result, error)
	due         map[work]time.Time
	failures    map[work]int
	seenPods    map[key]corev1.Pod

	batchBegan, provisionAt time.Time
	provisionedAt           time.Time
	disruptAt, changedAt    time.Time
	collectAt               time.Time
	validating              waiter
	disrupted               chan outcome
	notes                   []string
}

type outcome struct {
	result time.Duration
	err    error
}

// simulate answers a drill's steps until it has ended.
func simulate(given settings) error {
	shorten(given.factor)
	// A drill has memory, and wants to end.
	debug.SetGCPercent(400)
	drill, clock := newBridge(), newSimulatedClock()
	ctx := injection.WithOptionsOrDie(context.Background(), coreoptions.Injectables...)
	ctx = log.IntoContext(ctx, zapr.NewLogger(logging.NewLogger(ctx, "simulation")))
	log.SetLogger(log.FromContext(ctx))
	s := &simulation{
		ctx: ctx, clock: clock, drill: drill, objects: newObjects(clock, drill), due: map[work]time.Time{}, failures: map[work]int{},
		seenPods: map[key]corev1.Pod{}, disrupted: make(chan outcome, 1),
	}
	cloud, err := newSimulatedCloud(ctx, given, clock, s.objects, drill)
	if err != nil {
		return err
	}
	s.cloud = cloud
	s.wire()
	for {
		read, err := drill.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.take(read); err != nil {
			return err
		}
	}
}

// wire makes the controllers of Karpenter's NewControllers (pkg/controllers/controllers.go) that a drill needs.
func (s *simulation) wire() {
	var recorder events.Recorder = s
	kube, clock := client.Client(s.objects), s.clock
	s.cluster = state.NewCluster(clock, kube, s.cloud)
	costs := cost.NewClusterCost(s.ctx, s.cloud, kube)
	s.provisioner = provisioning.NewProvisioner(
		kube, recorder, s.cloud, s.cluster, clock, deviceallocation.NewController(kube), virtualpods.NewVirtualPodCache(kube),
	)
	s.commands = disruption.NewQueue(kube, recorder, s.cluster, clock, s.provisioner)
	looks := disruption.MakeConsolidation(clock, s.cluster, kube, s.provisioner, s.cloud, recorder, s.commands)
	s.disruption = disruption.NewController(
		clock, kube, s.provisioner, s.cloud, recorder, s.cluster, s.commands, costs,
		// In a drill nothing drifts.
		disruption.WithMethods(
			disruption.NewEmptiness(looks), disruption.NewMultiNodeConsolidation(looks), disruption.NewSingleNodeConsolidation(looks),
		),
	)
	s.evictions = terminator.NewQueue(kube, recorder)
	s.collector = garbagecollection.NewController(clock, kube, s.cloud)
	ended := termination.NewController(clock, kube, s.cloud, terminator.NewTerminator(clock, kube, s.evictions, recorder), recorder)
	claims := lifecycle.NewController(clock, kube, s.cloud, recorder, nodepoolhealth.NewState(), nil)
	reasons := claimdisruption.NewController(clock, kube, s.cloud)
	expired := expiration.NewController(clock, kube, s.cloud)
	repaired := health.NewController(kube, s.cloud, clock, recorder)
	podEvents := podevents.NewController(clock, kube, s.cloud)
	triggers, cordoned := provisioning.NewPodController(kube, s.provisioner, s.cluster), provisioning.NewNodeController(kube, s.provisioner)

	s.reconcilers = map[string]func(key) (reconcile.Result, error){
		"state of nodes":      named(s.ctx, informer.NewNodeController(kube, s.cluster).Reconcile),
		"state of pods":       named(s.ctx, informer.NewPodController(kube, s.cluster).Reconcile),
		"state of claims":     named(s.ctx, informer.NewNodeClaimController(kube, s.cloud, s.cluster, costs).Reconcile),
		"state of pools":      named(s.ctx, informer.NewNodePoolController(kube, s.cloud, s.cluster, costs).Reconcile),
		"state of DaemonSets": named(s.ctx, informer.NewDaemonSetController(kube, s.cluster).Reconcile),
		"lifecycle":           of(s, func() *v1.NodeClaim { return &v1.NodeClaim{} }, claims.Reconcile),
		"reasons":             of(s, func() *v1.NodeClaim { return &v1.NodeClaim{} }, reasons.Reconcile),
		"expiration":          of(s, func() *v1.NodeClaim { return &v1.NodeClaim{} }, expired.Reconcile),
		"termination":         of(s, func() *corev1.Node { return &corev1.Node{} }, ended.Reconcile),
		"health":              of(s, func() *corev1.Node { return &corev1.Node{} }, repaired.Reconcile),
		"cordoned":            s.triggering(of(s, func() *corev1.Node { return &corev1.Node{} }, cordoned.Reconcile)),
		"pod events":          of(s, func() *corev1.Pod { return &corev1.Pod{} }, podEvents.Reconcile),
		"pending pods":        s.triggering(of(s, func() *corev1.Pod { return &corev1.Pod{} }, triggers.Reconcile)),
		"evictions":           of(s, func() *corev1.Pod { return &corev1.Pod{} }, s.evictions.Reconcile),
		"commands":            of(s, func() *v1.NodeClaim { return &v1.NodeClaim{} }, s.commands.Reconcile),
	}
}

// named makes a reconciler of one that gets the object itself.
func named(ctx context.Context, run func(context.Context, reconcile.Request) (reconcile.Result, error)) func(key) (reconcile.Result, error) {
	return func(object key) (reconcile.Result, error) {
		result, err := run(ctx, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.Namespace, Name: object.Name}})
		result.RequeueAfter = 0 // They look again for what they may have missed, and here nothing is missed.
		return result, err
	}
}

// of makes a reconciler of one that is given the object; a missing object is no work.
func of[T client.Object](s *simulation, made func() T, run func(context.Context, T) (reconcile.Result, error)) func(key) (reconcile.Result, error) {
	return func(object key) (reconcile.Result, error) {
		found := made()
		if err := s.objects.Get(s.ctx, types.NamespacedName{Namespace: object.Namespace, Name: object.Name}, found); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		return run(s.ctx, found)
	}
}

// triggering lets the provisioner run after a controller that asked for it: one that wants to be called again did.
func (s *simulation) triggering(run func(key) (reconcile.Result, error)) func(key) (reconcile.Result, error) {
	return func(object key) (reconcile.Result, error) {
		result, err := run(object)
		// Without a change Karpenter would decide the same again.
		if result.RequeueAfter > 0 && !s.changedAt.Before(s.provisionedAt) {
			if s.provisionAt.IsZero() {
				s.batchBegan = s.clock.Now()
			}
			s.provisionAt = earlier(s.clock.Now().Add(batchIdle), s.batchBegan.Add(batchLongest))
		}
		return result, err
	}
}

// take does all that is due at the time of a step.
func (s *simulation) take(given step) error {
	s.clock.move(given.Now)
	s.notes = nil
	s.drill.isApplying = true
	for _, id := range given.Lost {
		s.cloud.lose(id)
		s.collectAt = earlier(s.collectAt, s.clock.Now().Truncate(collection).Add(collection))
	}
	for _, gone := range given.Gone {
		if err := s.objects.remove(s.ctx, gone); err != nil {
			return err
		}
	}
	for _, raw := range given.Set {
		if err := s.objects.set(s.ctx, raw); err != nil {
			return err
		}
	}
	s.drill.isApplying = false
	if s.cloud.refused.expire() {
		s.changedAt = s.clock.Now()
	}
	s.cloud.refusedSoon = append(s.cloud.refusedSoon, given.Failed...)
	if err := s.settle(); err != nil {
		return err
	}
	taints, err := s.taints()
	if err != nil {
		return err
	}
	s.drill.end(reply{s.wake(), taints, s.notes})
	return nil
}

// settle runs controllers until none has anything left to do at this time.
func (s *simulation) settle() error {
	for range mostRounds {
		switch now := s.clock.Now(); {
		case s.followChanges():
		case s.runDue():
		case s.failMachines():
		case s.isDue(s.collectAt):
			s.collectAt = time.Time{}
			if _, err := s.collector.Reconcile(s.ctx); err != nil {
				s.collectAt = now.Add(collection)
			}
		case s.isDue(s.provisionAt):
			s.provisionAt, s.provisionedAt = time.Time{}, now
			s.provision()
		case s.isDue(s.validating.until) || s.validating.until.IsZero() && s.isDue(s.disruptAt):
			s.disrupt()
		default:
			return nil
		}
	}
	return fmt.Errorf("Karpenter does not come to rest at %v", s.clock.Now())
}

func (s *simulation) isDue(at time.Time) bool {
	return !at.IsZero() && !at.After(s.clock.Now())
}

// followChanges calls the controllers that watch what has changed; whether anything has.
func (s *simulation) followChanges() bool {
	changed := s.objects.takeChanged()
	for _, object := range changed {
		s.changedAt = s.clock.Now()
		s.disruptAt = earlier(s.disruptAt, s.clock.Now().Truncate(polling).Add(polling))
		switch object.Kind {
		case "NodePool":
			s.run("state of pools", object)
		case "DaemonSet":
			s.run("state of DaemonSets", object)
		case "NodeClaim":
			s.run("state of claims", object)
			for _, controller := range []string{"lifecycle", "reasons", "expiration"} {
				s.run(controller, object)
			}
		case "Node":
			s.run("state of nodes", object)
			if claim := s.claimOf(object.Name); claim != "" {
				s.run("lifecycle", key{Kind: "NodeClaim", Name: claim})
			}
			for _, controller := range []string{"termination", "health", "cordoned"} {
				s.run(controller, object)
			}
		case "Pod":
			s.followPod(object)
		}
	}
	if len(changed) > 0 {
		s.followCommands()
	}
	return len(changed) > 0
}

func (s *simulation) followPod(object key) {
	s.run("state of pods", object)
	var pod corev1.Pod
	if err := s.objects.Get(s.ctx, types.NamespacedName{Namespace: object.Namespace, Name: object.Name}, &pod); err != nil {
		before := s.seenPods[object]
		delete(s.seenPods, object)
		if claim := s.claimOf(before.Spec.NodeName); claim != "" {
			s.run("reasons", key{Kind: "NodeClaim", Name: claim})
			s.dueNow("termination", key{Kind: "Node", Name: before.Spec.NodeName})
		}
		return
	}
	before := s.seenPods[object]
	s.seenPods[object] = pod
	// podevents/controller.go, Register.
	if pod.Spec.NodeName != "" && (before.Spec.NodeName == "" || podutil.IsTerminal(&before) != podutil.IsTerminal(&pod) ||
		podutil.IsTerminating(&before) != podutil.IsTerminating(&pod)) {
		s.run("pod events", object)
	}
	if claim := s.claimOf(pod.Spec.NodeName); claim != "" {
		s.run("reasons", key{Kind: "NodeClaim", Name: claim})
	}
	s.run("pending pods", object)
}

func (s *simulation) dueNow(controller string, object key) {
	s.due[work{controller, object}] = s.clock.Now()
}

// claimOf returns the name of a node's claim; "" without one.
func (s *simulation) claimOf(node string) string {
	var found corev1.Node
	var claims v1.NodeClaimList
	if node == "" || s.objects.Get(s.ctx, types.NamespacedName{Name: node}, &found) != nil || found.Spec.ProviderID == "" {
		return ""
	}
	if s.objects.List(s.ctx, &claims, client.MatchingFields{"status.providerID": found.Spec.ProviderID}) != nil || len(claims.Items) == 0 {
		return ""
	}
	return claims.Items[0].Name
}

// run calls a controller, and plans when it is to be called again.
func (s *simulation) run(controller string, object key) {
	this := work{controller, object}
	delete(s.due, this)
	result, err := s.reconcilers[controller](object)
	switch {
	case err == nil && result.RequeueAfter > 0:
		delete(s.failures, this)
		s.due[this] = s.clock.Now().Add(result.RequeueAfter)
		if controller == "commands" {
			s.due[this] = s.clock.Now().Add(longestRetry)
		}
	case err != nil || result.Requeue: //nolint:staticcheck // Karpenter returns it.
		s.due[this] = s.clock.Now().Add(min(firstRetry<<min(s.failures[this], 10), longestRetry))
		s.failures[this]++
		log.FromContext(s.ctx).V(1).Info("again", "controller", controller, "object", object, "error", err)
	default:
		delete(s.failures, this)
	}
	if controller == "termination" || controller == "evictions" {
		s.planEvictions()
	}
}

// planEvictions plans the eviction of the pods that wait for it.
func (s *simulation) planEvictions() {
	for object, pod := range s.seenPods {
		waiting := work{"evictions", object}
		if _, planned := s.due[waiting]; !planned && s.evictions.Has(&pod) {
			s.due[waiting] = s.clock.Now()
		}
	}
}

// runDue runs the work that is due; whether there was any.
func (s *simulation) runDue() bool {
	var ripe []work
	for each, at := range s.due {
		if !at.After(s.clock.Now()) {
			ripe = append(ripe, each)
		}
	}
	slices.SortFunc(ripe, func(a, b work) int { return compareWork(a, b) })
	for _, each := range ripe {
		s.run(each.controller, each.object)
	}
	return len(ripe) > 0
}

func compareWork(a, b work) int {
	for _, pair := range [][2]string{{a.controller, b.controller}, {a.object.Namespace, b.object.Namespace}, {a.object.Name, b.object.Name}} {
		if pair[0] != pair[1] {
			if pair[0] < pair[1] {
				return -1
			}
			return 1
		}
	}
	return 0
}

func (s *simulation) failMachines() bool {
	failed := s.cloud.refusedSoon
	s.cloud.refusedSoon = nil
	for _, each := range failed {
		if err := s.cloud.fail(s.ctx, each); err != nil {
			log.FromContext(s.ctx).Error(err, "failed machine")
		}
	}
	return len(failed) > 0
}

// provision is the provisioner's Reconcile without its batches, which are the machine's time (provisioning/provisioner.go).
func (s *simulation) provision() {
	results, err := s.provisioner.Schedule(s.ctx)
	if err == nil {
		_, err = s.provisioner.CreateNodeClaims(s.ctx, results.NewNodeClaims, provisioning.WithReason("provisioned"), provisioning.RecordPodNomination)
	}
	if err != nil {
		log.FromContext(s.ctx).Error(err, "provisioning")
		s.provisionAt = s.clock.Now().Add(firstRetry)
	}
}

// disrupt looks for nodes to disrupt, or goes on with a look that waits to validate its result.
func (s *simulation) disrupt() {
	if s.validating.until.IsZero() {
		go func() {
			result, err := s.disruption.Reconcile(s.ctx)
			s.disrupted <- outcome{result.RequeueAfter, err}
		}()
	} else {
		s.validating.release <- s.clock.Now()
	}
	select {
	case s.validating = <-s.clock.waits:
	case ended := <-s.disrupted:
		s.validating, s.disruptAt = waiter{}, s.clock.Now().Add(polling)
		if ended.err != nil {
			log.FromContext(s.ctx).Error(ended.err, "disruption")
		} else if ended.result >= polling {
			// Looks until then would find the same.
			s.disruptAt = s.clock.Now().Add(revalidation)
			if s.clock.Since(s.changedAt) < nominated {
				s.disruptAt = s.changedAt.Add(nominated).Truncate(polling).Add(polling)
			}
		}
	}
	s.followCommands()
}

// followCommands looks whether the replacements of nodes that go are there: after each change, in place of once a second.
func (s *simulation) followCommands() {
	for _, command := range s.commands.GetCommands() {
		s.dueNow("commands", key{Kind: "NodeClaim", Name: command.Candidates[0].NodeClaim.Name})
	}
}

// wake returns the next time at which anything is due.
func (s *simulation) wake() float64 {
	next := earlier(earlier(s.provisionAt, s.collectAt), s.validating.until)
	if s.validating.until.IsZero() {
		next = earlier(next, s.disruptAt)
	}
	for _, at := range s.due {
		next = earlier(next, at)
	}
	if next.IsZero() {
		return math.MaxFloat32
	}
	return seconds(next)
}

// earlier returns the earlier time; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// taints returns Karpenter's taints of each node.
func (s *simulation) taints() (map[string][]corev1.Taint, error) {
	var nodes corev1.NodeList
	if err := s.objects.List(s.ctx, &nodes); err != nil {
		return nil, err
	}
	all := map[string][]corev1.Taint{}
	for _, node := range nodes.Items {
		for _, taint := range node.Spec.Taints {
			if taint.Key == v1.DisruptedTaintKey {
				all[node.Name] = append(all[node.Name], taint)
			}
		}
	}
	return all, nil
}

// Publish keeps what Karpenter says of each node that it takes away.
func (s *simulation) Publish(published ...events.Event) {
	for _, each := range published {
		if node, ok := each.InvolvedObject.(*corev1.Node); ok && each.Reason == events.DisruptionTerminating {
			s.notes = append(s.notes, fmt.Sprintf("%s: %s", node.Name, each.Message))
		}
	}
}
