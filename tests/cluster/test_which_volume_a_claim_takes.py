from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.volume_matching import candidates
from tests.volume_objects import a_claim, a_volume, claim_of, volume_of

Json = dict[str, Any]

CLAIM = a_claim("data", size="5Gi")
OURS = {"namespace": "default", "name": "data"}


@pytest.mark.parametrize(
    ("claim", "volume", "taken"),
    [
        pytest.param(CLAIM, a_volume("v"), True, id="larger than asked for"),
        pytest.param(CLAIM, a_volume("v", size="5Gi"), True, id="exactly as large"),
        pytest.param(CLAIM, a_volume("v", size="5119Mi"), False, id="smaller"),
        pytest.param(CLAIM, a_volume("v", size="5368709120"), True, id="as large, in other words"),
        pytest.param(CLAIM, a_volume("v", of_class="other"), False, id="another class"),
        pytest.param(CLAIM, a_volume("v", volumeMode="Block"), False, id="another mode"),
        pytest.param(a_claim("data", volumeMode="Block"), a_volume("v", volumeMode="Block"), True, id="the same mode"),
        pytest.param(CLAIM, a_volume("v", volumeMode="Filesystem"), True, id="no mode is Filesystem"),
        pytest.param(CLAIM, a_volume("v", volumeAttributesClassName="gold"), False, id="attributes not asked for"),
        pytest.param(a_claim("data", volumeAttributesClassName="gold"), a_volume("v"), False, id="without attributes"),
        pytest.param(
            a_claim("data", volumeAttributesClassName="gold"),
            a_volume("v", volumeAttributesClassName="gold"),
            True,
            id="the same attributes",
        ),
        pytest.param(CLAIM, a_volume("v", phase="Pending"), False, id="not available yet"),
        pytest.param(CLAIM, a_volume("v", phase="Released"), False, id="released"),
        pytest.param(
            CLAIM, a_volume("v", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), False, id="deleting"
        ),
        pytest.param(
            a_claim("data", selector={"matchLabels": {"disk": "ssd"}}), a_volume("v"), False, id="selector unmet"
        ),
        pytest.param(
            a_claim("data", selector={"matchLabels": {"disk": "ssd"}}),
            a_volume("v", labels={"disk": "ssd"}),
            True,
            id="selector met",
        ),
        pytest.param(a_claim("data", selector={}), a_volume("v"), True, id="empty selector"),
        pytest.param(
            a_claim("data", accessModes=["ReadWriteOnce", "ReadWriteMany"]), a_volume("v"), False, id="a mode missing"
        ),
        pytest.param(
            CLAIM, a_volume("v", accessModes=["ReadOnlyMany", "ReadWriteOnce"]), True, id="more modes than asked for"
        ),
        pytest.param(CLAIM, a_volume("v", claim={**OURS, "name": "other"}), False, id="bound to another"),
        pytest.param(CLAIM, a_volume("v", claim={**OURS, "namespace": "x"}), False, id="bound in another namespace"),
        pytest.param(
            CLAIM, a_volume("v", claim={**OURS, "uid": "older"}), False, id="bound to one of that name before"
        ),
    ],
)
def test_a_volume_is_free_for_a_claim_by_all_of_its_fields(claim: Json, volume: Json, taken: bool) -> None:  # noqa: FBT001
    found = candidates(claim_of(claim), [volume_of(volume)])
    assert [v.name for v in found.free] == (["v"] if taken else [])
    assert found.prebound == ()


@pytest.mark.parametrize(
    ("volume", "taken"),
    [
        pytest.param(a_volume("v", claim=OURS), True, id="by name"),
        pytest.param(a_volume("v", claim={**OURS, "uid": "uid-data"}), True, id="by name and uid"),
        pytest.param(a_volume("v", claim=OURS, phase="Bound"), True, id="whatever its phase"),
        pytest.param(a_volume("v", claim=OURS, accessModes=["ReadOnlyMany"]), True, id="whatever its access modes"),
        pytest.param(a_volume("v", claim=OURS, size="1Gi"), False, id="not if too small"),
        pytest.param(a_volume("v", claim=OURS, volumeMode="Block"), False, id="not if of another mode"),
    ],
)
def test_a_volume_that_names_the_claim_is_its_own(volume: Json, taken: bool) -> None:  # noqa: FBT001
    found = candidates(claim_of(CLAIM), [volume_of(volume)])
    assert [v.name for v in found.prebound] == (["v"] if taken else [])
    assert found.free == ()


def test_the_smallest_volume_goes_first_and_then_the_name_decides() -> None:
    volumes = [a_volume("c", size="6Gi"), a_volume("big", size="1Ti"), a_volume("a", size="6Gi")]
    found = candidates(claim_of(CLAIM), map(volume_of, volumes))
    assert [v.name for v in found.free] == ["a", "c", "big"]
