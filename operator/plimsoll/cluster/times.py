"""API timestamps as seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime


def epoch_s(timestamp: str | None) -> float | None:
    """An RFC 3339 timestamp as seconds; None where there is none or it does not parse."""
    if not timestamp:
        return None
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return None


def timestamp(seconds: float) -> str:
    """Seconds since the epoch as the API server writes them (whole seconds, UTC)."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def timestamp_micro(seconds: float) -> str:
    """Seconds since the epoch as ``metav1.MicroTime``."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:-6] + "Z"
