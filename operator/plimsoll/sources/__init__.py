"""Adapters to metrics sources: queries out, raw samples back, judged into Readings."""

from plimsoll.sources.refresh import Sources

__all__ = ["Sources"]
