"""Plimsoll: a Kubernetes scheduler that places pods by what the nodes carry now."""

__version__ = "0.1.0"
