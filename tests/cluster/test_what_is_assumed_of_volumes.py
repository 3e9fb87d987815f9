from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.cluster.assumed_volumes import AssumedVolumes
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.pod import Uid
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.storage_class import StorageClass
from plimsoll.cluster.storage.volume import ClaimRef, PersistentVolume
from plimsoll.cluster.volume_matching import PodVolumes, StaticBinding
from tests.builders import make_cache

VOLUME = PersistentVolume(name="v", resource_version="1")
CLAIM = PersistentVolumeClaim(namespace="default", name="data", uid="uid-data", resource_version="1")
BOTH = PodVolumes(bindings=(StaticBinding(CLAIM, VOLUME),), provisions=(replace(CLAIM, name="other"),))
OTHER = BOTH.provisions[0]
POD = Uid("pod")


@pytest.fixture
def assumed() -> AssumedVolumes:
    made = AssumedVolumes()
    made.assume(POD, "node-1", BOTH)
    return made


def test_a_volume_has_its_claim_and_a_claim_its_node(assumed: AssumedVolumes) -> None:
    assert assumed.volume(VOLUME) == replace(VOLUME, claim_ref=ClaimRef("default", "data", "uid-data"))
    assert assumed.claim(OTHER) == replace(OTHER, selected_node="node-1")
    assert assumed.claim(CLAIM) == CLAIM


def test_what_the_watch_shows_goes_before_what_is_assumed(assumed: AssumedVolumes) -> None:
    newer = replace(VOLUME, resource_version="2")
    assert assumed.volume(newer) == newer
    assert assumed.volume(VOLUME) == VOLUME, "it was over with the first newer version"


def test_what_is_forgotten_is_as_it_was(assumed: AssumedVolumes) -> None:
    assert sorted(assumed.forget(POD)) == ["default/other", "v"]
    assert (assumed.volume(VOLUME), assumed.claim(OTHER)) == (VOLUME, OTHER)
    assert len(assumed) == 0
    assert assumed.forget(POD) == ()


def test_what_is_written_holds_until_the_watch_shows_it(assumed: AssumedVolumes) -> None:
    assumed.written("v")
    assert assumed.forget(POD) == ("default/other",)
    assert assumed.volume(VOLUME).claim_ref is not None
    assert assumed.volume(replace(VOLUME, resource_version="2")).claim_ref is None
    assert len(assumed) == 0


def test_a_claim_of_two_pods_keeps_its_node_while_either_goes_there(assumed: AssumedVolumes) -> None:
    second = Uid("second")
    assumed.assume(second, "node-1", PodVolumes(provisions=(OTHER,)))
    assert assumed.forget(POD) == ("v",)
    assert assumed.claim(OTHER).selected_node == "node-1"
    assert assumed.forget(second) == ("default/other",)
    assert assumed.claim(OTHER) == OTHER


def test_nothing_is_kept_of_a_pod_whose_claims_are_bound(assumed: AssumedVolumes) -> None:
    assumed.written("v")
    assumed.written("default/other")
    assumed.settled(POD)
    assert len(assumed) == 0


_PODS = st.sampled_from([Uid("a"), Uid("b"), Uid("c")])
_VOLUMES = [replace(VOLUME, name=f"v{i}") for i in range(3)]
_CLAIMS = [replace(CLAIM, name=f"c{i}", uid=f"uid-c{i}") for i in range(3)]


@given(st.lists(st.tuples(st.booleans(), _PODS, st.sampled_from(range(3))), max_size=20))
def test_once_every_pod_is_forgotten_nothing_is_assumed(steps: list[tuple[bool, Uid, int]]) -> None:
    """Volumes are assumed as the Scheduler does: one that is taken is not taken again."""
    assumed = AssumedVolumes()
    holders: dict[int, Uid] = {}
    for assume, pod, i in steps:
        if assume and i not in holders:
            binding = StaticBinding(_CLAIMS[i], _VOLUMES[i])
            assumed.assume(pod, "node-1", PodVolumes(bindings=(binding,), provisions=(_CLAIMS[i],)))
            holders[i] = pod
        elif not assume:
            assumed.forget(pod)
            holders = {held: holder for held, holder in holders.items() if holder != pod}
        taken = {i for i in range(3) if assumed.volume(_VOLUMES[i]).claim_ref is not None}
        selected = {i for i in range(3) if assumed.claim(_CLAIMS[i]).selected_node is not None}
        assert taken == selected == set(holders)
    for name in ("a", "b", "c"):
        assumed.forget(Uid(name))
    assert len(assumed) == 0


@pytest.mark.parametrize("key", ["v", "default/other"], ids=["a volume", "a claim"])
def test_nothing_is_kept_of_what_was_deleted(key: str) -> None:
    """Written for a pod that went elsewhere: the watch would have shown it, and now never does."""
    cache = make_cache()
    kind = KINDS["PersistentVolumeClaim" if "/" in key else "PersistentVolume"]
    cache.put_object(kind, OTHER if "/" in key else VOLUME)
    cache.assume_volumes(POD, "node-1", BOTH)
    cache.volume_written(key)
    cache.forget_volumes(POD)
    assert len(cache.view.assumed_volumes) == 1
    cache.drop_object(kind, key)
    assert len(cache.view.assumed_volumes) == 0


def test_what_has_the_name_of_a_volume_but_is_none_takes_nothing_away() -> None:
    cache = make_cache()
    cache.assume_volumes(POD, "node-1", BOTH)
    cache.put_object(KINDS["StorageClass"], StorageClass(name="v"))
    cache.drop_object(KINDS["StorageClass"], "v")
    assert len(cache.view.assumed_volumes) == 2
