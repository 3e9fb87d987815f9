"""The vectors of kube-scheduler's TaintToleration."""

from __future__ import annotations

import pytest

from plimsoll.cluster.taints import CORDON, Taint, Toleration, tolerated

TAINT = Taint("dedicated", "gpu", "NoSchedule")
EMPTY = Taint("dedicated", "", "NoSchedule")
CAPACITY = Taint("cores", "10", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "taint", "want"),
    [
        pytest.param({"key": "dedicated", "value": "gpu"}, TAINT, True, id="no operator is Equal"),
        pytest.param({"key": "dedicated", "operator": "Equal", "value": "gpu"}, TAINT, True, id="Equal"),
        pytest.param({"key": "dedicated", "operator": "Equal", "value": "cpu"}, TAINT, False, id="another value"),
        pytest.param({"key": "dedicated", "operator": "Equal"}, TAINT, False, id="Equal without a value: the empty"),
        pytest.param({"key": "dedicated", "operator": "Equal", "value": ""}, EMPTY, True, id="empty equals missing"),
        pytest.param({"key": "other", "operator": "Exists"}, TAINT, False, id="another key"),
        pytest.param({"key": "dedicated", "operator": "Exists"}, TAINT, True, id="Exists takes any value"),
        pytest.param({"operator": "Exists"}, TAINT, True, id="Exists without a key tolerates all"),
        pytest.param({"operator": "Exists"}, CORDON, True, id="also a cordon"),
        pytest.param({"operator": "Exists", "effect": "NoExecute"}, TAINT, False, id="but not another effect"),
        pytest.param({"operator": "Exists", "effect": "NoSchedule"}, TAINT, True, id="that effect"),
        pytest.param(
            {"key": "dedicated", "operator": "Exists", "tolerationSeconds": 0}, TAINT, True, id="seconds do not matter"
        ),
        pytest.param({"key": "cores", "operator": "Lt", "value": "20"}, CAPACITY, False, id="Lt is not known"),
        pytest.param({"key": "cores", "operator": "Gt", "value": "5"}, CAPACITY, False, id="nor is Gt"),
        pytest.param({"key": "dedicated", "operator": "exists"}, TAINT, False, id="nor another spelling"),
        pytest.param({"key": None, "operator": "Exists", "effect": None}, TAINT, True, id="null is absent"),
    ],
)
def test_a_toleration(toleration: dict[str, str], taint: Taint, want: bool) -> None:  # noqa: FBT001
    assert Toleration.parse(toleration).tolerates(taint) is want


def test_any_of_the_tolerations_will_do() -> None:
    tolerations = [Toleration.parse({"key": key, "operator": "Exists"}) for key in ("other", "dedicated")]
    assert tolerated(TAINT, tolerations)
    assert not tolerated(TAINT, tolerations[:1])
    assert not tolerated(TAINT, [])


@pytest.mark.parametrize(
    ("effect", "want"), [("NoSchedule", True), ("NoExecute", True), ("PreferNoSchedule", False), ("", False)]
)
def test_hard_taints_keep_pods_away(effect: str, want: bool) -> None:  # noqa: FBT001
    assert Taint.parse({"key": "a", "effect": effect}).hard is want
