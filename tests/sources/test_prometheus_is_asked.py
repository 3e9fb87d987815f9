from __future__ import annotations

import asyncio
import gc
import gzip
import math
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.load.queries import queries
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.policy.compiled import Metric, Policy, PrometheusSource
from plimsoll.sources.observing import unobserved
from plimsoll.sources.prometheus import Prometheus
from tests.sources.played import NEVER, Asked, Played, Reply, in_json, refusal, vector

NOW_S = 1_700_000_000.25


def policy_at(url: str, *metrics: str, name: str = "p", **source: object) -> Policy:
    fields = {"timeout_s": 5.0, **source}
    return Policy(
        name=name,
        source=PrometheusSource(url=url, **fields),
        metrics=tuple(Metric(metric, 1) for metric in metrics or ("memory",)),
    )


async def ask(prometheus: Prometheus, policy: Policy, *, now_s: float = NOW_S) -> PrometheusAnswers:
    assert isinstance(policy.source, PrometheusSource)
    return await prometheus.ask(policy, policy.source, now_s=now_s)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in threads
            await asyncio.sleep(0.01)


# What is asked ---------------------------------------------------------------------------------------


async def test_every_query_is_asked_once_for_one_instant(server: Played, prometheus: Prometheus) -> None:
    server.reply = lambda _: vector(({"device": "eth0"}, "1"))
    policy = policy_at(server.url, "networkReceive", "cpu")
    answers = await ask(prometheus, policy)
    assert sorted(server.queries) == sorted(query.text for query in queries(policy))
    assert {asked.parameters["time"] for asked in server.asked} == {"1700000000.250"}
    assert {asked.path for asked in server.asked} == {"/api/v1/query"}
    assert answers.asked_at_s == NOW_S
    assert set(answers.answers) == {query.id for query in queries(policy)}


async def test_what_nobody_reads_any_more_is_let_go_before_the_next_refresh_ends(
    server: Played, prometheus: Prometheus
) -> None:
    """A large cluster's answers are tens of megabytes."""
    server.reply = lambda _: vector(({"device": "eth0"}, "1"))
    policy, known = policy_at(server.url, "cpu"), {id(o) for o in gc.get_objects() if isinstance(o, Sample)}
    for refresh in range(3):
        answers = await ask(prometheus, policy, now_s=NOW_S + 60 * refresh)
    held = [o for o in gc.get_objects() if isinstance(o, Sample) and id(o) not in known]
    assert len(held) == sum(map(len, answers.answers.values()))


async def test_where_no_device_is_found_it_is_asked_which_there_are(server: Played, prometheus: Prometheus) -> None:
    devices = vector(({"device": "wlan0"}, "1"))
    server.reply = lambda asked: devices if asked.parameters["query"].startswith("group by (device)") else vector()
    answers = await ask(prometheus, policy_at(server.url, "networkReceive", "networkTransmit"))
    assert [sample.labels for sample in answers.answers["devices"]] == [{"device": "wlan0"}]
    assert sum("group by" in query for query in server.queries) == 1
    await ask(prometheus, policy_at(server.url, "memory"))
    assert sum("group by" in query for query in server.queries) == 1


async def test_headers_and_parameters_of_the_policy_are_sent(server: Played, prometheus: Prometheus) -> None:
    source = {"headers": {"X-Scope-OrgID": "team"}, "query_parameters": {"dedup": "true"}}
    await ask(prometheus, policy_at(server.url, **source))
    assert server.asked[0].headers["x-scope-orgid"] == "team"
    assert server.asked[0].headers["user-agent"].startswith("plimsoll/")
    assert server.asked[0].parameters["dedup"] == "true"


async def test_parameters_of_the_policy_do_not_replace_the_query(server: Played, prometheus: Prometheus) -> None:
    policy = policy_at(server.url, query_parameters={"query": "vector(1)", "time": "0", "timeout": "1ms"})
    await ask(prometheus, policy)
    assert sorted(server.queries) == sorted(query.text for query in queries(policy))
    assert server.asked[0].parameters["time"] == "1700000000.250"
    assert "timeout" not in server.asked[0].parameters


@pytest.mark.parametrize("suffix", ["/", "/prometheus", "/prometheus/"])
async def test_the_path_of_the_url_goes_before_the_apis(server: Played, prometheus: Prometheus, suffix: str) -> None:
    await ask(prometheus, policy_at(server.url + suffix))
    assert {asked.path for asked in server.asked} == {f"{suffix.rstrip('/')}/api/v1/query"}


