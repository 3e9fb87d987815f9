"""The CRD on the real API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crds.policies import Policies

if TYPE_CHECKING:
    from devcluster import DevCluster

CRDS = Path(__file__).parents[2] / "crds"


@pytest.fixture(scope="module")
def crd(api: DevCluster) -> Policies:
    """The CRD is there; for tests that store nothing. Other modules may have installed it in their own way."""
    api.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(CRDS))
    api.kubectl("wait", "--for=condition=Established", "crd/schedulingpolicies.plimsoll.dev", "--timeout=30s")
    api.kubectl("delete", "schedulingpolicies", "--all")
    return Policies(api)


@pytest.fixture
def policies(crd: Policies) -> Iterator[Policies]:
    """No policies before, and none after."""
    yield crd
    crd.kubectl("delete", "schedulingpolicies", "--all")
