from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from plimsoll.runtime.logs import JsonFormatter, TextFormatter


def _record(message: str = "pod is placed", **fields: Any) -> logging.LogRecord:
    logger = logging.getLogger("plimsoll.decisions")
    return logger.makeRecord(logger.name, logging.INFO, "f", 1, message, (), None, extra=fields)


def test_a_json_line_has_time_level_message_and_every_field() -> None:
    record = _record(pod="default/web", node="node-1", score=91.5)
    record.created = 0.25
    assert json.loads(JsonFormatter().format(record)) == {
        "time": "1970-01-01T00:00:00.250000Z",
        "level": "info",
        "logger": "plimsoll.decisions",
        "message": "pod is placed",
        "pod": "default/web",
        "node": "node-1",
        "score": 91.5,
    }


@pytest.mark.parametrize("nasty", ["line\nbreak", 'quote"', "käse", {1, 2}, None, object()])
def test_a_line_stays_a_line_whatever_is_in_it(nasty: Any) -> None:
    line = JsonFormatter().format(_record(field=nasty))
    assert "\n" not in line
    assert json.loads(line)["message"] == "pod is placed"
    assert "\n" not in TextFormatter().format(_record(field=nasty))


def test_an_error_brings_its_traceback() -> None:
    record = _record()
    record.exc_info = (RuntimeError, RuntimeError("of ours"), None)
    assert "RuntimeError: of ours" in json.loads(JsonFormatter().format(record))["error"]
    assert "RuntimeError: of ours" in TextFormatter().format(record)


def test_a_text_line_quotes_what_needs_it() -> None:
    record = _record(pod="default/web", reason="0/1 nodes are available.", policy="")
    record.created = 0.0
    assert TextFormatter().format(record) == (
        '1970-01-01T00:00:00.000000Z INFO    pod is placed pod=default/web reason="0/1 nodes are available." policy=""'
    )
