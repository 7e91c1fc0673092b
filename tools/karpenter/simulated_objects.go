package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/Azure/karpenter-provider-azure/pkg/apis/v1beta1"
	"github.com/awslabs/operatorpkg/status"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// kinds are those that a drill has, by the name that it gives them.
var kinds = map[string]func() client.Object{
	"Pod":                 func() client.Object { return &corev1.Pod{} },
	"Node":                func() client.Object { return &corev1.Node{} },
	"DaemonSet":           func() client.Object { return &appsv1.DaemonSet{} },
	"PodDisruptionBudget": func() client.Object { return &policyv1.PodDisruptionBudget{} },
	"NodePool":            func() client.Object { return &v1.NodePool{} },
	"AKSNodeClass":        func() client.Object { return &v1beta1.AKSNodeClass{} },
}

// key names an object that has changed.
type key struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func keyOf(object client.Object) key {
	kind := fmt.Sprintf("%T", object)
	for name, made := range kinds {
		if fmt.Sprintf("%T", made()) == kind {
			return key{name, object.GetNamespace(), object.GetName()}
		}
	}
	return key{"NodeClaim", "", object.GetName()}
}

// index is one of Karpenter's operator (pkg/operator/operator.go, setupIndexers); a drill has those that its controllers use.
type index struct {
	of   client.Object
	read func(client.Object) string
}

var indices = map[string]index{
	"spec.nodeName":     {&corev1.Pod{}, func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName }},
	"spec.providerID":   {&corev1.Node{}, func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID }},
	"status.providerID": {&v1.NodeClaim{}, func(o client.Object) string { return o.(*v1.NodeClaim).Status.ProviderID }},
}

// objects are the API server of a drill, as Karpenter sees it: what the drill has, and what Karpenter writes itself.
type objects struct {
	client.Client
	clock *simulatedClock
	drill *bridge

	mu      sync.Mutex
	changed []key
	// lists are whole lists by their types, until one of their objects changes.
	lists map[string][]runtime.Object
}

func newObjects(clock *simulatedClock, drill *bridge) *objects {
	o := &objects{clock: clock, drill: drill, lists: map[string][]runtime.Object{}}
	builder := fake.NewClientBuilder().
		WithScheme(scheme.Scheme).
		// The default tracker keeps the owners of fields, which takes long.
		WithObjectTracker(clienttesting.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder())).
		WithStatusSubresource(&v1.NodeClaim{}, &v1.NodePool{})
	for field, each := range indices {
		builder = builder.WithIndex(each.of, field, func(object client.Object) []string { return []string{each.read(object)} })
	}
	o.Client = builder.WithInterceptorFuncs(o.interceptors()).Build()
	return o
}

// interceptors note what changes, give new objects the simulated time, and ask the drill to evict pods.
func (o *objects) interceptors() interceptor.Funcs {
	return interceptor.Funcs{
		List: o.list,
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if object.GetName() == "" {
				object.SetName(object.GetGenerateName() + string(uuid.NewUUID())[:5])
			}
			if object.GetUID() == "" {
				object.SetUID(uuid.NewUUID())
			}
			if made := object.GetCreationTimestamp(); made.IsZero() {
				object.SetCreationTimestamp(metav1.NewTime(o.clock.Now()))
			}
			return o.noted(object, c.Create(ctx, object, options...))
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return o.noted(object, c.Update(ctx, object, options...))
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return o.noted(object, c.Patch(ctx, object, patch, options...))
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if pod, ok := object.(*corev1.Pod); ok && !o.drill.isApplying {
				deleting := &client.DeleteOptions{}
				deleting.ApplyOptions(options)
				return o.evict(pod, deleting.GracePeriodSeconds)
			}
			return o.noted(object, c.Delete(ctx, object, options...))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return o.noted(object, c.SubResource(name).Patch(ctx, object, patch, options...))
		},
		SubResourceCreate: func(_ context.Context, _ client.Client, _ string, object, _ client.Object, _ ...client.SubResourceCreateOption) error {
			return o.evict(object.(*corev1.Pod), nil)
		},
	}
}

func (o *objects) noted(object client.Object, err error) error {
	if err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed = append(o.changed, keyOf(object))
		delete(o.lists, fmt.Sprintf("%TList", object))
	}
	return err
}

// list copies from a whole list that it keeps: the fake API server makes each object of each list anew from JSON.
func (o *objects) list(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	asked := &client.ListOptions{}
	asked.ApplyOptions(options)
	if asked.Namespace != "" || asked.LabelSelector != nil {
		return c.List(ctx, list, options...)
	}
	kind := fmt.Sprintf("%T", list)
	o.mu.Lock()
	all, known := o.lists[kind]
	o.mu.Unlock()
	if !known {
		if err := c.List(ctx, list); err != nil {
			return err
		}
		found, err := meta.ExtractList(list)
		if err != nil {
			return err
		}
		all = found
		o.mu.Lock()
		o.lists[kind] = all
		o.mu.Unlock()
	}
	var chosen []runtime.Object
	for _, each := range all {
		if isChosen(each.(client.Object), asked.FieldSelector) {
			chosen = append(chosen, each.DeepCopyObject())
		}
	}
	return meta.SetList(list, chosen)
}

func isChosen(object client.Object, selector fields.Selector) bool {
	if selector == nil {
		return true
	}
	for _, each := range selector.Requirements() {
		if found, known := indices[each.Field]; !known || found.read(object) != each.Value {
			return false
		}
	}
	return true
}

