"""What a volume is to its CSI driver."""

from __future__ import annotations

from typing import NamedTuple


class Handle(NamedTuple):
    """Volumes with the same driver and handle are the same volume, whatever else they are called."""

    driver: str
    volume: str
