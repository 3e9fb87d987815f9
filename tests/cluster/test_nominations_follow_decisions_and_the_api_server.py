from __future__ import annotations

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.nominations import Nominations
from plimsoll.cluster.pod import PodInfo
from tests.builders import make_pod


def _pod(name: str = "web", *, nominated: str = "") -> PodInfo:
    return make_pod(name).status(nominatedNodeName=nominated).info()


def _on(nominations: Nominations, node: str) -> list[str]:
    return [pod.name for pod in nominations.pods_on(node)]


def test_a_pod_is_nominated_to_one_node_at_most() -> None:
    nominations = Nominations()
    assert nominations.put(_pod(), "n1") is None
    ended = nominations.put(_pod(), "n2")
    assert (_on(nominations, "n1"), _on(nominations, "n2")) == ([], ["web"])
    assert ended is not None
    assert (ended.kind, ended.before.node) == (ChangeKind.NOMINATION_ENDED, "n1")


def test_to_nominate_anew_to_the_same_node_ends_nothing() -> None:
    nominations = Nominations()
    nominations.put(_pod(), "n1")
    assert nominations.put(_pod(), "n1") is None
    assert list(nominations.nodes()) == ["n1"]


def test_a_nominated_pod_that_asks_for_less_gives_up_the_rest() -> None:
    nominations = Nominations()
    nominations.put(make_pod("web").cpu("2").priority(5).info(), "n1")
    ended = nominations.put(make_pod("web").cpu("1").priority(5).info(), "n1")
    assert ended is not None
    assert (ended.kind, ended.before.node) == (ChangeKind.NOMINATION_ENDED, "n1")
    assert ended.before.requests["cpu"] == 2000
    assert _on(nominations, "n1") == ["web"]


def test_a_nominated_pod_that_is_labelled_anew_keeps_nobody_away_by_the_old_labels() -> None:
    nominations = Nominations()
    nominations.put(make_pod("web").labels(app="web").info(), "n1")
    ended = nominations.put(make_pod("web").labels(app="api").info(), "n1")
    assert ended is not None
    assert (ended.kind, ended.before.labels) == (ChangeKind.NOMINATION_ENDED, {"app": "web"})
    assert nominations.put(make_pod("web").labels(app="api").info(), "n1") is None


def test_what_ends_names_the_node_that_is_given_up() -> None:
    nominations = Nominations()
    nominations.put(_pod(), "n1")
    ended = nominations.drop(_pod().uid)
    assert ended is not None
    assert (ended.before.name, ended.before.node) == ("web", "n1")
    assert not nominations.nodes()
    assert nominations.drop(_pod().uid) is None


def test_a_nomination_that_the_api_server_shows_counts() -> None:
    """As after a restart: nobody here made the decision."""
    nominations = Nominations()
    assert nominations.shown(_pod(nominated="n1")) is None
    assert nominations.node_of(_pod().uid) == "n1"


def test_a_nomination_outlives_events_from_before_it_was_written() -> None:
    nominations = Nominations()
    nominations.shown(_pod())
    nominations.put(_pod(), "n1")
    assert nominations.shown(_pod()) is None
    assert nominations.node_of(_pod().uid) == "n1"


def test_a_nomination_that_was_given_up_does_not_come_back_with_an_old_event() -> None:
    nominations = Nominations()
    nominations.shown(_pod(nominated="n1"))
    nominations.drop(_pod().uid)
    assert nominations.shown(_pod(nominated="n1")) is None
    assert nominations.node_of(_pod().uid) == ""


def test_somebody_else_may_take_a_nomination_back() -> None:
    nominations = Nominations()
    nominations.shown(_pod(nominated="n1"))
    ended = nominations.shown(_pod())
    assert ended is not None
    assert ended.before.node == "n1"
    assert len(nominations) == 0


def test_the_pod_is_nominated_as_it_is_now() -> None:
    nominations = Nominations()
    nominations.shown(_pod(nominated="n1"))
    nominations.shown(make_pod("web").priority(7).status(nominatedNodeName="n1").info())
    assert [pod.priority for pod in nominations.pods_on("n1")] == [7]


def test_a_pod_of_the_same_uid_that_comes_again_is_read_afresh() -> None:
    nominations = Nominations()
    nominations.shown(_pod(nominated="n1"))
    nominations.forget(_pod().uid)
    nominations.shown(_pod(nominated="n1"))
    assert nominations.node_of(_pod().uid) == "n1"


def test_a_nomination_is_read_of_pending_pods_only() -> None:
    assert make_pod().on("n1").status(nominatedNodeName="n1").info().nominated_node == ""


def test_a_change_of_the_nomination_is_no_change_of_the_pod() -> None:
    assert _pod(nominated="n1") == _pod()
