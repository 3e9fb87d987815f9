"""An HTTP/1.1 answer, put together from what comes over a connection (RFC 9112)."""

from __future__ import annotations

from collections.abc import Callable

# As Go's and aiohttp's limits: what is longer is no API server.
_LONGEST_HEAD = 65_536
_LONGEST_LINE = 4_096
# etcd takes objects of 1.5 MB; this bounds what a server gone wrong can do.
_LONGEST_BODY = 64 * 1024 * 1024


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
        self._at = 0
        self._body = bytearray()
        self._left = 0
        self._read: Callable[[], bool] = self._read_head

    @property
    def body(self) -> bytes:
        return bytes(self._body)

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
        self._buffer, self._at = self._buffer[self._at :], 0
        if self.done:
            self.rest, self._buffer = self._buffer, b""

    def ends(self) -> None:
        """The connection was closed: a refusal without a length is complete by that.

        Raises:
            MalformedAnswer: something is missing.
        """
        if self._read != self._read_until_closed:
            raise MalformedAnswer("the connection was closed in the middle of the answer")
        self._complete()

    # -- each returns False where it needs more ------------------------------------------------------

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n", self._at)
        if end < 0:
            if len(self._buffer) - self._at > _LONGEST_HEAD:
                raise MalformedAnswer("its head does not end")
            return False
        self._head, self._at = self._buffer[self._at : end], end + 4
        self.status = _status(self._head)
        if self.status < 200:
            # Something preliminary, e.g. 103; the answer itself follows.
            self.status = 0
            return True
        self._choose_body()
        return True

    def _choose_body(self) -> None:
        head = self._head.lower()
        self.keeps_open = head.startswith(b"http/1.1 ")
        if b"\r\nconnection:" in head and "close" in self.header(b"connection").lower():
            self.keeps_open = False
        if self.status in {204, 304}:
            self._complete()
        elif b"\r\ntransfer-encoding:" in head:
            if self.header(b"transfer-encoding").lower() != "chunked":
                raise MalformedAnswer("its transfer encoding is unknown")
            self._read = self._read_chunk_size
        elif b"\r\ncontent-length:" in head:
            self._expect(_number(self.header(b"content-length"), base=10))
            self._read = self._read_counted
        elif self.status < 300:
            # The API server always says how long; where nobody does, one that was cut off would pass for whole.
            raise MalformedAnswer("it does not say how long it is")
        else:
            self.keeps_open = False
            self._read = self._read_until_closed

    def _read_counted(self) -> bool:
        self._take(self._left)
        if self._left:
            return False
        self._complete()
        return True

    def _read_until_closed(self) -> bool:
        self._expect(len(self._buffer) - self._at)
        self._take(self._left)
        return False

    def _read_chunk_size(self) -> bool:
        line = self._line()
        if line is None:
            return False
        self._expect(_number(line.partition(b";")[0].strip().decode("latin-1"), base=16))
        self._read = self._read_chunk if self._left else self._read_trailer
        return True

    def _read_chunk(self) -> bool:
        self._take(self._left)
        if self._left:
            return False
        self._read = self._read_chunk_end
        return True

    def _read_chunk_end(self) -> bool:
        if len(self._buffer) - self._at < 2:
            return False
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
        end = self._buffer.find(b"\r\n", self._at)
        if (end if end >= 0 else len(self._buffer)) - self._at > _LONGEST_LINE:
            raise MalformedAnswer("a line in it does not end")
        if end < 0:
            return None
        line, self._at = self._buffer[self._at : end], end + 2
        return line

    def _expect(self, more_bytes: int) -> None:
        if len(self._body) + more_bytes > _LONGEST_BODY:
            raise MalformedAnswer("it is too long")
        self._left = more_bytes

    def _take(self, count: int) -> None:
        """Up to so many bytes of the body, as they come: what is gathered is never copied again."""
        end = min(self._at + count, len(self._buffer))
        self._left -= end - self._at
        self._body += self._buffer[self._at : end]
        self._at = end

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
