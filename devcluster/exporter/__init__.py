"""One process that plays node-exporter and the kubelet's resource metrics for every fake node."""
