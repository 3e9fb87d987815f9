package main

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// score asks the Score plugins about all feasible nodes, even if there is only one.
func (w *world) score(pod *corev1.Pod, state fwk.CycleState, nodes []fwk.NodeInfo, verdict *Verdict) error {
	if status := w.framework.RunPreScorePlugins(w.ctx, state, pod, nodes); !status.IsSuccess() {
		return status.AsError()
	}
	scored, status := w.framework.RunScorePlugins(w.ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return status.AsError()
	}
	weights := map[string]int64{}
	for _, plugin := range w.framework.ListPlugins().Score.Enabled {
		weights[plugin.Name] = int64(plugin.Weight)
	}
	for _, node := range scored {
		for _, score := range node.Scores {
			if verdict.Scores[score.Name] == nil {
				verdict.Scores[score.Name] = map[string]int64{}
			}
			verdict.Scores[score.Name][node.Name] = score.Score / weights[score.Name]
		}
	}
	return nil
}
