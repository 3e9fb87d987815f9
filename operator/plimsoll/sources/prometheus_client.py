"""One Prometheus, asked by prometheus-api-client: blocking, for one thread at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import requests
import urllib3
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException

from plimsoll.errors import QueryRejected, SourceUnreachable
from plimsoll.load.samples import Sample
from plimsoll.policy.compiled import PrometheusSource
from plimsoll.sources.bounded_session import BoundedSession
from plimsoll.sources.sentences import CHECK_URL, cause, late, refusal, shown

_CONNECT_TIMEOUT_S = 3.0
# A connection that is refused for a moment is worth one more try; an answer is not asked for twice.
_RETRY = urllib3.Retry(total=1, connect=1, read=False, redirect=0, status=0, other=0, backoff_factor=0.2)
# What the question itself is made of is not for queryParameters to say.
_OURS = frozenset({"query", "time", "timeout"})


class PrometheusClient:
    """Asks instant queries; ``cut_off`` may be called by another thread."""

    def __init__(self, source: PrometheusSource) -> None:
        self._source, self._name = source, shown(source)
        self._parameters = {k: v for k, v in source.query_parameters.items() if k not in _OURS}
        url = source.url.rstrip("/")
        self._session = BoundedSession(url)
        self._prometheus = PrometheusConnect(
            url=url,
            headers=dict(source.headers),
            retry=_RETRY,
            session=self._session,
            timeout=(min(_CONNECT_TIMEOUT_S, source.timeout_s), source.timeout_s),
        )

    def query(self, text: str, *, at_s: float) -> tuple[Sample, ...]:
        """The samples of an instant query, evaluated for that moment.

        Raises:
            SourceUnreachable: no usable answer came, nor would one to another query.
            QueryRejected: Prometheus refuses this query.
        """
        return tuple(self.samples(text, at_s=at_s))

    def samples(self, text: str, *, at_s: float) -> Iterator[Sample]:
        """The same one by one, for whoever does not need all of them at once. Raises while it is iterated over."""
        try:
            for series in self._result(text, at_s):
                yield _sample(series)
        except json.JSONDecodeError as error:
            raise SourceUnreachable(self._nonsense()) from error
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            problem = (
                f"{self._name} answers the query with something other than text labels and one number per series: "
            )
            raise QueryRejected(f"{problem}write a query for an instant vector.") from error

    def cut_off(self) -> None:
        """Ends a query under way; the client is of no use any more."""
        self._session.cut_off()

    def _result(self, text: str, at_s: float) -> Any:
        parameters = {**self._parameters, "time": f"{at_s:.3f}"}
        try:
            return self._prometheus.custom_query(text, params=parameters)
        except SourceUnreachable as error:
            raise SourceUnreachable(f"{self._name}: {error}.") from error
        except PrometheusApiClientException as error:
            raise refusal(self._name, self._session.answer) from error
        except requests.ConnectTimeout as error:
            raise SourceUnreachable(f"{self._name} does not take connections: {CHECK_URL}, and the network.") from error
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise late(self._source) from error
        except requests.JSONDecodeError as error:
            raise SourceUnreachable(self._nonsense()) from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, UnicodeError) as error:
            problem = f"{self._name} cannot be reached: {cause(error)}: {CHECK_URL}, and whether it runs."
            raise SourceUnreachable(problem) from error
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise SourceUnreachable(self._nonsense()) from error

    def _nonsense(self) -> str:
        return f"{self._name} answers something that is not Prometheus' JSON: {CHECK_URL}."


def _sample(series: Mapping[str, Any]) -> Sample:
    value: Sequence[str] = series["value"]
    labels: Mapping[str, str] = series["metric"]
    # Whoever answers is named by a policy, and need not be a Prometheus: labels are keys and parts of sentences.
    if not isinstance(labels, dict) or not all(isinstance(text, str) for text in labels.values()):
        raise TypeError("labels are text")
    return Sample(labels=labels, value=float(value[1]))
