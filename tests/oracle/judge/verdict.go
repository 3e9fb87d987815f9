package main

import (
	"errors"
	"fmt"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func (w *world) judgePod(pod *corev1.Pod, document *Document) (*Verdict, error) {
	verdict := &Verdict{
		Pod: pod.Namespace + "/" + pod.Name, Feasible: []string{}, Nodes: NodeCodes{},
		Victims: []string{}, Alternatives: []Outcome{}, Scores: map[string]map[string]int64{},
	}
	if verdict.PreEnqueue = w.preEnqueue(pod); verdict.PreEnqueue != nil {
		verdict.Gated = true
		return verdict, nil
	}
	state := framework.NewCycleState()
	feasible, failed, err := w.filter(pod, state, verdict)
	if err != nil {
		return nil, err
	}
	if len(feasible) == 0 || failed {
		fits, err := w.attempts(pod, document, verdict)
		if err != nil || !fits {
			return verdict, err
		}
	}
	for _, node := range feasible {
		verdict.Feasible = append(verdict.Feasible, node.Node().Name)
	}
	if document.Scores && len(feasible) > 0 {
		return verdict, w.score(pod, state, feasible, verdict)
	}
	return verdict, nil
}

func (w *world) preEnqueue(pod *corev1.Pod) *Refusal {
	for _, plugin := range w.framework.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(w.ctx, pod); !status.IsSuccess() {
			return &Refusal{Plugin: plugin.Name(), Code: status.Code().String(), Message: status.Message()}
		}
	}
	return nil
}

// filter asks about every node, where an attempt stops at the nominated node or at enough nodes.
func (w *world) filter(pod *corev1.Pod, state fwk.CycleState, verdict *Verdict) ([]fwk.NodeInfo, bool, error) {
	nodes, err := w.nodes()
	if err != nil || len(nodes) == 0 {
		return nil, false, err
	}
	chosen, status, plugins := w.framework.RunPreFilterPlugins(w.ctx, state, pod)
	if !status.IsSuccess() {
		refusal := Refusal{Plugin: status.Plugin(), Code: status.Code().String(), Message: status.Message()}
		verdict.PreFilter = &refusal
		for _, node := range nodes {
			verdict.Nodes[node.Node().Name] = codeOf(status)
		}
		return nil, false, nil
	}
	leftOut := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(plugins))
	var feasible []fwk.NodeInfo
	failed := false
	for _, node := range nodes {
		status := fwk.NewStatus(fwk.UnschedulableAndUnresolvable, leftOut)
		if chosen.AllNodes() || chosen.NodeNames.Has(node.Node().Name) {
			status = w.framework.RunFilterPluginsWithNominatedPods(w.ctx, state, pod, node)
		}
		verdict.Nodes[node.Node().Name] = codeOf(status)
		if status.IsSuccess() {
			feasible = append(feasible, node)
		}
		failed = failed || status.Code() == fwk.Error
	}
	return feasible, failed, nil
}

func (w *world) nodes() ([]fwk.NodeInfo, error) {
	nodes, err := w.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	sorted := append([]fwk.NodeInfo{}, nodes...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Node().Name < sorted[j].Node().Name })
	return sorted, nil
}

func codeOf(status *fwk.Status) NodeCode {
	if status.IsSuccess() { // which may be nil
		return NodeCode{Code: status.Code().String(), Reasons: []string{}}
	}
	return NodeCode{Code: status.Code().String(), Reasons: status.Reasons(), Filter: status.Plugin()}
}

// attempts are kube-scheduler's own, SchedulePod and then the PostFilter plugins; the verdict is that of the first.
// It says whether the pod fits nevertheless: a filter's error on another node does not matter to a nominated pod.
func (w *world) attempts(pod *corev1.Pod, document *Document, verdict *Verdict) (bool, error) {
	seen := map[string]Outcome{}
	for run := range max(document.Runs, 1) {
		told := &Verdict{Victims: []string{}}
		fits, err := w.attempt(pod, document.Preempt, told)
		if err != nil || fits {
			return fits, err
		}
		if run == 0 {
			verdict.Message, verdict.Reason, verdict.Nominating = told.Message, told.Reason, told.Nominating
			verdict.NominatedNode, verdict.Victims = told.NominatedNode, told.Victims
		}
		if told.NominatedNode == "" {
			break // nothing was left to chance
		}
		seen[fmt.Sprint(told.NominatedNode, told.Victims)] = Outcome{told.NominatedNode, told.Victims}
	}
	for _, key := range sets.List(sets.KeySet(seen)) {
		verdict.Alternatives = append(verdict.Alternatives, seen[key])
	}
	return false, nil
}

// attempt is what kube-scheduler's schedulingAlgorithm does, which cannot be called from outside.
func (w *world) attempt(pod *corev1.Pod, preempt bool, told *Verdict) (bool, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return false, err
	}
	state := framework.NewCycleState()
	queued := &framework.QueuedPodInfo{PodInfo: info}
	if _, err = w.scheduler.SchedulePod(w.ctx, w.framework, state, queued); err == nil {
		return true, nil
	}
	told.Reason, told.Nominating = corev1.PodReasonUnschedulable, "clear"
	var fitError *framework.FitError
	switch {
	case errors.As(err, &fitError):
		if preempt {
			w.postFilter(pod, state, fitError, told)
		}
	case !errors.Is(err, scheduler.ErrNoNodesAvailable):
		told.Reason = corev1.PodReasonSchedulerError
	}
	told.Message = err.Error()
	return false, nil
}

func (w *world) postFilter(pod *corev1.Pod, state fwk.CycleState, fitError *framework.FitError, told *Verdict) {
	w.preemption.forget()
	result, status := w.framework.RunPostFilterPlugins(w.ctx, state, pod, fitError.Diagnosis.NodeToStatus)
	fitError.Diagnosis.PostFilterMsg = status.Message()
	if result == nil || result.NominatingInfo == nil || result.Mode() != fwk.ModeOverride {
		told.Nominating = "keep"
		return
	}
	if result.NominatedNodeName == "" {
		return
	}
	told.Nominating, told.NominatedNode = "set", result.NominatedNodeName
	for _, victim := range w.preemption.victims[result.NominatedNodeName] {
		told.Victims = append(told.Victims, victim.Namespace+"/"+victim.Name)
	}
	sort.Strings(told.Victims)
}
