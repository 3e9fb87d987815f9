"""An HTTP/1.1 answer, put together from what comes over a connection (RFC 9112)."""

from __future__ import annotations

from collections.abc import Callable

# As Go's and aiohttp's limits: what is longer is no API server.
_LONGEST_HEAD = 65_536
_LONGEST_LINE = 4_096


class MalformedAnswer(ValueError):
    """What came is not HTTP/1.1."""


class Answer:
    """One answer, fed piece by piece.

    Attributes:
        status: 0 until the head is complete.
        done: all of it is there.
        rest: what came behind its end; bytes that nobody asked for.
        keeps_open: another request may follow on the same connection.
    """

    def __init__(self) -> None:
        self.status = 0
        self.done = False
        self.rest = b""
        self.keeps_open = True
        self._head = b""
        self._buffer = b""
        self._parts: list[bytes] = []
        self._left = 0
        self._read: Callable[[], bool] = self._read_head

    @property
    def body(self) -> bytes:
        return b"".join(self._parts)

    def header(self, name: bytes) -> str:
        """The first of that name (in lower case), "" where there is none."""
        for line in self._head.split(b"\r\n")[1:]:
            found, _, value = line.partition(b":")
            if found.lower() == name:
                return value.strip().decode("latin-1")
        return ""

    def feed(self, data: bytes) -> None:
        """More of it.

        Raises:
            MalformedAnswer: it cannot be an answer.
        """
        self._buffer = self._buffer + data if self._buffer else data
        while not self.done and self._read():
            pass
        if self.done:
            self.rest, self._buffer = self._buffer, b""

    def ends(self) -> None:
        """The connection was closed: an answer without a length is complete by that.

        Raises:
            MalformedAnswer: something is missing.
        """
        if self._read != self._read_until_closed:
            raise MalformedAnswer("the connection was closed in the middle of the answer")
        self._complete()

    # -- each returns False where it needs more ------------------------------------------------------

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _LONGEST_HEAD:
                raise MalformedAnswer("its head does not end")
            return False
        self._head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
        self.status = _status(self._head)
        if self.status < 200:
            # Something preliminary, e.g. 103; the answer itself follows.
            self.status = 0
            return True
        self._choose_body()
        return True

    def _choose_body(self) -> None:
        head = self._head.lower()
        self.keeps_open = head.startswith(b"http/1.1 ") and b"\r\nconnection: close" not in head
        if self.status in {204, 304}:
            self._complete()
        elif b"\r\ntransfer-encoding:" in head:
            if self.header(b"transfer-encoding").lower() != "chunked":
                raise MalformedAnswer("its transfer encoding is unknown")
            self._read = self._read_chunk_size
        elif b"\r\ncontent-length:" in head:
            self._left = _number(self.header(b"content-length"), base=10)
            self._read = self._read_counted
        else:
            self.keeps_open = False
            self._read = self._read_until_closed

    def _read_counted(self) -> bool:
        if len(self._buffer) < self._left:
            return False
        self._take(self._left)
        self._complete()
        return True

    def _read_until_closed(self) -> bool:
        self._take(len(self._buffer))
        return False

    def _read_chunk_size(self) -> bool:
        line = self._line()
        if line is None:
            return False
        self._left = _number(line.partition(b";")[0].strip().decode("latin-1"), base=16)
        self._read = self._read_chunk if self._left else self._read_trailer
        return True

    def _read_chunk(self) -> bool:
        if len(self._buffer) < self._left + 2:
            return False
        self._take(self._left)
        if self._line() != b"":
            raise MalformedAnswer("a chunk is longer than it says")
        self._read = self._read_chunk_size
        return True

    def _read_trailer(self) -> bool:
        line = self._line()
        if line is None:
            return False
        if not line:
            self._complete()
        return True

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n")
        if end < 0:
            if len(self._buffer) > _LONGEST_LINE and self._read != self._read_chunk:
                raise MalformedAnswer("a line in it does not end")
            return None
        line, self._buffer = self._buffer[:end], self._buffer[end + 2 :]
        return line

    def _take(self, count: int) -> None:
        if count:
            self._parts.append(self._buffer[:count])
            self._buffer = self._buffer[count:]

    def _complete(self) -> None:
        self.done = True


def _status(head: bytes) -> int:
    if not head.startswith(b"HTTP/1.") or not head[9:12].isdigit():
        raise MalformedAnswer("it does not begin with a status")
    return int(head[9:12])


def _number(text: str, *, base: int) -> int:
    # int() would take signs, blanks and underscores as well.
    if not text or not text.isascii() or not text.isalnum():
        raise MalformedAnswer("its length is not a number")
    try:
        return int(text, base)
    except ValueError as error:
        raise MalformedAnswer("its length is not a number") from error
