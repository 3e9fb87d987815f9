"""Values of kube-scheduler's own tests of ImageLocality, and what these leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from plimsoll.scores.preferred import image_locality
from plimsoll.scores.preferred.caches import PreferenceCaches
from tests.builders import NodeBuilder, make_cache, make_node, make_pod

Json = dict[str, Any]
MB = 2**20


def holding(name: str, *sizes_mb: int) -> NodeBuilder:
    """Images gcr.io/<size>:latest, and another name for each."""
    images = [{"names": [f"gcr.io/{mb}:latest", f"gcr.io/{mb}:v1"], "sizeBytes": mb * MB} for mb in sizes_mb]
    return make_node(name).status(images=images)


def running(*images: str, init: Sequence[str] = (), volumes: Sequence[str] = ()) -> Json:
    return {
        "containers": [{"name": f"c{i}", "image": image} for i, image in enumerate(images)],
        "initContainers": [{"name": f"i{i}", "image": image} for i, image in enumerate(init)],
        "volumes": [{"name": f"v{i}", "image": {"reference": image}} for i, image in enumerate(volumes)],
    }


def scores(spec: Json, nodes: Sequence[NodeBuilder], caches: PreferenceCaches | None = None) -> list[int]:
    view = make_cache(nodes).view
    found = image_locality.score(view, make_pod().spec(**spec).info(), caches or PreferenceCaches())
    return [int(score) for score in found[: view.size]]


A, B = holding("1", 40, 300, 2000), holding("2", 250, 10)
LARGE_2, LARGE_3 = holding("1", 600, 40, 900), holding("2", 300, 600, 900)
HUGE, SMALL, EMPTY = holding("1", 4000, 30), holding("1", 20, 30, 40), make_node("3")


@pytest.mark.parametrize(
    ("spec", "nodes", "want"),
    [
        pytest.param(running("gcr.io/40", "gcr.io/250"), [A, B], [0, 5], id="the larger image"),
        pytest.param(running("gcr.io/40", "gcr.io/300"), [A, B], [7, 0], id="both images"),
        pytest.param(running("gcr.io/10", "gcr.io/4000"), [HUGE, B], [100, 0], id="the upper limit"),
        pytest.param(running("gcr.io/10", "gcr.io/4000"), [HUGE, B, EMPTY], [66, 0, 0], id="by the share of nodes"),
        pytest.param(
            running("gcr.io/300", "gcr.io/600", "gcr.io/900"), [LARGE_2, LARGE_3, EMPTY], [32, 36, 0], id="large images"
        ),
        pytest.param(running("gcr.io/30", "gcr.io/40"), [SMALL, holding("2", 4000, 30)], [1, 0], id="small images"),
        pytest.param(
            running("gcr.io/30", volumes=["gcr.io/300"]), [LARGE_3, holding("1", 4000, 30)], [12, 0], id="image volumes"
        ),
        pytest.param(
            running("gcr.io/30", init=["gcr.io/300"]), [A, holding("2", 20, 30, 40)], [6, 0], id="init containers"
        ),
        pytest.param(running("gcr.io/300:v1"), [A, B], [12, 0], id="any of its names"),
        pytest.param(running("gcr.io/300:v2"), [A, B], [0, 0], id="another tag is another image"),
        pytest.param(running("gcr.io/300", "gcr.io/300"), [A, B], [14, 0], id="an image that is used twice"),
        pytest.param(running("registry:5000/app"), [A, B], [0, 0], id="unknown"),
    ],
)
def test_values_of_kube_scheduler(spec: Json, nodes: list[NodeBuilder], want: list[int]) -> None:
    assert scores(spec, nodes) == want


def test_only_pods_that_are_to_be_placed_remember_their_images() -> None:
    pod = make_pod().spec(**running("app", init=["setup"]))
    assert (pod.info().images, pod.info().containers) == (("setup:latest", "app:latest"), 2)
    placed = pod.on("n1").info()
    assert (placed.images, placed.containers, placed.owner) == ((), 0, None)


def test_a_port_is_no_tag() -> None:
    node = make_node("1").status(images=[{"names": ["registry:5000/app:latest"], "sizeBytes": 500 * MB}])
    assert scores(running("registry:5000/app"), [node]) == [48]


def test_of_a_name_listed_twice_the_last_size_counts() -> None:
    images = [{"names": ["app:latest"], "sizeBytes": size * MB} for size in (900, 500)]
    assert scores(running("app"), [make_node("1").status(images=images)]) == [48]


def test_an_image_of_unknown_size_counts_as_present() -> None:
    """Half of the nodes would halve the score; both have it, one of them does not say how large it is."""
    listed: Json = {"names": ["app:latest"]}
    nodes = [
        make_node("1").status(images=[listed]),
        make_node("2").status(images=[listed | {"sizeBytes": 500 * MB}]),
    ]
    assert scores(running("app"), nodes) == [0, 48]


def test_images_that_come_and_go_are_seen() -> None:
    cache, caches = make_cache([A, B]), PreferenceCaches()
    pod = make_pod().spec(**running("gcr.io/300")).info()

    def found() -> list[int]:
        return [int(score) for score in image_locality.score(cache.view, pod, caches)]

    assert found() == [12, 0]
    cache.put_node(holding("2", 300).info())
    assert found() == [28, 28]
    cache.drop_node("1")
    assert found()[1] == 28
    cache.put_node(holding("2").info())
    assert found()[1] == 0
