package main

import (
	"context"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// preemptionLog stands between DefaultPreemption and its evaluator and writes down the victims of each node,
// which the plugin's result leaves out.
type preemptionLog struct {
	preemption.Interface
	lock    sync.Mutex
	victims map[string][]*corev1.Pod
}

// watchPreemption lets the framework's DefaultPreemption find victims and never evict them.
func watchPreemption(framework framework.Framework) (*preemptionLog, error) {
	for _, plugin := range framework.PreEnqueuePlugins() {
		if real, ok := plugin.(*defaultpreemption.DefaultPreemption); ok {
			log := &preemptionLog{Interface: real}
			// Without async preemption, all that an executor does has ended when the plugin returns.
			executor := preemption.NewExecutor(idle{framework}, feature.Features{})
			executor.PreemptPod = spare
			real.Evaluator = preemption.NewEvaluator(defaultpreemption.Name, framework, log, executor)
			return log, nil
		}
	}
	return nil, errors.New("the default profile has no DefaultPreemption")
}

func (l *preemptionLog) forget() { l.victims = map[string][]*corev1.Pod{} }

func (l *preemptionLog) SelectVictimsOnNode(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo,
	budgets []*policyv1.PodDisruptionBudget,
) ([]*corev1.Pod, int, *fwk.Status) {
	victims, violations, status := l.Interface.SelectVictimsOnNode(ctx, state, pod, node, budgets)
	if status.IsSuccess() {
		l.lock.Lock()
		defer l.lock.Unlock()
		l.victims[node.Node().Name] = victims
	}
	return victims, violations, status
}

func spare(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *corev1.Pod, string) error {
	return nil
}

// idle is a handle on which nobody is nominated, so that nobody's nomination is cleared.
type idle struct{ fwk.Handle }

func (idle) NominatedPodsForNode(string) []fwk.PodInfo { return nil }
