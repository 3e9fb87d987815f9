package main

import "encoding/json"

// Document is one cluster to be judged.
type Document struct {
	ID    json.RawMessage   `json:"id,omitempty"`
	Items []json.RawMessage `json:"items"`
	// Pods restricts the answer to these pending pods, each `namespace/name`.
	Pods []string `json:"pods,omitempty"`
	// Preempt runs the PostFilter plugins for pods that fit nowhere; without it, their part of the message is missing.
	Preempt bool `json:"preempt,omitempty"`
	// Scores runs the Score plugins over all feasible nodes.
	Scores bool `json:"scores,omitempty"`
	// Runs is how often preemption is tried, since ties are broken at random. 0 is 1.
	Runs int `json:"runs,omitempty"`
}

// Answer is what is said about one document. With an Error, Pods says nothing.
type Answer struct {
	ID    json.RawMessage `json:"id,omitempty"`
	Pods  []Verdict       `json:"pods"`
	Error string          `json:"error"`
}

// Verdict is what kube-scheduler makes of one pending pod, alone.
type Verdict struct {
	Pod string `json:"pod"`
	// Gated says that a PreEnqueue plugin keeps the pod out of the queue: no attempt is made, all below is empty.
	Gated      bool      `json:"gated"`
	PreEnqueue *Refusal  `json:"preEnqueue,omitempty"`
	PreFilter  *Refusal  `json:"preFilter,omitempty"`
	Feasible   []string  `json:"feasible"`
	Nodes      NodeCodes `json:"nodes"`
	// Message is that of the PodScheduled condition; empty where a node is feasible.
	Message string `json:"message"`
	// Reason is that of the PodScheduled condition: Unschedulable or SchedulerError; empty where a node is feasible.
	Reason        string   `json:"reason"`
	NominatedNode string   `json:"nominatedNode"`
	Victims       []string `json:"victims"`
	// Nominating says what becomes of status.nominatedNodeName: set, clear or keep. Empty where a node is feasible.
	Nominating string `json:"nominating"`
	// Alternatives are the distinct outcomes of all runs, each [node, [victims]].
	Alternatives []Outcome `json:"alternatives"`
	// Scores are normalised and not yet weighted: plugin -> node -> 0..100. A plugin that skips the pod is missing.
	Scores map[string]map[string]int64 `json:"scores"`
}

// Refusal is a plugin's word on the pod as a whole.
type Refusal struct {
	Plugin  string `json:"plugin"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NodeCodes is what the filters say, by node.
type NodeCodes map[string]NodeCode

// NodeCode is what the filters say of one node.
type NodeCode struct {
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
	// Filter is the plugin that refused; empty for Success and for nodes that a PreFilter plugin left out.
	Filter string `json:"filter"`
}

// Outcome is a node and the pods that would have to leave it, by name.
type Outcome struct {
	Node    string
	Victims []string
}

// MarshalJSON writes [node, [victims]].
func (o Outcome) MarshalJSON() ([]byte, error) { return json.Marshal([]any{o.Node, o.Victims}) }
