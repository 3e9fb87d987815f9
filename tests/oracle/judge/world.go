package main

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// world is a whole kube-scheduler with the default profile that is shown one cluster after another and never runs.
// Its own event handlers fill its cache, its queue, its nominator and the caches of its plugins.
type world struct {
	ctx        context.Context
	stop       context.CancelFunc
	factory    *factory
	scheduler  *scheduler.Scheduler
	framework  framework.Framework
	snapshot   *cache.Snapshot
	preemption *preemptionLog
	shown      []runtime.Object
}

func newWorld() (*world, error) {
	ctx, stop := context.WithCancel(context.Background())
	w := &world{ctx: ctx, stop: stop, factory: newFactory()}
	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	var err error
	if w.scheduler, err = scheduler.New(ctx, agreeable(), w.factory, nil, recorder); err != nil {
		return nil, err
	}
	w.framework = w.scheduler.Profiles[corev1.DefaultSchedulerName]
	w.snapshot = w.framework.SnapshotSharedLister().(*cache.Snapshot)
	w.preemption, err = watchPreemption(w.framework)
	return w, err
}

// agreeable is an API server that says yes to everything and changes nothing.
func agreeable() *fake.Clientset {
	client := fake.NewSimpleClientset()
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if written, ok := action.(clienttesting.CreateAction); ok {
			return true, written.GetObject(), nil
		}
		return true, nil, nil
	})
	return client
}

// show takes the last cluster away and puts this one there.
func (w *world) show(cluster *Cluster) error {
	for index := len(w.shown) - 1; index >= 0; index-- {
		if err := w.factory.of(w.shown[index]).remove(w.shown[index]); err != nil {
			return err
		}
	}
	w.shown = inOrder(cluster.objects)
	for _, object := range w.shown {
		if err := w.factory.of(object).add(object); err != nil {
			return err
		}
	}
	return w.scheduler.Cache.UpdateSnapshot(klog.FromContext(w.ctx), w.snapshot)
}

// inOrder puts pods last and nodes before them: a pod must find its node when it comes and leave it before it goes.
func inOrder(objects []runtime.Object) []runtime.Object {
	var rest, nodes, pods []runtime.Object
	for _, object := range objects {
		switch object.(type) {
		case *corev1.Pod:
			pods = append(pods, object)
		case *corev1.Node:
			nodes = append(nodes, object)
		default:
			rest = append(rest, object)
		}
	}
	return append(append(rest, nodes...), pods...)
}

func (w *world) judge(cluster *Cluster, document *Document) ([]Verdict, error) {
	wanted := map[string]bool{}
	for _, key := range document.Pods {
		wanted[key] = true
	}
	verdicts := []Verdict{}
	for _, pod := range cluster.pending {
		key := pod.Namespace + "/" + pod.Name
		if len(wanted) > 0 && !wanted[key] {
			continue
		}
		delete(wanted, key)
		verdict, err := w.judgePod(pod, document)
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", key, err)
		}
		verdicts = append(verdicts, *verdict)
		if len(wanted) == 0 && len(document.Pods) > 0 {
			break
		}
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("no pending pods: %v", reflect.ValueOf(wanted).MapKeys())
	}
	return verdicts, nil
}
