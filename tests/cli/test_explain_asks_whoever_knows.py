from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from plimsoll.reporting.annotation import annotation
from plimsoll.reporting.explanation import explanation
from plimsoll.runtime.server import Views, serving
from plimsoll.runtime.settings import Address
from plimsoll.scheduling.decision import Decision, NodeScore, Outcome, Rejection
from tests.builders import make_pod

LEASE = "/apis/coordination.k8s.io/v1/namespaces/plimsoll-system/leases/plimsoll"
PROXY = "/api/v1/namespaces/plimsoll-system/pods/http:plimsoll-0:10260/proxy/debug/decisions?pod=default/web-1"
POD = "/api/v1/namespaces/default/pods/web-1"
NOW_S = 1_767_225_600.0


def bound() -> Decision:
    readings = {"networkReceive": 4, "networkTransmit": 1, "memory": 30, "cpu": 12}
    nodes = tuple(
        NodeScore(
            node=f"ip-10-0-0-{i}.internal",
            score=91.2 - i,
            terms={"load": 0.06, "requests": 0.2, "spreading": 0.0, "preferences": 0.0},
            readings=readings,
            projected={name: percent + 4 for name, percent in readings.items()},
            sampled_at_s=NOW_S - 12,
        )
        for i in range(10)
    )
    return Decision(
        pod=make_pod("web-1").info(),
        outcome=Outcome.BIND,
        policy="network-first",
        policy_generation=1,
        decided_at_s=NOW_S,
        nodes=12,
        feasible=12,
        node=nodes[0].node,
        score=91.2,
        best=nodes,
        readings_at_s=NOW_S - 10,
    )


def refused(*, at_s: float = NOW_S) -> Decision:
    return Decision(
        pod=make_pod("web-1").info(),
        outcome=Outcome.UNSCHEDULABLE,
        policy="",
        policy_generation=0,
        decided_at_s=at_s,
        nodes=12,
        feasible=0,
        rejections=(Rejection("NodeResourcesFit", "Insufficient cpu", 12, resolvable=True, examples=("n1", "n2")),),
    )


def leads(canned, *decisions: Decision) -> None:
    canned.put(LEASE, {"spec": {"holderIdentity": "plimsoll-0_1b2c"}})
    canned.put(PROXY, explanation("default/web-1", decisions))


def test_the_leader_is_asked_through_the_api_servers_proxy(canned, kubeconfig_of, plimsoll):
    leads(canned, bound())
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "default/web-1 was placed on ip-10-0-0-0.internal (score 91.2) at 2026-01-01T00:00:00Z by policy network-first;"
        " runner-up ip-10-0-0-1.internal (90.2)\n"
    )
    assert canned.asked == [LEASE, PROXY]
    assert result.stderr == ""


def test_the_table_is_plain_and_fits_into_100_columns(canned, kubeconfig_of, plimsoll):
    leads(canned, bound())
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    _, _, table = result.stdout.partition("\n\n")
    assert max(len(line) for line in table.splitlines()) <= 100
    assert "\x1b" not in result.stdout
    (chosen,) = [line.split() for line in table.splitlines() if line.startswith("*")]
    assert chosen == [
        "*", "ip-10-0-0-0.internal", "91.2", "0.06", "0.20", "0.00", "0.00", "4->8", "1->5", "30->34", "12->16", "12s",
    ]  # fmt: skip


def test_long_node_names_are_shown_whole(canned, kubeconfig_of, plimsoll):
    name = "n" * 150
    nodes = (NodeScore(node=name, score=50.0, terms={"preferences": 0.25}, readings={"networkReceive": 4}),)
    leads(canned, replace(bound(), node=name, best=nodes))
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert ["*", name, "50.0", "0.25", "4", "-"] in [line.split() for line in result.stdout.splitlines()]


def test_json_is_the_servers_document(canned, kubeconfig_of, plimsoll):
    leads(canned, refused(), bound())
    result = plimsoll("explain", "pod", "web-1", "-o", "json", "--kubeconfig", kubeconfig_of(canned.url))
    assert json.loads(result.stdout) == explanation("default/web-1", [refused(), bound()])


def test_a_pending_pod_shows_its_reasons_and_what_was_tried_before(canned, kubeconfig_of, plimsoll):
    leads(canned, refused(), refused(at_s=NOW_S - 60))
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    lines = result.stdout.splitlines()
    assert lines[0].endswith("0/12 nodes are available: 12 Insufficient cpu.")
    assert ["12", "Insufficient", "cpu", "n1,", "n2", "and", "10", "more"] in [line.split() for line in lines]
    assert "Earlier decisions (1):" in lines
    assert lines[-1].startswith("  default/web-1 was not placed at 2025-12-31T23:59:00Z")


def test_the_contexts_namespace_is_used_as_kubectl_does(canned, kubeconfig_of, plimsoll):
    leads(canned)
    canned.put(PROXY.replace("default", "shop"), explanation("shop/web-1", [bound()]))
    result = plimsoll("explain", "pod", "web-1", "--context", "shop", KUBECONFIG=kubeconfig_of(canned.url))
    assert result.exit_code == 0
    assert canned.asked[-1].endswith("pod=shop/web-1")


