"""kube-scheduler's filterPodsWithPDBViolation: which budgets a pod's disruption counts against."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.budgets import DisruptionBudget
from plimsoll.errors import ObjectError
from tests.builders import make_pod

WEB = {"matchLabels": {"app": "web"}}


def _budget(selector: dict[str, Any] | None, **status: Any) -> DisruptionBudget:
    return DisruptionBudget.parse(
        {"metadata": {"namespace": "default", "name": "guard"}, "spec": {"selector": selector}, "status": status}
    )


@pytest.mark.parametrize(
    ("selector", "guards"),
    [
        pytest.param(WEB, True, id="matching labels"),
        pytest.param({"matchLabels": {"app": "db"}}, False, id="other labels"),
        pytest.param({}, False, id="an empty selector"),
        pytest.param(None, False, id="no selector"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "Near"}]}, False, id="an unknown operator"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True, id="an expression"),
    ],
)
def test_which_pods_a_selector_guards(selector: dict[str, Any] | None, *, guards: bool) -> None:
    assert _budget(selector).guards(make_pod("w").labels(app="web").info()) == guards


def test_a_pod_of_another_namespace_is_not_guarded() -> None:
    assert not _budget(WEB).guards(make_pod("w", namespace="other").labels(app="web").info())


def test_a_pod_without_labels_is_guarded_by_nobody() -> None:
    absent = {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}
    assert not _budget(absent).guards(make_pod("w").info())
    assert _budget(absent).guards(make_pod("w").labels(x="y").info())


def test_a_disruption_that_was_counted_already_is_not_counted_again() -> None:
    budget = _budget(WEB, disruptedPods={"w": "2026-01-01T00:00:00Z"})
    assert not budget.guards(make_pod("w").labels(app="web").info())
    assert budget.guards(make_pod("v").labels(app="web").info())


def test_missing_status_allows_nothing() -> None:
    assert _budget(WEB).allowed == 0
    assert _budget(WEB, disruptionsAllowed=2).allowed == 2


def test_a_budget_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ObjectError, match="PodDisruptionBudget default/guard"):
        _budget(WEB, disruptionsAllowed="many")
