"""A pod loads its node from when its containers run, not from when the kubelet took it on."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.running import running_since_s
from plimsoll.cluster.times import epoch_s

TAKEN_ON, BEGUN, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z", "2026-01-01T01:00:00Z"
PULLING = {"restartCount": 0, "state": {"waiting": {"reason": "ContainerCreating"}}}


def running(since: str, *, restarts: int = 0) -> dict[str, Any]:
    return {"restartCount": restarts, "state": {"running": {"startedAt": since}}}


@pytest.mark.parametrize(
    ("containers", "want"),
    [
        pytest.param([], TAKEN_ON, id="nothing is told of containers"),
        pytest.param([PULLING], None, id="images are pulled"),
        pytest.param([running(BEGUN)], BEGUN, id="it runs"),
        pytest.param([running(LATER), running(BEGUN)], BEGUN, id="the first of several"),
        pytest.param([running(BEGUN), PULLING], BEGUN, id="one runs and another does not yet"),
        pytest.param([running(LATER, restarts=3)], TAKEN_ON, id="it was started anew"),
        pytest.param([{"state": {"terminated": {"startedAt": BEGUN}}}], BEGUN, id="it has ended"),
    ],
)
def test_a_pod_runs_since_its_first_container_does(containers: list[dict[str, Any]], want: str | None) -> None:
    status = {"startTime": TAKEN_ON, "containerStatuses": containers}
    assert running_since_s(status) == epoch_s(want)