// takeChanged returns what has changed since the last call, each object once.
func (o *objects) takeChanged() []key {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen, taken := map[key]bool{}, []key{}
	for _, each := range o.changed {
		if !seen[each] {
			seen[each], taken = true, append(taken, each)
		}
	}
	o.changed = nil
	return taken
}

// evict asks the drill; a pod deleted with a grace goes whatever its budgets say.
func (o *objects) evict(pod *corev1.Pod, grace *int64) error {
	answer := o.drill.ask(call{Call: "evict", Namespace: pod.Namespace, Name: pod.Name, Grace: grace})
	if !answer.Done {
		return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	}
	return nil
}

// set takes over an object as the drill has it; what Karpenter wrote itself stays.
func (o *objects) set(ctx context.Context, raw json.RawMessage) error {
	named := metav1.TypeMeta{}
	if err := json.Unmarshal(raw, &named); err != nil {
		return err
	}
	made, known := kinds[named.Kind]
	if !known {
		return fmt.Errorf("%q is no kind of a drill", named.Kind)
	}
	object, before := made(), made()
	if err := json.Unmarshal(raw, object); err != nil {
		return fmt.Errorf("%s: %w", named.Kind, err)
	}
	err := o.Get(ctx, client.ObjectKeyFromObject(object), before)
	if apierrors.IsNotFound(err) {
		if node, ok := object.(*corev1.Node); ok && node.Spec.ProviderID != "" {
			// AKS gives the taint to a node that registers, and Karpenter takes it away (nodeclaim/lifecycle/registration.go).
			node.Spec.Taints = append(node.Spec.Taints, v1.UnregisteredNoExecuteTaint)
		}
		if pool, ok := object.(*v1.NodePool); ok {
			for _, each := range []string{v1.ConditionTypeNodeClassReady, v1.ConditionTypeValidationSucceeded} {
				pool.StatusConditions(status.WithClock(o.clock)).SetTrue(each)
			}
			ready := pool.Status
			if err := o.Create(ctx, pool); err != nil {
				return err
			}
			unready := pool.DeepCopy()
			pool.Status = ready
			return o.Status().Patch(ctx, pool, client.MergeFrom(unready))
		}
		return o.Create(ctx, object)
	}
	if err != nil {
		return err
	}
	if node, ok := object.(*corev1.Node); ok {
		keepWritten(node, before.(*corev1.Node))
	}
	isLeaving := object.GetDeletionTimestamp() != nil && before.GetDeletionTimestamp() == nil
	if isPod(object) && (isLeaving || before.GetDeletionTimestamp() != nil) {
		// The fake API server deletes an object without a finalizer at once.
		object.SetFinalizers([]string{terminating})
	}
	object.SetDeletionTimestamp(before.GetDeletionTimestamp())
	object.SetResourceVersion(before.GetResourceVersion())
	object.SetUID(before.GetUID())
	object.SetCreationTimestamp(before.GetCreationTimestamp())
	if err := o.update(ctx, object); err != nil || !isLeaving {
		return err
	}
	return o.Delete(ctx, object)
}

// terminating keeps a pod that has its time to end.
const terminating = "kubeflow-spot.dev/terminating"

func isPod(object client.Object) bool {
	_, ok := object.(*corev1.Pod)
	return ok
}

// update writes an object and its status, which is a part of its own in an API server.
func (o *objects) update(ctx context.Context, object client.Object) error {
	whole := object.DeepCopyObject().(client.Object)
	if err := o.Update(ctx, object); err != nil {
		return err
	}
	if _, ok := object.(*appsv1.DaemonSet); ok {
		return nil
	}
	whole.SetResourceVersion(object.GetResourceVersion())
	return o.Status().Update(ctx, whole)
}

// keepWritten adds to a node what Karpenter wrote to it.
func keepWritten(node, before *corev1.Node) {
	node.Finalizers, node.OwnerReferences = before.Finalizers, before.OwnerReferences
	node.Annotations = merged(before.Annotations, node.Annotations)
	node.Labels = merged(before.Labels, node.Labels)
	for _, taint := range before.Spec.Taints {
		if isKarpenters(taint) {
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
	}
}

func merged(maps ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, each := range maps {
		for name, value := range each {
			all[name] = value
		}
	}
	return all
}

func isKarpenters(taint corev1.Taint) bool {
	return taint.Key == v1.UnregisteredTaintKey || taint.Key == v1.DisruptedTaintKey
}

// remove deletes an object that the drill no longer has. A node goes as AKS takes it away: with its machine, when it is gone.
func (o *objects) remove(ctx context.Context, gone key) error {
	made, known := kinds[gone.Kind]
	if !known {
		return fmt.Errorf("%q is no kind of a drill", gone.Kind)
	}
	object := made()
	if err := o.Get(ctx, types.NamespacedName{Namespace: gone.Namespace, Name: gone.Name}, object); err != nil {
		return client.IgnoreNotFound(err)
	}
	if node, ok := object.(*corev1.Node); ok {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		if err := o.update(ctx, node); err != nil {
			return err
		}
	}
	if isPod(object) && object.GetDeletionTimestamp() != nil {
		object.SetFinalizers(nil)
		return client.IgnoreNotFound(o.Update(ctx, object))
	}
	return client.IgnoreNotFound(o.Delete(ctx, object))
}
