"""The garbage collector: short passes, and none over what stays."""

from __future__ import annotations

import gc

# While everything is listed for the first time nearly all that is made stays, or goes by itself; and nobody waits yet.
_YOUNG_AT_START = 500_000
# Counted net of what goes by itself, old things as well: while thousands of pods are bound a pass is over several times
# as many, and takes 20 ms; over five times these, 40 ms.
_YOUNG = 2_000
_MIDDLE = 4
# A pass over everything takes a second in a large cluster. It finds what was in use at the moment of a middle pass,
# some objects for each pod: after some 300,000 pods tens of megabytes. CPython up to 3.13 also waits until what has
# become old since the last one is a quarter of what was old then.
_ALL = 1_500


def spare_start() -> None:
    """From the start of the process until ``settle_memory``: few passes."""
    gc.set_threshold(_YOUNG_AT_START, _MIDDLE, _ALL)


def settle_memory() -> None:
    """What the first LISTs left stays; without this a fifth of the time goes into looking through it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _ALL)