async def test_values_arrive_as_they_were_written(server: Played, prometheus: Prometheus) -> None:
    texts = ["1.5", "NaN", "+Inf", "-Inf", "-2e3"]
    server.reply = lambda _: vector(*(({"instance": f"n{i}"}, text) for i, text in enumerate(texts)))
    samples = (await ask(prometheus, policy_at(server.url))).answers["total"]
    assert [s.labels["instance"] for s in samples] == ["n0", "n1", "n2", "n3", "n4"]
    assert samples[0].value == 1.5
    assert math.isnan(samples[1].value)
    assert [s.value for s in samples[2:]] == [math.inf, -math.inf, -2000.0]


async def test_the_environments_netrc_and_proxies_are_not_for_a_prometheus_on_loopback(
    server: Played, prometheus: Prometheus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login admin password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    answers = await ask(prometheus, policy_at(server.url))
    assert answers.failures == {}
    assert "authorization" not in server.asked[0].headers


async def test_a_proxy_of_the_environment_is_used_for_others(
    server: Played, prometheus: Prometheus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    answers = await ask(prometheus, policy_at("http://prometheus.example:9090"))
    assert answers.failures == {}
    assert len(server.asked) == len(answers.answers)


# What goes wrong -------------------------------------------------------------------------------------


async def test_a_query_that_is_refused_fails_alone(server: Played, prometheus: Prometheus) -> None:
    def reply(asked: Asked) -> Reply:
        if "node_cpu" in asked.parameters["query"]:
            return refusal(400, "bad_data", 'invalid parameter "query": 1:5: parse error: unexpected\n  "}"')
        return vector()

    server.reply = reply
    answers = await ask(prometheus, policy_at(server.url, "cpu", "memory"))
    want = (
        f'Prometheus at {server.url} refuses the query: invalid parameter "query": 1:5: parse error: unexpected "}}".'
    )
    assert answers.failures == {"idle.short": want, "idle.long": want}
    assert answers.rejected == {"idle.short", "idle.long"}
    assert "available.short" in answers.answers


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        pytest.param(422, "execution", id="too many samples"),
        pytest.param(503, "timeout", id="its evaluation takes too long"),
    ],
)
async def test_a_query_that_cannot_be_evaluated_fails_alone(
    server: Played, prometheus: Prometheus, status: int, kind: str
) -> None:
    server.reply = lambda asked: (
        refusal(status, kind, "too much") if "avg_over_time" in asked.parameters["query"] else vector()
    )
    answers = await ask(prometheus, policy_at(server.url, "memory"))
    assert set(answers.failures) == {"available.short", "available.long"}
    assert set(answers.answers) == {"lastSample", "total", "uname", "interval"}


@pytest.mark.parametrize(
    ("reply", "want"),
    [
        pytest.param(Reply(status=500, body=b"oops"), "answers 500: see its log", id="500"),
        pytest.param(
            refusal(500, "internal", "out of disk"), "answers 500 (out of disk): see its log", id="500 with a reason"
        ),
        pytest.param(Reply(status=503, body=b"Service Unavailable"), "answers 503", id="starting up"),
        pytest.param(Reply(status=401), "asks for credentials (401)", id="401"),
        pytest.param(Reply(status=403), "refuses access (403)", id="403"),
        pytest.param(Reply(status=404), "has no query API there (404)", id="404"),
        pytest.param(Reply(status=429), "is asked too often (429)", id="429"),
        pytest.param(Reply(body=b"<html>Sign in</html>"), "is not Prometheus' JSON", id="a login page"),
        pytest.param(Reply(body=b""), "is not Prometheus' JSON", id="nothing"),
        pytest.param(Reply(body=b"\xff\xfe{"), "is not Prometheus' JSON", id="bytes that are no text"),
        pytest.param(in_json({"status": "success"}), "is not Prometheus' JSON", id="JSON of another kind"),
        pytest.param(in_json([1, 2]), "is not Prometheus' JSON", id="a list"),
        pytest.param(in_json(None), "is not Prometheus' JSON", id="null"),
        pytest.param(Reply(body=b"[" * 200_000), "is not Prometheus' JSON", id="JSON without end"),
        pytest.param(Reply(status=500, body=b"[" * 200_000), "answers 500: see its log", id="500 without end"),
        pytest.param(in_json({"errorType": ["bad_data"]}, status=500), "answers 500: see its log", id="500 of a list"),
        pytest.param(
            Reply(status=302, headers={"Location": "http://["}),
            "redirects to an address that cannot be read",
            id="a redirect to nowhere",
        ),
    ],
)
async def test_a_source_that_is_of_no_use_fails_as_a_whole_and_is_not_asked_on(
    server: Played, prometheus: Prometheus, reply: Reply, want: str
) -> None:
    server.reply = lambda _: reply
    answers = await ask(prometheus, policy_at(server.url, "networkReceive", "cpu", "memory"))
    assert set(answers.failures) == {""}
    assert want in answers.failures[""]
    assert answers.failures[""].startswith(f"Prometheus at {server.url} ")
    assert answers.failures[""].endswith(".")
    assert answers.answers == {}
    assert len(server.asked) <= 2


