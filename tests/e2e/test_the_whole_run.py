"""What is asked of the whole run; these come last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.kube import Kube, deployment

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = [pytest.mark.cluster, pytest.mark.last]

_ACCOUNT = "system:serviceaccount:plimsoll-system:plimsoll"
# The API server asks for it within a write of the claim's status; no request goes there.
_IMPLIED = {("patch", "resource.k8s.io", "resourceclaims", "binding")}


def test_not_one_request_was_forbidden_and_no_granted_verb_is_unused(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    from tests.chart.rbac import denied, granted, used

    kube.create(deployment("one-more", 3))
    kube.all_bound("one-more", 3)
    assert cluster.audit_log
    manifests = cluster.helm("get", "manifest", "plimsoll", "--namespace", "plimsoll-system")
    assert denied(cluster.audit_log, _ACCOUNT) == []
    assert granted(manifests) - used(cluster.audit_log, _ACCOUNT) == _IMPLIED
