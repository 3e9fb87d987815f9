from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from plimsoll.cli import main
from tests.builders import make_node, make_pod

Json = dict[str, Any]


def cluster() -> list[Json]:
    """Two nodes, of which only big-1 has room for web-1; nothing makes room for huge-1 but the pod that is there."""
    return [
        make_node("big-1").allocatable(cpu="4", memory="8Gi", pods="110").obj(),
        make_node("small-1").allocatable(cpu="1", memory="8Gi", pods="110").obj(),
        make_pod("old-1").requests(cpu="2").on("big-1").obj(),
        make_pod("web-1").requests(cpu="2").obj(),
        make_pod("huge-1", namespace="shop").requests(cpu="4").priority(10).obj(),
    ]


def explain(*args: str, items: Any = None, text: str | None = None) -> Result:
    given = text if text is not None else json.dumps({"kind": "List", "items": cluster() if items is None else items})
    return CliRunner().invoke(main, ["explain", "--cluster", "-", *args], input=given)


def documents(*args: str, **given: Any) -> list[Json]:
    done = explain(*args, "-o", "json", **given)
    assert done.exit_code == 0, done.output
    found: list[Json] = json.loads(done.stdout)
    return found


def test_every_pending_pod_gets_a_documented_verdict() -> None:
    web, huge = documents()
    assert web["pod"] == "default/web-1"
    assert web["feasible"] == ["big-1"]
    assert web["nodes"] == {
        "big-1": {"code": "Success", "reasons": [], "filter": ""},
        "small-1": {
            "code": "UnschedulableAndUnresolvable",
            "reasons": ["Insufficient cpu"],
            "filter": "NodeResourcesFit",
        },
    }
    assert (web["message"], web["nominatedNode"], web["victims"]) == ("", "", [])
    assert web["scores"]["requests"]["big-1"] > 0
    assert (huge["feasible"], huge["nominatedNode"], huge["victims"]) == ([], "big-1", ["default/old-1"])
    assert huge["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_every_field_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
    gated = make_pod("gated-1").gated("example.com/wait").obj()
    fields = {field for document in documents(items=[*cluster(), gated]) for field in document}
    assert fields <= set(re.findall(r"`(\w+)`", page.split("## `-o json`")[1]))


def test_a_pod_is_judged_alone() -> None:
    pods = [make_pod(f"web-{i}").requests(cpu="2").obj() for i in range(3)]
    assert all(d["feasible"] == ["big-1"] for d in documents(items=[*cluster()[:3], *pods]))


def test_the_kinds_of_preference_are_listed_by_plugin() -> None:
    nodes = [
        make_node(f"n{i}").allocatable(cpu="4", pods="110").taint("t", effect="PreferNoSchedule").obj() for i in (1, 2)
    ]
    del nodes[0]["spec"]["taints"]
    (document,) = documents(items=[*nodes, make_pod("web-1").obj()])
    assert document["preferences"]["TaintToleration"] == {"n1": 100, "n2": 0}


@pytest.mark.parametrize(
    ("args", "pods"),
    [
        pytest.param(["web-1"], ["default/web-1"], id="by name"),
        pytest.param(["-n", "shop"], ["shop/huge-1"], id="by namespace"),
        pytest.param(["-n", "shop", "huge-1"], ["shop/huge-1"], id="by both"),
        pytest.param(["web-1", "huge-1"], ["default/web-1", "shop/huge-1"], id="several"),
    ],
)
def test_only_the_pods_that_were_asked_for(args: list[str], pods: list[str]) -> None:
    assert [d["pod"] for d in documents(*args)] == pods


def test_a_pod_may_be_called_as_a_command_is() -> None:
    assert [d["pod"] for d in documents("cluster", items=[make_node().obj(), make_pod("cluster").obj()])] == [
        "default/cluster"
    ]


def test_the_table_says_what_the_document_says() -> None:
    shown = explain().stdout
    assert "default/web-1 fits on 1 of 2 nodes" in shown
    assert "Preemption would make room on big-1: default/old-1" in shown
    assert "NodeResourcesFit" in shown
    assert "Insufficient cpu" in shown


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\n---\n".join(map(yaml.safe_dump, cluster())), id="YAML documents"),
        pytest.param(yaml.safe_dump({"kind": "List", "items": cluster()}), id="a YAML List"),
        pytest.param("".join(map(json.dumps, cluster())), id="JSON documents"),
        pytest.param("\n".join(map(json.dumps, cluster())) + "\n", id="an object per line"),
        pytest.param("\n---\n".join(map(json.dumps, cluster())), id="JSON documents as YAML"),
        pytest.param(
            json.dumps({"kind": "List", "items": [{"kind": "List", "items": cluster()}]}), id="Lists in Lists"
        ),
        pytest.param(
            json.dumps([{"kind": "NodeList", "items": [{**n, "kind": None} for n in cluster()[:2]]}, *cluster()[2:]]),
            id="typed lists",
        ),
    ],
)
def test_it_reads_what_kubectl_writes(text: str) -> None:
    if "NodeList" in text:
        text = text.replace('"kind": null, ', "").replace(', "kind": null', "")
    assert [d["pod"] for d in documents(text=text)] == ["default/web-1", "shop/huge-1"]


