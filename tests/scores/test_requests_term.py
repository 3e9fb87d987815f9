from __future__ import annotations

import pytest

from plimsoll.scores.requests import requests_term
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod


@pytest.mark.parametrize(
    ("node", "there", "want"),
    [
        pytest.param(make_node("n1").offers(cpu="4", memory="8Gi"), [], (1 / 4 + 2 / 8) / 2, id="the pod alone"),
        pytest.param(
            make_node("n1").offers(cpu="4", memory="8Gi"),
            [make_pod().requests(cpu="2", memory="1Gi").on("n1")],
            (3 / 4 + 3 / 8) / 2,
            id="beside another",
        ),
        pytest.param(
            make_node("n1").offers(cpu="4", memory="8Gi"),
            [make_pod().requests(cpu="9", memory="1Gi").on("n1")],
            (1 + 3 / 8) / 2,
            id="overcommitted is full",
        ),
        pytest.param(make_node("n1").offers(cpu="0", memory="8Gi"), [], (1 + 2 / 8) / 2, id="nothing offered is full"),
    ],
)
def test_the_share_that_is_requested_after_placement(node: NodeBuilder, there: list[PodBuilder], want: float) -> None:
    pod = make_pod().requests(cpu="1", memory="2Gi").info()
    assert requests_term(make_cache([node], there).view, pod) == pytest.approx([want])


def test_a_pod_without_requests_goes_by_what_is_there() -> None:
    cache = make_cache([make_node("n1"), make_node("n2")], [make_pod().cpu("8").on("n2")])
    assert requests_term(cache.view, make_pod().info()) == pytest.approx([0, 0.25])