@pytest.mark.parametrize(
    "result",
    [
        pytest.param([1700000000, "1"], id="a scalar"),
        pytest.param([{"metric": {}, "values": [[0, "1"]]}], id="a range"),
        pytest.param([{"metric": {}, "histogram": [0, {}]}], id="a histogram"),
        pytest.param([{"metric": {}, "value": [0, "much"]}], id="a word"),
        pytest.param(7, id="a number"),
        pytest.param([{"metric": {}, "value": [0, 10**400]}], id="a number beyond all bounds"),
        *(
            pytest.param([{"metric": {"instance": label}, "value": [0, "1"]}], id=f"a label that is {label!r}")
            for label in (["a"], {"x": 1}, 5, None)
        ),
        pytest.param([{"metric": [["instance", "a"]], "value": [0, "1"]}], id="labels as a list"),
    ],
)
async def test_answers_that_are_no_vector_fail_by_query(server: Played, prometheus: Prometheus, result: object) -> None:
    server.reply = lambda _: in_json({"status": "success", "data": {"result": result}})
    answers = await ask(prometheus, policy_at(server.url))
    assert all("write a query for an instant vector" in sentence for sentence in answers.failures.values())
    assert set(answers.failures) == {query.id for query in queries(policy_at(server.url))}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(server: Played, prometheus: Prometheus, status: int) -> None:
    with Played().running() as elsewhere:
        location = f"{elsewhere.url.replace('//', '//user:secret@')}/api/v1/query?token=secret"
        server.reply = lambda _: Reply(status=status, headers={"Location": location})
        answers = await ask(prometheus, policy_at(server.url, headers={"X-Scope-OrgID": "team"}))
        assert f"redirects to {elsewhere.url}/api/v1/query, which is not followed" in answers.failures[""]
        assert elsewhere.asked == []


async def test_nobody_listens(prometheus: Prometheus) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        began_s = time.monotonic()
        answers = await ask(prometheus, policy_at(url, "networkReceive", "cpu", "memory"))
    want = f"Prometheus at {url} cannot be reached: Connection refused: check spec.metricsSource.prometheus.url"
    assert answers.failures[""].startswith(want)
    assert time.monotonic() - began_s < 2


async def test_credentials_in_the_url_are_not_told(prometheus: Prometheus) -> None:
    answers = await ask(prometheus, policy_at("http://user:secret@127.0.0.1:9/x"))
    assert "secret" not in answers.failures[""]
    assert "Prometheus at http://127.0.0.1:9/x " in answers.failures[""]


async def test_a_header_that_http_does_not_allow_is_a_sentence(server: Played, prometheus: Prometheus) -> None:
    answers = await ask(prometheus, policy_at(server.url, headers={"X-Team": "a\r\nX-Admin: 1"}))
    assert set(answers.failures) == {""}
    assert server.asked == []


# What takes too long ---------------------------------------------------------------------------------


async def test_a_source_that_hangs_is_given_up_in_time_and_the_loop_goes_on(
    server: Played, prometheus: Prometheus
) -> None:
    server.reply = lambda _: NEVER
    lags_s: list[float] = []

    async def tick() -> None:
        while True:
            began_s = time.monotonic()
            await asyncio.sleep(0.01)
            lags_s.append(time.monotonic() - began_s - 0.01)

    ticking = asyncio.create_task(tick())
    began_s = time.monotonic()
    answers = await ask(prometheus, policy_at(server.url, "networkReceive", "cpu", "memory", timeout_s=0.5))
    took_s = time.monotonic() - began_s
    ticking.cancel()
    assert answers.failures == {"": f"Prometheus at {server.url} did not answer within 0.5 s."}
    assert took_s < 2.5
    assert max(lags_s) < 0.3
    assert len(server.asked) == 2


async def test_a_source_that_hangs_holds_few_threads_however_often_it_is_asked(
    server: Played, prometheus: Prometheus, asking_threads: Callable[[], int]
) -> None:
    server.reply = lambda _: NEVER
    policies = [policy_at(server.url, name=f"p{i}", timeout_s=0.5) for i in range(6)]
    asking = asyncio.gather(*(ask(prometheus, p, now_s=NOW_S + 100 * i) for i, p in enumerate(policies)))
    most = 0
    while not asking.done():
        most = max(most, asking_threads())
        await asyncio.sleep(0.02)
    assert all(set(answers.failures) == {""} for answers in asking.result())
    assert 1 <= most <= 2


