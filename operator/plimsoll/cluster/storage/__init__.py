"""Volumes, claims and what CSI drivers say of nodes: one file per kind of object, and the store that keeps them."""
