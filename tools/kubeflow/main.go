// Controllers of Kubeflow and Kueue without their webhooks' certificates, leader election and metrics: what the examples are tried with.
//
//	kubeflow-controllers training kueue
//	kubeflow-controllers --certificates FOLDER --port 9443 trainer
//
// Each name starts the controllers of one project as its own main program does. KUBECONFIG names the cluster. `trainer` includes JobSet,
// whose webhook fills in defaults: --certificates holds tls.crt and tls.key for it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	trainingapi "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	training "github.com/kubeflow/training-operator/pkg/config"
	trainingcontrollers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	trainerapi "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	trainer "github.com/kubeflow/trainer/v2/pkg/controller"
	runtimes "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	jobset "sigs.k8s.io/jobset/pkg/controllers"
	jobsetwebhooks "sigs.k8s.io/jobset/pkg/webhooks"
	kueueconfig "sigs.k8s.io/kueue/apis/config/v1beta1"
	kueuealpha "sigs.k8s.io/kueue/apis/kueue/v1alpha1"
	kueueapi "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	queues "sigs.k8s.io/kueue/pkg/cache/queue"
	quotas "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/config"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/scheduler"
)

var starts = map[string]func(context.Context, ctrl.Manager) error{
	"kueue":    startKueue,
	"trainer":  startTrainer,
	"training": startTraining,
}

func main() {
	certificates := flag.String("certificates", "", "folder with tls.crt and tls.key of JobSet's webhook")
	port := flag.Int("port", 9443, "port of JobSet's webhook, on the loopback interface")
	flag.Parse()
	if err := run(*certificates, *port, flag.Args()); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

func run(certificates string, port int, names []string) error {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, trainingapi.AddToScheme, trainerapi.AddToScheme, jobsetapi.AddToScheme,
		kueueapi.AddToScheme, kueuealpha.AddToScheme, kueueconfig.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		// As Kubeflow Trainer's own program sets it.
		Client:        client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates}),
	})
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	for _, name := range names {
		start, known := starts[name]
		if !known {
			return fmt.Errorf("no controllers %q", name)
		}
		if err := start(ctx, manager); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return manager.Start(ctx)
}

func startTraining(_ context.Context, manager ctrl.Manager) error {
	training.Config.PyTorchInitContainerImage = training.PyTorchInitContainerImageDefault
	training.Config.PyTorchInitContainerTemplateFile = training.PyTorchInitContainerTemplateFileDefault
	training.Config.PyTorchInitContainerMaxTries = training.PyTorchInitContainerMaxTriesDefault
	training.Config.MPIKubectlDeliveryImage = training.MPIKubectlDeliveryImageDefault
	for _, setUp := range trainingcontrollers.SupportedSchemeReconciler {
		if err := setUp(manager, common.GenNonGangSchedulerSetupFunc(), 1); err != nil {
			return err
		}
	}
	return nil
}

func startTrainer(ctx context.Context, manager ctrl.Manager) error {
	for _, index := range []func(context.Context, client.FieldIndexer) error{jobset.SetupJobSetIndexes, jobset.SetupPodIndexes} {
		if err := index(ctx, manager.GetFieldIndexer()); err != nil {
			return err
		}
	}
	sets := jobset.NewJobSetReconciler(manager.GetClient(), manager.GetScheme(), manager.GetEventRecorderFor("jobset"))
	if err := sets.SetupWithManager(manager); err != nil {
		return err
	}
	defaults, err := jobsetwebhooks.NewJobSetWebhook(manager.GetClient())
	if err != nil {
		return err
	}
	if err := defaults.SetupWebhookWithManager(manager); err != nil {
		return err
	}
	known, err := runtimes.New(ctx, manager.GetClient(), manager.GetFieldIndexer())
	if err != nil {
		return err
	}
	_, err = trainer.SetupControllers(manager, known, controller.Options{})
	return err
}

func startKueue(ctx context.Context, manager ctrl.Manager) error {
	_, settings, err := config.Load(manager.GetScheme(), "")
	if err != nil {
		return err
	}
	settings.LeaderElection.LeaderElect = ptr.To(false)
	settings.Integrations.Frameworks = []string{job.FrameworkName}
	if err := indexer.Setup(ctx, manager.GetFieldIndexer()); err != nil {
		return err
	}
	options := []jobframework.Option{jobframework.WithEnabledFrameworks(settings.Integrations.Frameworks)}
	if err := jobframework.SetupIndexes(ctx, manager.GetFieldIndexer(), options...); err != nil {
		return err
	}
	cache := quotas.New(manager.GetClient())
	waiting := queues.NewManager(manager.GetClient(), cache)
	if _, err := core.SetupControllers(manager, waiting, cache, &settings); err != nil {
		return err
	}
	options = append(options, jobframework.WithQueues(waiting), jobframework.WithCache(cache))
	jobs, err := job.NewReconciler(ctx, manager.GetClient(), manager.GetFieldIndexer(), manager.GetEventRecorderFor("kueue"), options...)
	if err != nil {
		return err
	}
	if err := jobs.SetupWithManager(manager); err != nil {
		return err
	}
	go waiting.CleanUpOnContext(ctx)
	go cache.CleanUpOnContext(ctx)
	return manager.Add(scheduler.New(waiting, cache, manager.GetClient(), manager.GetEventRecorderFor("kueue-admission")))
}
