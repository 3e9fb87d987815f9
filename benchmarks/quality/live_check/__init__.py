"""The check of the simulator: one small scene on a live control plane and in the simulator, compared node by node."""
