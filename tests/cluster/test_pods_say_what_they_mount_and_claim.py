from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.claim_needs import ClaimNeed
from plimsoll.cluster.pod_volumes import NO_VOLUMES, ClaimUse
from plimsoll.cluster.storage.handles import Handle
from tests.builders import make_pod

Json = dict[str, Any]


def test_claims_stand_in_the_order_of_the_volumes() -> None:
    volumes: list[Json] = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "b", "emptyDir": {}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
        {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
    ]
    found = make_pod("web").spec(volumes=volumes).info().volumes
    assert found.claims == (ClaimUse("data"), ClaimUse("web-scratch", ephemeral=True), ClaimUse("data"))
    assert list(found.plain_claims()) == ["data", "data"]
    assert (found.disks, found.handles, found.untranslatable) == ((), (), "")


def test_inline_disks_are_known_by_their_drivers_names_too() -> None:
    volumes = [{"name": n, "awsElasticBlockStore": {"volumeID": "vol-1"}} for n in ("a", "b")]
    found = make_pod().spec(volumes=volumes).info().volumes
    assert found.handles == (Handle("ebs.csi.aws.com", "vol-1"),)
    assert len(found.disks) == 2


def test_an_inline_disk_that_its_driver_would_not_know_leaves_the_pod_readable() -> None:
    volumes = [{"name": "a", "awsElasticBlockStore": {"volumeID": "aws://x/y"}}]
    found = make_pod().spec(volumes=volumes).info().volumes
    assert found.handles == ()
    assert found.untranslatable.startswith("converting volume(a) from inline to csi: ")


@pytest.mark.parametrize("volumes", [None, [], [{"name": "a", "emptyDir": {}}, {"name": "b", "nfs": {}}]], ids=str)
def test_most_pods_mount_nothing_that_matters(volumes: list[Json] | None) -> None:
    assert make_pod().spec(volumes=volumes).info().volumes is NO_VOLUMES


@pytest.mark.parametrize(
    ("claims", "statuses", "want"),
    [
        pytest.param(None, None, (), id="none"),
        pytest.param(
            [{"name": "a", "resourceClaimName": "x"}], None, (ClaimNeed("spec.resourceClaims[0]", "x"),), id="by name"
        ),
        pytest.param(
            [{"name": "a", "resourceClaimTemplateName": "t"}],
            [{"name": "a", "resourceClaimName": "p-a"}],
            (ClaimNeed("spec.resourceClaims[0]", "p-a", made_for_pod=True),),
            id="made from a template",
        ),
        pytest.param(
            [{"name": "z", "resourceClaimName": "x"}, {"name": "a", "resourceClaimTemplateName": "t"}],
            [{"name": "other", "resourceClaimName": "p-a"}],
            (
                ClaimNeed("spec.resourceClaims[0]", "x"),
                ClaimNeed("spec.resourceClaims[1]", None, made_for_pod=True),
            ),
            id="not made yet",
        ),
        pytest.param(
            [{"name": "a", "resourceClaimTemplateName": "t"}], [{"name": "a"}], (), id="deliberately not made"
        ),
    ],
)
def test_resource_claims(claims: list[Json] | None, statuses: list[Json] | None, want: tuple[ClaimNeed, ...]) -> None:
    pod = make_pod().spec(resourceClaims=claims).status(resourceClaimStatuses=statuses)
    assert pod.info().resource_claims == want
