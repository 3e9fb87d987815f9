"""Preemption: which pods of lower priority give way to a pod that fits nowhere (kube-scheduler's DefaultPreemption)."""
