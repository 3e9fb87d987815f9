"""Pods per second, side by side with kube-scheduler on the same machine."""
