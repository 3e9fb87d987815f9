from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from plimsoll import __version__
from plimsoll.cli.simulate_options import left_out, scenarios_of
from plimsoll.sim.contenders.registry import CONTENDERS
from plimsoll.sim.default_policy import default_policy_text
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.measures import MEASURES
from plimsoll.sim.scenarios import SCENARIOS
from plimsoll.sim.synthetic import synthetic_trace

_FEW = ("--policies", "kube,random", "--seeds", "2", "--processes", "1")


@pytest.fixture(scope="module")
def trace_files(tmp_path_factory):
    """A trace as people record it: of generated load, in the files' format."""
    folder = tmp_path_factory.mktemp("traces")
    usage, vms = folder / "month.npz", folder / "month_vms.csv"
    trace = synthetic_trace(1)
    cpu, memory, received, sent = trace.use
    ids = np.arange(trace.machines)
    np.savez(
        usage,
        t0=0,
        step=trace.step_s,
        vm=ids,
        cpu_mhz=cpu * 1000,
        mem_kb=memory / 1024,
        rx_kbs=received / 1000,
        tx_kbs=sent / 1000,
    )
    vms.write_text("vm,cores,cpu_cap_mhz\n" + "".join(f"{vm},2,2000\n" for vm in ids))
    return ("--usage", str(usage), "--vms", str(vms))


def test_list_says_what_there_is(plimsoll):
    output = plimsoll("simulate", "--list").output
    for name in (*SCENARIOS, *CONTENDERS):
        assert re.search(rf"^{re.escape(name)} ", output, re.MULTILINE)
    assert re.search(r"^heterogeneous .*\(needs --nodes FILE\)", output, re.MULTILINE)
    assert re.search(r"^bursts .*\(needs --arrivals FILE\)", output, re.MULTILINE)
    assert output.count("needs --") == 2


def test_policies_are_compared_on_recorded_load(plimsoll, trace_files):
    result = plimsoll("simulate", *trace_files, *_FEW)
    assert result.exit_code == 0
    assert "mean of 2 seeds" in result.stdout
    assert re.search(r"^kube +\d+\.\d+ ± \d+\.\d+", result.stdout, re.MULTILINE)
    assert "difference to kube  cpu, pp" in re.sub(" {3,}", "  ", result.stdout)
    assert re.search(r"^random +[+-]?\d+\.\d+ ± \d+\.\d+ +\d:\d", result.stdout, re.MULTILINE)
    assert "\x1b" not in result.output
    assert "generated" not in result.output


def test_without_a_trace_it_says_that_load_is_generated(plimsoll):
    result = plimsoll("simulate", "--policies", "random", "--seeds", "1")
    assert result.exit_code == 0
    assert "generated" in result.stderr
    assert "mean of 1 seed\n" in re.sub(" +\n", "\n", result.stdout.replace("  ", "\n"))
    assert "±" not in result.stdout.split("mean ± ")[0]


def test_json_holds_each_seed_and_the_comparisons(plimsoll, trace_files, tmp_path):
    path = tmp_path / "out.json"
    assert plimsoll("simulate", *trace_files, *_FEW, "--first-seed", "5", "--json", str(path)).exit_code == 0
    report = json.loads(path.read_text())
    assert report["schemaVersion"] == 1
    assert report["plimsollVersion"] == __version__
    assert report["policy"] == {"name": "default", "sha256": sha256(default_policy_text().encode()).hexdigest()}
    assert report["complete"] is True
    assert report["inputs"].keys() == {"month.npz", "month_vms.csv"}
    assert str(tmp_path.parent) not in path.read_text()
    [scenario] = report["scenarios"]
    assert scenario["seeds"] == [5, 6]
    keys = {measure.key for measure in MEASURES}
    kube, random = scenario["policies"]["kube"], scenario["policies"]["random"]
    assert kube["bySeed"].keys() == random["means"].keys() == random["againstBaseline"].keys() == keys
    assert "againstBaseline" not in kube
    differences = [b - a for a, b in zip(kube["bySeed"]["hot"], random["bySeed"]["hot"], strict=True)]
    assert random["againstBaseline"]["hot"]["mean"] == pytest.approx(sum(differences) / 2, rel=1e-3)


@pytest.mark.slow
def test_the_same_seeds_make_the_same_file(plimsoll, trace_files, tmp_path):
    paths = [tmp_path / name for name in ("one.json", "two.json")]
    for path in paths:
        plimsoll("simulate", *trace_files, *_FEW, "--json", str(path))
    assert paths[0].read_text() == paths[1].read_text()


