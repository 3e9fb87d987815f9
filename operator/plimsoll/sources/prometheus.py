"""Prometheus for all policies: queries out, raw samples back, the same question asked once.

Each source has a moment that all its queries are evaluated for. While the moment is young enough for whoever
asks, answers are shared; and what belongs together, rates and how much of their window is covered, is of one
and the same instant, whichever policy asked first.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from plimsoll.errors import QueryRejected, SourceError, SourceUnreachable
from plimsoll.load.queries import Query, follow_up, queries
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import Policy, PrometheusSource
from plimsoll.sources.observing import OnQuery
from plimsoll.sources.prometheus_client import PrometheusClient
from plimsoll.sources.sentences import late, shown
from plimsoll.sources.threads import Threads

Outcome = tuple[Sample, ...] | SourceError

# Enough to keep a refresh short, too little for Prometheus to notice.
_AT_A_TIME = 2
_LONGEST_SHARED_S = 15.0
_FORGET_AFTER_S = 600.0
# The socket's own time-out comes first: it knows better what it waited for.
_GRACE_S = 1.0


def source_key(source: PrometheusSource) -> object:
    """Equal for sources that are asked as one."""
    headers, parameters = frozenset(source.headers.items()), frozenset(source.query_parameters.items())
    return source.url, source.timeout_s, headers, parameters


class Prometheus:
    """Asks on behalf of policies. Lives in one event loop; what blocks is in threads.

    Args:
        on_query: told the policy's name and the seconds of each query that was really asked.
    """

    def __init__(self, *, on_query: OnQuery) -> None:
        self._on_query = on_query
        self._servers: dict[object, _Server] = {}

    async def ask(self, policy: Policy, source: PrometheusSource, *, now_s: float) -> PrometheusAnswers:
        """Everything that the policy's metrics need; what fails is told in the answer, nothing is raised.

        A query that is refused fails alone; a source that does not answer is not tried with every query.
        """
        server = self._server(source)
        moment = server.moment(now_s, max_age_s=min(policy.refresh_interval_s / 2, _LONGEST_SHARED_S))
        refresh = _Refresh(policy.name, server, moment, todo=deque(queries(policy)))
        with server.reading(moment):
            await asyncio.gather(*(refresh.work() for _ in range(_AT_A_TIME)))
            refresh.todo.extend(follow_up(policy, refresh.answered))
            await refresh.work()
        return refresh.answers()

    async def close(self) -> None:
        """Gives up what is under way."""
        servers = list(self._servers.values())
        self._servers.clear()
        await asyncio.gather(*(server.close() for server in servers))

    def _server(self, source: PrometheusSource) -> _Server:
        self._forget()
        key = source_key(source)
        if key not in self._servers:
            self._servers[key] = _Server(source, self._on_query)
        return self._servers[key]

    def _forget(self) -> None:
        """Sources that no policy asks any more."""
        for key, server in list(self._servers.items()):
            if server.idle_s() > _FORGET_AFTER_S:
                self._servers.pop(key).disconnect()


@dataclass(slots=True)
class _Moment:
    """Queries by text, all evaluated for one instant; so many refreshes are reading them."""

    at_s: float
    readers: int = 0
    asked: dict[str, asyncio.Task[Outcome]] = field(default_factory=dict)


class _Server:
    def __init__(self, source: PrometheusSource, on_query: OnQuery) -> None:
        self._source, self._on_query = source, on_query
        self._threads = Threads(_AT_A_TIME, name=shown(source))
        self._clients: list[PrometheusClient] = []
        self._running: set[asyncio.Task[Outcome]] = set()
        self._moment = _Moment(at_s=0.0)
        self._used_s = time.monotonic()

    def idle_s(self) -> float:
        return 0.0 if self._running else time.monotonic() - self._used_s

    def moment(self, now_s: float, *, max_age_s: float) -> _Moment:
        self._used_s = time.monotonic()
        if not 0 <= now_s - self._moment.at_s <= max_age_s:
            past, self._moment = self._moment, _Moment(at_s=now_s)
            self._let_go(past)
        return self._moment

    @contextlib.contextmanager
    def reading(self, moment: _Moment) -> Iterator[None]:
        """What is asked within the block stays until its end."""
        moment.readers += 1
        try:
            yield
        finally:
            moment.readers -= 1
            self._let_go(moment)

    def _let_go(self, moment: _Moment) -> None:
        """Of what nobody reads any more, answer by answer: to free all at once would hold up the loop."""
        if moment is not self._moment and not moment.readers and moment.asked:
            moment.asked.popitem()
            asyncio.get_running_loop().call_soon(self._let_go, moment)

    def ask(self, query: Query, moment: _Moment, *, policy: str) -> asyncio.Task[Outcome]:
        """The query's task; the one that is there already, if somebody has asked. A failure is not kept."""
        if query.text not in moment.asked:
            task = asyncio.create_task(self._query(query.text, moment.at_s, policy))
            moment.asked[query.text] = task
            self._running.add(task)
            task.add_done_callback(lambda done: self._ended(done, query.text, moment))
        return moment.asked[query.text]

    async def close(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self.disconnect()

    def disconnect(self) -> None:
        while self._clients:
            self._clients.pop().cut_off()

    def _ended(self, task: asyncio.Task[Outcome], text: str, moment: _Moment) -> None:
        self._running.discard(task)
        if task.cancelled() or task.exception() or isinstance(task.result(), SourceError):
            moment.asked.pop(text, None)

    async def _query(self, text: str, at_s: float, policy: str) -> Outcome:
        client = self._clients.pop() if self._clients else PrometheusClient(self._source)
        began_s, used_up = time.monotonic(), True
        try:
            timeout_s = self._source.timeout_s + _GRACE_S
            samples = await self._threads.run(lambda: client.query(text, at_s=at_s), timeout_s=timeout_s)
            used_up = False
        except SourceError as error:
            return error
        except TimeoutError:
            return late(self._source)
        finally:
            self._on_query(policy, time.monotonic() - began_s)
            if used_up:
                client.cut_off()
            else:
                self._clients.append(client)
        return samples


@dataclass(slots=True)
class _Refresh:
    """One policy's refresh, worked off by several workers."""

    policy: str
    server: _Server
    moment: _Moment
    todo: deque[Query]
    answered: dict[str, tuple[Sample, ...]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)
    unreachable: int = 0
    away: str = ""

    async def work(self) -> None:
        while self.todo:
            query = self.todo.popleft()
            if self.away:
                self.failures[query.id] = self.away
                continue
            task = self.server.ask(query, self.moment, policy=self.policy)
            # Others may wait for the same answer: it outlives this refresh.
            self._note(query, await asyncio.shield(task))

    def _note(self, query: Query, outcome: Outcome) -> None:
        if isinstance(outcome, tuple):
            self.answered[query.id] = outcome
            return
        self.failures[query.id] = str(outcome)
        if isinstance(outcome, QueryRejected):
            self.rejected.add(query.id)
        if isinstance(outcome, SourceUnreachable):
            self.unreachable += 1
            if not self.answered or self.unreachable > 1:
                self.away = str(outcome)

    def answers(self) -> PrometheusAnswers:
        failures = {WHOLE_SOURCE: self.away} if self.away and not self.answered else self.failures
        return PrometheusAnswers(
            asked_at_s=self.moment.at_s, answers=self.answered, failures=failures, rejected=frozenset(self.rejected)
        )