async def test_an_answer_that_trickles_is_cut_off(
    server: Played, prometheus: Prometheus, asking_threads: Callable[[], int]
) -> None:
    def drops() -> Iterator[bytes]:
        while not server.released.wait(0.05):
            yield b" "

    server.reply = lambda _: Reply(body=drops())
    answers = await ask(prometheus, policy_at(server.url, timeout_s=0.5))
    assert "did not answer within 0.5 s" in answers.failures[""]
    await until(lambda: asking_threads() == 0)


async def test_an_answer_of_any_size_is_not_taken(server: Played, prometheus: Prometheus) -> None:
    bomb = gzip.compress(b" " * (80 * 2**20))
    server.reply = lambda _: Reply(body=bomb, headers={"Content-Encoding": "gzip"})
    answers = await ask(prometheus, policy_at(server.url, timeout_s=20.0))
    assert "its answer is larger than 64 MiB" in answers.failures[""]


async def test_closing_does_not_wait_for_a_source_that_hangs(server: Played) -> None:
    server.reply = lambda _: NEVER
    prometheus = Prometheus(on_query=unobserved)
    asking = asyncio.create_task(ask(prometheus, policy_at(server.url, timeout_s=30.0)))
    await until(lambda: bool(server.asked))
    began_s = time.monotonic()
    await prometheus.close()
    assert time.monotonic() - began_s < 1
    with pytest.raises(asyncio.CancelledError):
        await asking


# What is asked only once -----------------------------------------------------------------------------


async def test_policies_share_answers_to_the_same_question(server: Played, prometheus: Prometheus) -> None:
    one, other = policy_at(server.url, "cpu", name="one"), policy_at(server.url, "memory", "cpu", name="other")
    answers = await asyncio.gather(ask(prometheus, one), ask(prometheus, other, now_s=NOW_S + 0.1))
    assert len(server.queries) == len(set(server.queries)) == len(queries(other))
    assert answers[0].asked_at_s == answers[1].asked_at_s == NOW_S


async def test_a_later_policy_joins_the_moment_of_an_earlier_one(server: Played, prometheus: Prometheus) -> None:
    await ask(prometheus, policy_at(server.url, "cpu"))
    answers = await ask(prometheus, policy_at(server.url, "cpu", "memory"), now_s=NOW_S + 10)
    assert len(server.queries) == len(set(server.queries))
    assert {asked.parameters["time"] for asked in server.asked} == {"1700000000.250"}
    assert answers.asked_at_s == NOW_S


@pytest.mark.parametrize(
    "later_s",
    [pytest.param(30.0, id="at the next refresh"), pytest.param(-5.0, id="after the clock was set back")],
)
async def test_answers_are_not_kept_any_longer(server: Played, prometheus: Prometheus, later_s: float) -> None:
    policy = policy_at(server.url)
    await ask(prometheus, policy)
    answers = await ask(prometheus, policy, now_s=NOW_S + later_s)
    assert len(server.queries) == 2 * len(queries(policy))
    assert answers.asked_at_s == NOW_S + later_s


async def test_a_failure_is_not_kept(server: Played, prometheus: Prometheus) -> None:
    server.reply = lambda _: Reply(status=500)
    assert (await ask(prometheus, policy_at(server.url))).answers == {}
    server.reply = lambda _: vector()
    assert (await ask(prometheus, policy_at(server.url))).failures == {}


async def test_other_headers_are_another_source(server: Played, prometheus: Prometheus) -> None:
    for team in ("a", "b"):
        await ask(prometheus, policy_at(server.url, headers={"X-Scope-OrgID": team}))
    assert len(server.queries) == 2 * len(set(server.queries))


async def test_a_policy_that_goes_away_takes_nobodys_answer_along(server: Played, prometheus: Prometheus) -> None:
    def slowly(_: Asked) -> Reply:
        time.sleep(0.1)
        return vector()

    server.reply = slowly
    gone = asyncio.create_task(ask(prometheus, policy_at(server.url, name="gone")))
    stays = asyncio.create_task(ask(prometheus, policy_at(server.url, name="stays")))
    await until(lambda: bool(server.asked))
    gone.cancel()
    assert (await stays).failures == {}
    assert len(server.queries) == len(set(server.queries))


async def test_who_measures_is_told_of_every_question(server: Played) -> None:
    told: list[tuple[str, float]] = []
    prometheus = Prometheus(on_query=lambda policy, seconds: told.append((policy, seconds)))
    await ask(prometheus, policy_at(server.url, name="p"))
    await prometheus.close()
    assert [name for name, _ in told] == ["p"] * len(server.asked)
    assert all(0 < seconds < 5 for _, seconds in told)