def test_it_reads_a_file(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"kind": "List", "items": cluster()}))
    done = CliRunner().invoke(main, ["explain", f"--cluster={tmp_path / 'c.json'}", "web-1", "-o", "json"])
    assert done.exit_code == 0
    assert len(json.loads(done.stdout)) == 1


@pytest.mark.parametrize(
    ("odd", "named"),
    [
        pytest.param(make_pod("odd-1").requests(cpu="two").obj(), "pod default/odd-1", id="a pending pod"),
        pytest.param(
            make_pod("odd-1").requests(cpu="two").on("big-1").obj(), "pod default/odd-1", id="a pod on a node"
        ),
        pytest.param(make_node("odd-1").allocatable(cpu="many").obj(), "node odd-1", id="a node"),
        pytest.param({"kind": "PersistentVolumeClaim", "metadata": "x"}, "persistentvolumeclaim", id="a claim"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_judged(odd: Json, named: str) -> None:
    done = explain("-o", "json", items=[odd, *cluster()])
    assert done.exit_code == 0
    assert named in done.stderr.lower()
    assert [d["pod"] for d in json.loads(done.stdout)] == ["default/web-1", "shop/huge-1"]
    assert json.loads(done.stdout)[0]["feasible"] == ["big-1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("{", "neither JSON nor YAML", id="nothing readable"),
        pytest.param("a: [", "(line", id="where it breaks off"),
        pytest.param("17", "holds something that is no API object", id="a number"),
        pytest.param('{"items": 3}', "holds something that is no API object", id="no kind"),
        pytest.param(
            '{"kind": "List", "items": [3]}', "holds something that is no API object", id="a number in a List"
        ),
        pytest.param('{"kind": "List", "items": []}', "standard input holds no API objects", id="an empty List"),
        pytest.param('{"kind": "ConfigMap", "metadata": {}}', "ConfigMap", id="other kinds are named"),
        pytest.param("", "standard input is empty", id="nothing at all"),
        pytest.param(
            '{"kind": "Pod", "metadata": {"namespace": "shop"}}', "metadata.name is missing", id="a pod without a name"
        ),
        pytest.param('{"kind": "Node", "metadata": {}}', "metadata.name is missing", id="a node without a name"),
        pytest.param(
            '{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": {"a": 1}}}',
            "Pod default/p cannot be read: spec.containers is no list",
            id="containers that are no list",
        ),
        pytest.param('{"kind": "pod", "metadata": {"name": "p"}}', "its kind must be spelt Pod", id="a kind misspelt"),
        pytest.param(
            "kind: Node\nmetadata: {name: a}\nkind: Pod\n",
            "says kind twice in one object (line 3): put ---",
            id="no ---",
        ),
    ],
)
def test_what_cannot_be_judged_is_one_line_and_exit_code_1(text: str, words: str) -> None:
    done = explain(text=text)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["explain", "--cluster", str(tmp_path / "none.json")])
    assert done.exit_code == 1
    assert f"{tmp_path / 'none.json'} cannot be read: No such file or directory" in done.stderr


def test_a_name_that_no_pending_pod_has_is_said() -> None:
    assert "no pending pod is named nobody" in explain("web-1", "nobody").stderr
    alone = explain("nobody")
    assert alone.exit_code == 1
    assert "no pending pod is named nobody" in alone.stderr


def test_names_are_data_to_the_terminal() -> None:
    pod = make_pod("web-1").obj()
    pod["spec"]["nodeSelector"] = {"a": "b"}
    node = make_node("n\u001b[31m[bold]1").obj()
    shown = explain(items=[node, pod]).stdout
    assert "\u001b" not in shown
    assert "[bold]1" in shown


def test_gates_are_named() -> None:
    gated = make_pod("web-1").obj()
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    items = [make_node().obj(), gated]
    assert documents(items=items)[0]["gates"] == ["example.com/wait"]
    assert "Held back by scheduling gates: example.com/wait" in explain(items=items).stdout


def test_several_files_are_one_cluster(tmp_path: Path) -> None:
    for name, items in (("nodes", cluster()[:2]), ("pods", cluster()[2:])):
        (tmp_path / name).write_text(json.dumps({"kind": "List", "items": items}))
    files = ["--cluster", str(tmp_path / "nodes"), "--cluster", str(tmp_path / "pods")]
    done = CliRunner().invoke(main, ["explain", *files, "-o", "json"])
    assert json.loads(done.stdout) == documents()


@pytest.mark.parametrize("name", ["shop/huge-1", "pod/huge-1", "pods/huge-1", "huge-1"])
def test_a_pod_is_named_as_tools_print_it(name: str) -> None:
    assert [d["pod"] for d in documents(name)] == ["shop/huge-1"]


def test_two_namespaces_for_one_pod_are_refused() -> None:
    assert "shop/huge-1 is not in namespace web" in explain("-n", "web", "shop/huge-1").stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        pytest.param(["old-1"], "no pending pod is named old-1: default/old-1 is on node big-1", id="on a node"),
        pytest.param(["wev-1"], "did you mean web-1?", id="a slip"),
        pytest.param(["-n", "shpo"], "holds no pods in namespace shpo, only in default and shop", id="a namespace"),
    ],
)
def test_what_is_known_of_a_pod_that_does_not_wait_is_said(args: list[str], words: str) -> None:
    done = explain(*args)
    assert done.exit_code == 1
    assert words in done.stderr


