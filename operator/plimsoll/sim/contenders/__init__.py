"""Who places the pods: ours, what stands beside it in the field, and chance."""
