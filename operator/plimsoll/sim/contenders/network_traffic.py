"""NetworkTraffic: the node that received the fewest bytes, of the two small plugins that this project generalises.

Source: the plugin's formula as it is meant, 100 - 100 * bytes received in the range / the most of any node. Not its
known faults: its query adds raw counter values up instead of their increase, its arguments are swapped, and it divides
by zero where no node has traffic. It asks anew for each pod, so that nothing is older than the last scrape; the range
is 5 minutes. It knows nothing of pods that the metric cannot show yet.
"""

from __future__ import annotations

import numpy as np

from plimsoll.sim.contenders.small_plugin import SmallPlugin
from plimsoll.sim.world import RECEIVE_AT, Bools, Floats

_RANGE_S = 300.0


class NetworkTraffic(SmallPlugin):
    """100 - 100 * received / most."""

    def score(self, fit: Bools, *, now_s: float) -> Floats:
        return traffic_score(self.plane.mean(_RANGE_S, now_s)[RECEIVE_AT], fit)


def traffic_score(received: Floats, fit: Bools) -> Floats:
    """[N].

    Args:
        received: [N], bytes or bytes/s; NaN where unknown.
        fit: [N], nodes among which the most is found.
    """
    most = np.fmax.reduce(received[fit])
    used = received * 100 // most if most > 0 else received * 0
    return np.nan_to_num(100 - used, nan=0.0)
