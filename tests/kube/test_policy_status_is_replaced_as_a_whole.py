from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import Conflict
from plimsoll.kube.client import ApiClient
from plimsoll.kube.policy_status import merge_patch, write_policy_status
from tests.kube.api_server import ApiServer, merged

POLICY = "/apis/plimsoll.dev/v1alpha1/schedulingpolicies/p"

_plain = st.none() | st.integers() | st.text(max_size=3)
# A null means removal in a merge patch, so a status has none at the place of a key.
_values = st.recursive(
    st.integers() | st.text(max_size=3) | st.lists(_plain, max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
_objects = st.dictionaries(st.sampled_from("abcd"), _values, max_size=4)


@given(before=_objects, after=_objects)
def test_the_patch_turns_one_into_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert merged(before, merge_patch(before, after)) == after


@given(same=_objects)
def test_what_stays_is_still_sent(same: dict[str, Any]) -> None:
    """Somebody else may have written the status meanwhile: what is sent is what shall be."""
    assert merged({}, merge_patch(same, same)) == same


async def test_what_is_no_longer_known_disappears(server: ApiServer, client: ApiClient) -> None:
    before = {"best": {"node": "n1", "score": 90}, "source": "Prometheus"}
    await server.put(POLICY, {"metadata": {"uid": "u"}, "spec": {"kept": True}, "status": before})
    await write_policy_status(client, name="p", uid="u", status={"bound": 1}, previous=before)
    assert server.objects[POLICY]["status"] == {"bound": 1}
    assert server.objects[POLICY]["spec"] == {"kept": True}


async def test_a_policy_that_was_recreated_is_left_alone(server: ApiServer, client: ApiClient) -> None:
    await server.put(POLICY, {"metadata": {"uid": "another"}})
    with pytest.raises(Conflict):
        await write_policy_status(client, name="p", uid="u", status={"bound": 1}, previous=None)
