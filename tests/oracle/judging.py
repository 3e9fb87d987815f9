"""kube-scheduler's own code as the judge: a process that is asked about one cluster after another."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from devcluster import golang
from devcluster.building import built_beside

MODULE = Path(__file__).parent / "judge"
_LAST_CHARACTERS = 4000

Json = Mapping[str, Any]


class JudgeError(Exception):
    """The judge could not judge a document; `items` are those of the document."""

    def __init__(self, sentence: str, items: Sequence[Json]) -> None:
        super().__init__(sentence)
        self.items = items


def program() -> Path:
    """The judge, compiled where the cache does not hold it."""
    return built_beside("judge", package=".", module=MODULE, build_time="1 min", go=golang.find())


class Judge:
    """A context in which the judge's process runs."""

    def __init__(self) -> None:
        self._program = program()
        self._process: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed by __exit__)
        self._asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        self._log.close()

    def judge(
        self,
        items: Sequence[Json],
        *,
        preempt: bool = True,
        scores: bool = True,
        runs: int = 1,
        pods: Sequence[str] = (),
    ) -> list[dict[str, Any]]:
        """kube-scheduler's verdict on every pending pod of the cluster, in the order of the items.

        Args:
            items: API objects, as in a `List` of `kubectl get -o json`.
            preempt: Whether PostFilter runs for pods that fit nowhere; its part of the message is missing otherwise.
            scores: Whether feasible nodes are scored.
            runs: How often preemption is tried; `alternatives` are the distinct outcomes.
            pods: `namespace/name` of the pending pods to judge; all of them where there are none.

        Raises:
            JudgeError: an object cannot be decoded, a pod is not there, or the judge crashed, twice.
        """
        self._asked += 1
        document = {"id": self._asked, "items": list(items), "pods": list(pods)}
        line = json.dumps({**document, "preempt": preempt, "scores": scores, "runs": runs}).encode() + b"\n"
        answer = self._ask(line) or self._ask(line)
        if answer is None:
            raise JudgeError(f"document {self._asked}: the judge crashed on it, twice: {self._last_words()}", items)
        if answer["id"] != self._asked:
            raise JudgeError(f"document {self._asked}: the judge answered {answer['id']}", items)
        if answer["error"]:
            raise JudgeError(f"document {self._asked}: {answer['error']}", items)
        verdicts: list[dict[str, Any]] = answer["pods"]
        return verdicts

    def _ask(self, line: bytes) -> dict[str, Any] | None:
        """None if the process died over it."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        except BaseException:
            # Whoever interrupts (a test's timeout, Ctrl-C) leaves an answer behind that nobody has read.
            self._end()
            raise
        if not answer.endswith(b"\n"):
            self._end()
            return None
        told: dict[str, Any] = json.loads(answer)
        return told

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
            )
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # what was not yet flushed to a dead process
        self._process = None

    def _last_words(self) -> str:
        size = self._log.seek(0, 2)
        self._log.seek(max(0, size - _LAST_CHARACTERS))
        return self._log.read().decode(errors="replace").strip()
