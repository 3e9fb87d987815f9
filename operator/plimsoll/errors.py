"""Every error that Plimsoll raises on purpose, in one tree.

    PlimsollError
    ├── InvalidInput              something that a person or another program wrote is wrong
    │   ├── QuantityError         a Kubernetes quantity that does not parse
    │   ├── ObjectError           an API object that cannot be read; names the object
    │   ├── PolicyError           a SchedulingPolicy; names the field and the mend
    │   └── SettingsError         flags, environment, kubeconfig
    ├── SourceError               a metrics source did not answer, or answered nonsense
    │   ├── SourceUnreachable     no connection, time-out, 5xx
    │   └── QueryRejected         the source understood the question and refuses it
    └── ApiError                  the API server answered with an error status
        ├── Forbidden             401 and 403: credentials or RBAC
        ├── NotFound              404
        ├── Conflict              409
        ├── Gone                  410: the watch or list has expired
        └── Unavailable           no connection, time-out, 429, 5xx: try again later

Expected outcomes of scheduling (no node fits, a pod vanished) are values, never exceptions.
"""

from __future__ import annotations


class PlimsollError(Exception):
    """Base of every error that Plimsoll raises on purpose."""


class InvalidInput(PlimsollError, ValueError):
    """Something that a person or another program wrote is wrong."""


class QuantityError(InvalidInput):
    """A Kubernetes quantity that does not parse."""


class ObjectError(InvalidInput):
    """An API object that cannot be read."""


class PolicyError(InvalidInput):
    """A SchedulingPolicy that cannot be put in force.

    Attributes:
        field: the path in the object, e.g. ``spec.timeRange``.
        mend: what to write instead, as a sentence.
    """

    def __init__(self, *, field: str, problem: str, mend: str) -> None:
        super().__init__(f"{field}: {problem}: {mend}")
        self.field = field
        self.problem = problem
        self.mend = mend


class SettingsError(InvalidInput):
    """Flags, environment or kubeconfig cannot be used."""


class SourceError(PlimsollError):
    """A metrics source did not answer, or answered nonsense."""


class SourceUnreachable(SourceError):
    """No connection, a time-out, or a server error."""


class QueryRejected(SourceError):
    """The source understood the question and refuses it (a parse error, say)."""


class ApiError(PlimsollError):
    """The API server answered with an error status.

    Attributes:
        status: the HTTP status code; 0 where there was no answer at all.
        reason: the ``reason`` of the Status object, e.g. ``AlreadyExists``; may be empty.
        retry_after_s: what the server asked us to wait, in seconds; 0.0 if it did not.
    """

    def __init__(self, message: str, *, status: int, reason: str = "", retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after_s = retry_after_s


class Forbidden(ApiError):
    """401 or 403: credentials or RBAC."""


class NotFound(ApiError):
    """404."""


class Conflict(ApiError):
    """409."""


class Gone(ApiError):
    """410: the watch or the list has expired; list anew."""


class Unavailable(ApiError):
    """No connection, a time-out, 429 or 5xx: try again later."""