@pytest.mark.parametrize("name", ["shop/web-1", "pod/web-1"])
def test_a_pod_is_named_as_tools_print_it(canned, kubeconfig_of, plimsoll, name):
    leads(canned)
    canned.put(PROXY.replace("default", "shop"), explanation("shop/web-1", [bound()]))
    result = plimsoll("explain", "pod", name, "-n", "shop", "--kubeconfig", kubeconfig_of(canned.url))
    assert result.exit_code == 0
    assert canned.asked[-1].endswith("pod=shop/web-1")


def test_a_name_alone_may_say_the_namespace(canned, kubeconfig_of, plimsoll):
    leads(canned)
    canned.put(PROXY.replace("default", "shop"), explanation("shop/web-1", [bound()]))
    result = plimsoll("explain", "pod", "shop/web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert canned.asked[-1].endswith("pod=shop/web-1")
    refused_name = plimsoll("explain", "pod", "shop/web-1", "-n", "web", "--kubeconfig", kubeconfig_of(canned.url))
    assert result.exit_code == 0
    assert "shop/web-1 is not in namespace web" in refused_name.stderr


def test_another_scheduler_has_another_lease_place_and_port(canned, kubeconfig_of, plimsoll):
    canned.put("/apis/coordination.k8s.io/v1/namespaces/infra/leases/other", {"spec": {"holderIdentity": "o-1_x"}})
    path = "/api/v1/namespaces/infra/pods/http:o-1:9000/proxy/debug/decisions?pod=default/web-1"
    canned.put(path, explanation("default/web-1", [bound()]))
    result = plimsoll(
        "explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url), "--scheduler-name", "other",
        "--operator-namespace", "infra", "--operator-port", "9000",
    )  # fmt: skip
    assert result.exit_code == 0


def test_without_a_leader_the_annotation_tells(canned, kubeconfig_of, plimsoll):
    canned.put(
        POD, make_pod("web-1").on("ip-10-0-0-0.internal").annotate("plimsoll.dev/decision", annotation(bound())).obj()
    )
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "default/web-1 was placed on ip-10-0-0-0.internal (score 91.2) by policy network-first"
    )
    assert result.stderr.startswith("Note: the leader could not be asked: the API server answered 404")
    assert result.stderr.count("\n") == 1


def test_a_leader_that_has_forgotten_leaves_it_to_the_annotation(canned, kubeconfig_of, plimsoll):
    leads(canned)
    canned.put(POD, make_pod("web-1").on("n").annotate("plimsoll.dev/decision", annotation(bound())).obj())
    result = plimsoll("explain", "pod", "web-1", "-o", "json", "--kubeconfig", kubeconfig_of(canned.url))
    assert json.loads(result.stdout)["decisions"][0]["from"] == "annotation"
    assert result.stderr == ""


def test_an_annotation_that_somebody_spoiled_is_said_to_be_so(canned, kubeconfig_of, plimsoll):
    leads(canned)
    canned.put(POD, make_pod("web-1").on("n").annotate("plimsoll.dev/decision", "{").obj())
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert result.exit_code == 0
    assert result.stderr.startswith("Note: the annotation plimsoll.dev/decision cannot be read")
    assert result.stdout.startswith("default/web-1 is on n, and carries no decision")


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(make_pod("web-1").gated("quota"), "scheduling gates are removed: quota", id="gated"),
        pytest.param(
            make_pod("web-1").spec(schedulerName="other"),
            "names scheduler other, not plimsoll",
            id="another scheduler's",
        ),
        pytest.param(make_pod("web-1"), "has not been tried yet", id="waiting"),
    ],
)
def test_a_pod_that_nobody_decided_about_speaks_for_itself(canned, kubeconfig_of, plimsoll, pod, want):
    leads(canned)
    canned.put(POD, pod.obj())
    arguments = ("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert want in plimsoll(*arguments).stdout
    document = json.loads(plimsoll(*arguments, "-o", "json").stdout)
    assert document["decisions"] == []
    assert want in document["state"]


async def test_a_server_is_asked_directly(plimsoll):
    views = Views(ailing=list, unready=list, decisions=lambda pod: explanation(pod, [bound()]), metrics=lambda: b"")
    async with serving(Address("127.0.0.1", 0), views) as address:
        result = await asyncio.to_thread(plimsoll, "explain", "pod", "web-1", "--server", f"http://{address}/")
    assert result.exit_code == 0
    assert result.stdout.startswith("default/web-1 was placed on ip-10-0-0-0.internal")


def test_a_server_that_knows_nothing_leaves_it_to_the_pod(canned, kubeconfig_of, plimsoll):
    canned.put("/debug/decisions?pod=default/web-1", explanation("default/web-1", []))
    canned.put(POD, make_pod("web-1").gated("quota").obj())
    result = plimsoll("explain", "pod", "web-1", "--server", canned.url, "--kubeconfig", kubeconfig_of(canned.url))
    assert "quota" in result.stdout


def test_what_a_server_says_cannot_steer_the_terminal(canned, plimsoll):
    decision = {"pod": "default/web-1", "outcome": "Unschedulable", "message": "\x1b[2J\x07 [bold]x[/bold]\ny"}
    canned.put("/debug/decisions?pod=default/web-1", {"pod": "default/web-1", "decisions": [decision]})
    result = plimsoll("explain", "pod", "web-1", "--server", canned.url)
    assert "\x1b" not in result.stdout
    assert result.stdout.endswith("[2J [bold]x[/bold] y\n")
