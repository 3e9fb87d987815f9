"""Structured logs on stderr: a constant message and fields, as JSON or as text."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import orjson

from plimsoll.cluster.times import timestamp_micro

# What every record has; the rest are the fields that the caller gave.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# What these say below the level is said better elsewhere: kopf tells of each event, urllib3 of each retry.
_CHATTY = {"kopf": logging.WARNING, "asyncio": logging.WARNING, "aiohttp": logging.WARNING, "urllib3": logging.ERROR}


def configure(*, style: str, level: str) -> None:
    """Takes over the root logger.

    Args:
        style: ``json`` or ``text``.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    _leave_out_what_is_not_shown()
    root.setLevel(level.upper())
    for name, least in _CHATTY.items():
        logging.getLogger(name).setLevel(max(least, root.level))


class JsonFormatter(logging.Formatter):
    """One object per line: ``time``, ``level``, ``logger``, ``message``, the fields, ``error`` with a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": timestamp_micro(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        try:
            return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
        except TypeError:
            # Integers beyond 64 bits, halves of characters: the slower one takes them.
            return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """``<time> <LEVEL> <message> key=value ...``"""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {key}={_plain(value)}" for key, value in _fields(record).items())
        time = timestamp_micro(record.created)
        line = f"{time} {record.levelname:<7} {record.getMessage()}{fields}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _leave_out_what_is_not_shown() -> None:
    """As the standard library's documentation advises: hundreds of lines are written per second."""
    logging._srcfile = None  # noqa: SLF001 - its documented way
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def _plain(value: Any) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or " " in text or "\n" in text else text