def test_a_file_without_nodes_is_remarked() -> None:
    done = explain("-o", "json", items=cluster()[3:])
    assert done.exit_code == 0
    assert "Note: standard input holds no nodes" in done.stderr
    assert "holds no nodes" not in explain().stderr


def test_claims_that_the_file_leaves_out_are_remarked() -> None:
    pod = make_pod("db-1").obj()
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    assert "holds no PersistentVolumeClaims, which default/db-1 uses" in explain(items=[*cluster(), pod]).stderr
    assert "PersistentVolumeClaims" not in explain().stderr


def test_a_pod_written_by_hand_needs_neither_namespace_nor_uid() -> None:
    pods = [{"kind": "Pod", "metadata": {"name": f"p{i}"}} for i in (1, 2)]
    found = documents(items=[make_node("n1").obj(), *pods])
    assert [(d["pod"], d["feasible"]) for d in found] == [("default/p1", ["n1"]), ("default/p2", ["n1"])]


def test_nodes_are_listed_as_people_count_and_columns_are_explained() -> None:
    nodes = [make_node(f"node-{i}").allocatable(cpu="4", pods="110").obj() for i in (10, 2, 1)]
    shown = explain(items=[*nodes, make_pod("web-1").obj()]).stdout
    assert re.findall(r"^node-\d+", shown, re.MULTILINE) == ["node-1", "node-2", "node-10"]
    assert "cost from 0 to 1, lower is better" in shown


def test_many_refusals_are_counted_by_reason() -> None:
    small = [make_node(f"small-{i}").allocatable(cpu="1", pods="110").obj() for i in range(1, 31)]
    big = make_node("big-1").allocatable(cpu="4", pods="110").obj()
    shown = explain(items=[*small, big, make_pod("web-1").requests(cpu="2").obj()]).stdout
    assert re.search(r"^30 +NodeResourcesFit +Insufficient cpu +small-1, small-2, small-3", shown, re.MULTILINE)
    assert re.search(r"^big-1 .*fits", shown, re.MULTILINE)
    assert "small-7" not in shown


def test_the_help_shows_the_options_for_a_file() -> None:
    shown = CliRunner().invoke(main, ["explain", "--help"]).stdout
    assert all(option in shown for option in ("--cluster FILE", "--namespace", "--output", "--scheduler-name"))


@pytest.mark.parametrize("args", [["cluster.json"], ["-n", "shop", "toobig"], ["toobig"]], ids=" ".join)
def test_a_call_that_names_neither_file_nor_command_is_shown_both(args: list[str]) -> None:
    done = CliRunner().invoke(main, ["explain", *args])
    assert done.exit_code == 2
    assert "Use `plimsoll explain pod NAME` or `plimsoll explain --cluster FILE [POD]`." in done.stderr
