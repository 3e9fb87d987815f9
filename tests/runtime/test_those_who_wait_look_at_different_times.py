from __future__ import annotations

import itertools

from plimsoll.runtime.waiters import ever_longer_s


def _looks_s(count: int) -> list[float]:
    return list(itertools.islice(ever_longer_s(1.0, 10.0), count))


def test_each_looks_less_and_less_often_but_never_gives_up() -> None:
    looks_s = _looks_s(100)
    assert 1 <= looks_s[0] <= 2
    assert all(5 <= look_s <= 10 for look_s in looks_s[5:])


def test_thousands_that_began_together_do_not_look_together() -> None:
    """At any second of the second minute at most a third of them; all at once would hold up the loop."""
    seconds = [int(t) for _ in range(3000) for t in itertools.accumulate(_looks_s(40)) if 60 <= t < 120]
    assert max(seconds.count(second) for second in range(60, 120)) < 1000
    assert len(seconds) < 60 * 3000 / 5