@pytest.mark.slow
def test_resume_goes_on_and_says_what_it_does_not_use(plimsoll, trace_files, tmp_path):
    path = tmp_path / "results.jsonl"
    first = plimsoll("simulate", *trace_files, *_FEW, "--resume", str(path))
    again = plimsoll("simulate", *trace_files, *_FEW, "--resume", str(path))
    assert len(path.read_text().splitlines()) == 4
    assert again.stdout == first.stdout
    other = plimsoll("simulate", *_FEW, "--resume", str(path))
    assert "4 results in" in other.stderr
    assert "are not used" in other.stderr


@pytest.mark.slow
def test_what_a_gate_cannot_decide_takes_more_seeds(plimsoll):
    result = plimsoll("simulate", "--gate", "--seeds", "1", "--processes", "1")
    assert result.exit_code == 1
    assert "18 of 18 lines are not decided: too few seeds can be compared; give more --seeds." in result.stderr


class _Page(HTMLParser):
    """What a page refers to, and what stands in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.references += [value or "" for name, value in attrs if name in {"href", "src", "xlink:href"}]


@pytest.mark.slow
def test_the_page_is_one_file_with_tables_and_plots(plimsoll, trace_files, tmp_path):
    path = tmp_path / "out.html"
    result = plimsoll("simulate", *trace_files, *_FEW, "--html", str(path), HOME=os.environ["HOME"])
    assert result.exit_code == 0
    text = path.read_text()
    page = _Page()
    page.feed(text)
    assert page.tags.count("svg") == 3
    assert page.tags.count("table") >= 3
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    images = [reference for reference in page.references if not reference.startswith("#")]
    assert len(images) == 3
    assert all(reference.startswith("data:image/png;base64,") for reference in images)
    for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ET.fromstring(drawing)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--scenario", "servces"), "did you mean services"),
        (("--scenario", "servces"), "there are services, jobs"),
        (("--policies", "kube,koordinater"), "did you mean koordinator"),
        (("--policies", ","), "no policy is named"),
        (("--policies", "random", "--baseline", "kube"), "add it to --policies"),
        (("--policies", "random", "--gate"), "to --policies"),
        (("--scenario", "heterogeneous", *_FEW), "give --nodes FILE"),
        (("--scenario", "bursts", *_FEW), "give --arrivals FILE"),
        (("--usage", __file__), "--usage and --vms belong together"),
        (("--usage", __file__, "--vms", __file__, *_FEW), "is no trace"),
        (("--seeds", "0"), "0 is not in the range"),
        (("--json", "/nonexistent/folder/out.json", *_FEW), "cannot write /nonexistent/folder/out.json"),
    ],
)
def test_what_is_wrong_is_said_with_the_mend(plimsoll, arguments, says):
    result = plimsoll("simulate", *arguments)
    assert result.exit_code == 2, "1 is a gate that fails"
    assert says in " ".join(result.stderr.split())


def test_all_scenarios_are_those_that_the_files_are_there_for():
    without = scenarios_of("all", Inputs())
    assert set(SCENARIOS) - set(without) == {"heterogeneous", "bursts"}
    [said] = left_out("all", Inputs())
    assert said.endswith("heterogeneous (give --nodes FILE), bursts (give --arrivals FILE).")


def test_what_is_left_out_is_said_only_of_all():
    given = Inputs(arrivals=Path("arrivals.csv"), nodes=Path("nodes.csv"))
    assert scenarios_of("all", given) == tuple(SCENARIOS)
    assert left_out("all", given) == left_out("services", Inputs()) == ()


@pytest.mark.slow
def test_ours_places_by_the_policy_that_it_is_given(plimsoll, trace_files, tmp_path):
    policy, reports = tmp_path / "policy.yaml", []
    policy.write_text("""
apiVersion: plimsoll.dev/v1alpha1
kind: SchedulingPolicy
metadata: {name: mine}
spec:
  weights: {cpu: 1}
  placement: {load: 0, requests: 1, spreading: 0, preferences: 0}
  metricsSource: {prometheus: {url: "http://prometheus:9090"}}
""")
    for given in ((), ("--policy", str(policy))):
        path = tmp_path / f"{len(given)}.json"
        arguments = (*trace_files, "--policies", "ours", "--seeds", "1", *given, "--json", str(path))
        assert plimsoll("simulate", *arguments).exit_code == 0
        reports.append(json.loads(path.read_text())["scenarios"][0]["policies"]["ours"])
    assert reports[0] != reports[1]
