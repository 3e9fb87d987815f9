from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_terms import AffinityTerm, PodSelector, WeightedTerm
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.spread import SpreadConstraint
from plimsoll.errors import ObjectError
from tests.builders import make_pod

APP = {"matchLabels": {"app": "web"}}
WEB = LabelSelector.parse(APP)


def term(**fields: Any) -> dict[str, Any]:
    return {"topologyKey": "zone", "labelSelector": APP, **fields}


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        pytest.param({}, PodSelector(frozenset({"mine"}), WEB), id="its own namespace where none is named"),
        pytest.param({"namespaces": []}, PodSelector(frozenset({"mine"}), WEB), id="an empty list names none"),
        pytest.param({"namespaces": ["a", "b"]}, PodSelector(frozenset({"a", "b"}), WEB), id="named ones"),
        pytest.param({"namespaceSelector": {}}, PodSelector(frozenset(), WEB, LabelSelector()), id="all of them"),
        pytest.param(
            {"namespaces": ["a"], "namespaceSelector": APP}, PodSelector(frozenset({"a"}), WEB, WEB), id="named and selected"
        ),
        pytest.param({"labelSelector": None}, PodSelector(frozenset({"mine"}), None), id="no pods"),
        pytest.param({"labelSelector": {}}, PodSelector(frozenset({"mine"}), LabelSelector()), id="all pods"),
        pytest.param(
            {"matchLabelKeys": ["app"]}, PodSelector(frozenset({"mine"}), WEB), id="matchLabelKeys are the API server's"
        ),
    ],
)  # fmt: skip
def test_a_term_says_which_pods_it_speaks_of(fields: dict[str, Any], want: PodSelector) -> None:
    pod = make_pod(namespace="mine").labels(app="x").apart(term(**fields)).info()
    assert pod.required_anti_affinity == (AffinityTerm(want, "zone"),)


def test_terms_are_kept_by_kind_in_their_order() -> None:
    pod = make_pod(namespace="mine").together(term(), term(topologyKey="rack")).prefer_together(7, term())
    got = pod.apart(term(topologyKey="a")).prefer_apart(3, term(topologyKey="b")).info()
    pods = PodSelector(frozenset({"mine"}), WEB)
    assert got.required_affinity == (AffinityTerm(pods, "zone"), AffinityTerm(pods, "rack"))
    assert got.required_anti_affinity == (AffinityTerm(pods, "a"),)
    assert got.preferred_affinity == (WeightedTerm(AffinityTerm(pods, "zone"), 7),)
    assert got.preferred_anti_affinity == (WeightedTerm(AffinityTerm(pods, "b"), 3),)


@pytest.mark.parametrize(
    "affinity", [None, {}, {"podAffinity": None}, {"podAntiAffinity": {}}, {"nodeAffinity": {}}], ids=str
)
def test_a_pod_without_terms_has_none(affinity: dict[str, Any] | None) -> None:
    pod = make_pod().spec(affinity=affinity).info()
    assert (pod.required_affinity, pod.preferred_anti_affinity, pod.terms_problem) == ((), (), "")


def test_a_malformed_term_takes_only_those_of_its_kind_with_it() -> None:
    bad = term(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "Has"}]})
    pod = make_pod().apart(term(), bad).together(term()).prefer_apart(1, term()).info()
    assert pod.required_anti_affinity == ()
    assert len(pod.required_affinity) == len(pod.preferred_anti_affinity) == 1
    assert pod.terms_problem == 'requiredAntiAffinityTerms: "Has" is not a valid label selector operator'


def constraint(pod_labels: dict[str, str], **fields: Any) -> SpreadConstraint:
    given = {"topologyKey": "zone", "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": APP, **fields}
    (got,) = make_pod().labels(**pod_labels).spec(topologySpreadConstraints=[given]).info().spread
    return got


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        pytest.param({}, SpreadConstraint("zone", 2, hard=True, selector=WEB), id="defaults"),
        pytest.param(
            {"whenUnsatisfiable": "ScheduleAnyway"}, SpreadConstraint("zone", 2, hard=False, selector=WEB), id="a soft one"
        ),
        pytest.param({"minDomains": 3}, SpreadConstraint("zone", 2, hard=True, selector=WEB, min_domains=3), id="minDomains"),
        pytest.param(
            {"nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"},
            SpreadConstraint("zone", 2, hard=True, selector=WEB, honor_affinity=False, honor_taints=True),
            id="policies turned",
        ),
        pytest.param(
            {"nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"},
            SpreadConstraint("zone", 2, hard=True, selector=WEB),
            id="policies spelt out",
        ),
        pytest.param({"labelSelector": None}, SpreadConstraint("zone", 2, hard=True, selector=None), id="no selector"),
        pytest.param(
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Has"}]}},
            SpreadConstraint("zone", 2, hard=True, selector=None, problem='"Has" is not a valid label selector operator'),
            id="a malformed selector",
        ),
    ],
)  # fmt: skip
def test_a_spread_constraint_is_read(fields: dict[str, Any], want: SpreadConstraint) -> None:
    assert constraint({}, **fields) == want


@pytest.mark.parametrize(
    ("labels", "keys", "selector", "selects", "not_selected"),
    [
        pytest.param(
            {"v": "1"}, ["v"], APP, {"app": "web", "v": "1"}, {"app": "web", "v": "2"}, id="beside a selector"
        ),
        pytest.param({"v": "1"}, ["v"], {}, {"v": "1"}, {"app": "web"}, id="instead of an empty one"),
        pytest.param({}, ["v"], APP, {"app": "web"}, {"app": "x"}, id="a key that the pod lacks is left out"),
        pytest.param({"v": "1", "w": "2"}, ["v", "u", "w"], {}, {"v": "1", "w": "2"}, {"v": "1"}, id="several keys"),
    ],
)
def test_match_label_keys_are_merged_with_the_pods_own_values(
    labels: dict[str, str],
    keys: list[str],
    selector: dict[str, Any],
    selects: dict[str, str],
    not_selected: dict[str, str],
) -> None:
    got = constraint(labels, matchLabelKeys=keys, labelSelector=selector)
    assert got.selects(selects)
    assert not got.selects(not_selected)


def test_match_label_keys_make_nothing_of_an_absent_selector() -> None:
    assert constraint({"v": "1"}, matchLabelKeys=["v"], labelSelector=None).selector is None


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(
            {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": 1}}}, id="a number"
        ),
        pytest.param({"affinity": {"podAntiAffinity": "zone"}}, id="a text"),
        pytest.param({"topologySpreadConstraints": [{"maxSkew": "many"}]}, id="a word for a number"),
        pytest.param({"topologySpreadConstraints": ["zone"]}, id="no object"),
    ],
)
def test_a_wrong_shape_makes_exactly_that_pod_unusable(spec: dict[str, Any]) -> None:
    with pytest.raises(ObjectError, match="pod default/odd cannot be read"):
        PodInfo.parse(make_pod("odd").spec(**spec).obj())
