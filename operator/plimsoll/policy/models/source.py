"""Where readings come from."""

from __future__ import annotations

from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, StrictBool

from plimsoll.policy.models.base import ATOMIC, ApiModel
from plimsoll.policy.models.values import duration
from plimsoll.policy.rules import Rule, cel_list, cel_matches, matches

_ADDRESS = r"[hH][tT][tT][pP][sS]?://[^/?#\\\s]+([/?#][^\\\s]*)?"
_CREDENTIALS = r"[^/]*//[^/?#]*@(.|\n)*"
_HEADER_NAME = r"[!#$%&*+.^_`|~0-9A-Za-z-]+"
_ONE_LINE = r"[^\x00-\x08\x0a-\x1f\x7f]*"
_CREDENTIAL_HEADERS = ("authorization", "proxy-authorization", "cookie")
_CLIENT_HEADERS = ("host", "content-length", "transfer-encoding", "connection")
_CLIENT_PARAMETERS = ("query", "time", "timeout")
_LABEL_NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading the port is what checks it.
        return matches(_ADDRESS, url) and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _names_none_of(reserved: tuple[str, ...], *, problem: str, mend: str) -> Rule:
    return Rule(
        cel=f"!self.exists(name, name.lowerAscii() in {cel_list(reserved)})",
        holds=lambda pairs: not any(name.lower() in reserved for name in pairs),
        problem=problem,
        mend=mend,
    )


Url = Annotated[
    str,
    Field(min_length=1, max_length=2048),
    Rule(
        cel=f"{cel_matches(_ADDRESS)} && isURL(self)",
        holds=_is_address,
        problem="url is not an http or https address",
        mend="write e.g. http://prometheus.monitoring:9090",
    ),
    Rule(
        cel=f"!{cel_matches(_CREDENTIALS)}",
        holds=lambda url: not matches(_CREDENTIALS, url),
        problem="url carries credentials, which everybody who reads the policy can see",
        mend="put them in a Secret and name it in auth",
    ),
    Rule(
        cel="!self.matches('[?#]')",
        holds=lambda url: "?" not in url and "#" not in url,
        problem="url carries a query or a fragment",
        mend="end it with the path, and put parameters in queryParameters",
    ),
]
Headers = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]],
    Field(max_length=16),
    Rule(
        cel=(
            f"self.all(name, {cel_matches(_HEADER_NAME, value='name')} && {cel_matches(_ONE_LINE, value='self[name]')})"
        ),
        holds=lambda headers: all(
            matches(_HEADER_NAME, name) and matches(_ONE_LINE, value) for name, value in headers.items()
        ),
        problem="headers has a name or a value that HTTP does not allow",
        mend="write names of letters, digits and dashes, and values on one line",
    ),
    _names_none_of(
        _CREDENTIAL_HEADERS,
        problem="headers carries credentials, which everybody who reads the policy can see",
        mend="put them in a Secret and name it in auth",
    ),
    _names_none_of(
        _CLIENT_HEADERS,
        problem="headers sets what belongs to the connection",
        mend="take host, content-length, transfer-encoding and connection out",
    ),
]
QueryParameters = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]],
    Field(max_length=16),
    _names_none_of(
        _CLIENT_PARAMETERS,
        problem="queryParameters sets what the query itself is made of",
        mend="take query, time and timeout out; timeout is a field of its own",
    ),
]
NodeLabel = Annotated[
    str,
    Field(min_length=1, max_length=128),
    Rule(
        cel=cel_matches(_LABEL_NAME),
        holds=lambda name: matches(_LABEL_NAME, name),
        problem="nodeLabel is not the name of a Prometheus label",
        mend="write letters, digits and underscores, e.g. node or kubernetes_node",
    ),
]


class SecretKey(ApiModel):
    """One key of a Secret."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """The Secret's name. It lies in the operator's namespace and carries the label
    plimsoll.dev/metrics-credentials: "true"."""
    key: Annotated[str, Field(min_length=1, max_length=253)]
    """The key in the Secret's data."""


class BasicAuth(ApiModel):
    username: SecretKey
    """The user's name."""
    password: SecretKey
    """The password."""


class Auth(ApiModel):
    bearer_token: SecretKey | None = None
    """A token, sent as Authorization: Bearer."""
    basic: BasicAuth | None = None
    """A user's name and password, sent as Authorization: Basic."""

    rules: ClassVar = (
        Rule(
            cel="has(self.bearerToken) != has(self.basic)",
            holds=lambda auth: (auth.bearer_token is None) != (auth.basic is None),
            problem="auth takes exactly one kind of credentials",
            mend="keep either bearerToken or basic, or take auth out",
        ),
    )


class Tls(ApiModel):
    ca: SecretKey | None = None
    """Certificates, in PEM, of the authorities to trust instead of the system's."""
    certificate: SecretKey | None = None
    """The client certificate, in PEM."""
    private_key: SecretKey | None = None
    """The client certificate's private key, in PEM."""
    insecure_skip_verify: StrictBool | None = None
    """Do not verify the server's certificate: whoever answers is believed. For trials only."""

    rules: ClassVar = (
        Rule(
            cel="has(self.certificate) == has(self.privateKey)",
            holds=lambda tls: (tls.certificate is None) == (tls.private_key is None),
            problem="a client certificate is a certificate and its private key",
            mend="set both certificate and privateKey, or neither",
        ),
    )


class Prometheus(ApiModel):
    url: Url
    """The address of Prometheus or of anything that speaks its HTTP API (Thanos, Mimir, VictoriaMetrics), without
    /api/v1, e.g. http://prometheus.monitoring:9090."""
    timeout: Annotated[str, Field(max_length=32), duration("timeout", low="1s", high="60s")] = "10s"
    """How long to wait for an answer, as a duration in m and s; 1s..60s."""
    headers: Headers | None = None
    """Sent with every query, e.g. X-Scope-OrgID for a tenant. Not for credentials: those go into auth."""
    query_parameters: QueryParameters | None = None
    """Added to every query, e.g. partial_response for Thanos."""
    node_label: NodeLabel | None = None
    """The label of the series whose value is the node's name. Absent: node, nodename and kubernetes_node are tried,
    then the instance against the nodes' names and addresses, then node_uname_info."""
    auth: Auth | None = None
    """Credentials from a Secret. Accepted, and not yet in force: a source that asks for them is not queried."""
    tls: Tls | None = None
    """How to verify the server and what to show it. Accepted, and not yet in force: a source that asks for it is not
    queried. Without it, https is verified against the system's authorities."""

    rules: ClassVar = (
        Rule(
            cel="!has(self.tls) || self.url.lowerAscii().startsWith('https:')",
            holds=lambda source: source.tls is None or source.url.lower().startswith("https:"),
            problem="tls needs an https url",
            mend="write https:// in url, or take tls out",
            at="tls",
        ),
    )


class MetricsServer(ApiModel):
    pass


class MetricsSource(ApiModel):
    # A source is one value: whoever applies another one replaces it, defaults included.
    model_config = ConfigDict(json_schema_extra=ATOMIC)

    prometheus: Prometheus | None = None
    """Node-exporter's series in Prometheus: network, memory and cpu."""
    metrics_server: MetricsServer | None = None
    """The resource metrics API (metrics.k8s.io), as metrics-server serves it: memory and cpu."""

    rules: ClassVar = (
        Rule(
            cel="has(self.prometheus) != has(self.metricsServer)",
            holds=lambda source: (source.prometheus is None) != (source.metrics_server is None),
            problem="a policy reads exactly one metrics source",
            mend="keep either prometheus or metricsServer, or leave metricsSource out for metrics-server",
        ),
    )
