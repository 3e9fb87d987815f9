"""SchedulingPolicies as JSON, and the specs that break each rule of the API: tried offline and on the API server."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

Json = dict[str, Any]
PROMETHEUS: Json = {"prometheus": {"url": "http://prometheus.monitoring:9090"}}


def manifest(name: str = "p", **spec: Any) -> Json:
    return {
        "apiVersion": "plimsoll.dev/v1alpha1",
        "kind": "SchedulingPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


def on_prometheus(**spec: Any) -> Json:
    return {"metricsSource": PROMETHEUS, **spec}


def asking(**prometheus: Any) -> Json:
    """A source with more than a url."""
    return {"metricsSource": {"prometheus": PROMETHEUS["prometheus"] | prometheus}}


def measuring(**metric: Any) -> Json:
    """One custom metric."""
    return on_prometheus(metrics=[{"name": "disk-busy", "query": "up", "weight": 1} | metric])


def selecting(**expression: Any) -> Json:
    return {"podSelector": {"matchExpressions": [{"key": "app"} | expression]}}


def on_nodes(*terms: Json) -> Json:
    return {"nodeAffinity": {"nodeSelectorTerms": list(terms)}}


def expressing(**expression: Any) -> Json:
    return on_nodes({"matchExpressions": [{"key": "disks"} | expression]})


def naming(**field: Any) -> Json:
    return on_nodes({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]} | field]})


class Broken(NamedTuple):
    """A spec that breaks one rule.

    Attributes:
        field: the path that people are told.
        sentence: what is wrong, and what to write instead.
    """

    spec: Json
    field: str
    sentence: str


_DURATION = "write hours, minutes and seconds, e.g. 90s, 5m or 1h30m"
_TIME_RANGE = f"timeRange is not a duration of whole seconds from 30s to 24h: {_DURATION}"
_REFRESH = f"refreshInterval is not a duration of whole seconds from 5s to 1h: {_DURATION}"
_TIMEOUT = f"timeout is not a duration of whole seconds from 1s to 60s: {_DURATION}"
_URL = "url is not an http or https address: write e.g. http://prometheus.monitoring:9090"
_CREDENTIALS = "which everybody who reads the policy can see: put them in a Secret and name it in auth"
_DEVICE = (
    "deviceName is not a valid RE2 expression: write a device's name, e.g. eth0, or an expression that matches "
    "whole names, e.g. 'eth[0-9]+|bond0'"
)
_SOURCE = (
    "a policy reads exactly one metrics source: keep either prometheus or metricsServer, "
    "or leave metricsSource out for metrics-server"
)
_NETWORK_WEIGHT = (
    "network weights need Prometheus, since metrics-server knows no network: "
    "set metricsSource.prometheus.url, or take networkReceive and networkTransmit out"
)
_NO_WEIGHT = (
    "no weight is above 0: give one of weights or of metrics a weight of 1 or more, "
    "or leave weights out for cpu and memory"
)
_QUANTITY = "this is not a quantity: write a number with an optional suffix, e.g. 1250M, 64Gi, 500m or 0.9 in quotes"
_BYTES = "this is not an amount of at least 1 byte: write a quantity above 0, e.g. 1250M or 64Gi"
_PERCENT = "this is not a percentage from 1 to 100: write a whole number in these bounds, or leave it out"
_BUILT_IN = (
    "networkReceive, networkTransmit, memory and cpu are built in: "
    "give the metric another name, or weigh the built-in one in weights"
)
_METRIC_NAME = (
    "a metric's name must begin with a letter and end with a letter or digit: "
    "write letters, digits, dashes and underscores, e.g. disk-busy"
)
_HEADER = (
    "headers has a name or a value that HTTP does not allow: "
    "write names of letters, digits and dashes, and values on one line"
)
_NODE_LABEL = (
    "nodeLabel is not the name of a Prometheus label: "
    "write letters, digits and underscores, e.g. node or kubernetes_node"
)
_AUTH = "auth takes exactly one kind of credentials: keep either bearerToken or basic, or take auth out"
_KEY = {"name": "prometheus", "key": "token"}
_COMPARES = "Gt and Lt compare with one integer: give exactly one value that is an integer, in quotes"
_FIELDS = (
    "matchFields knows one field: write key metadata.name, operator In or NotIn, and exactly one value; "
    "one term per node name"
)

_PROM = "spec.metricsSource.prometheus"
_EXPRESSION = "spec.podSelector.matchExpressions[0]"
_TERM = "spec.nodeAffinity.nodeSelectorTerms[0]"

# What a part that is set aside leaves behind is in force, so each of these is tried in the core as well.
BROKEN = {
    "two sources": Broken({"metricsSource": PROMETHEUS | {"metricsServer": {}}}, "spec.metricsSource", _SOURCE),
    "no source in metricsSource": Broken({"metricsSource": {}}, "spec.metricsSource", _SOURCE),
    "received bytes without Prometheus": Broken({"weights": {"networkReceive": 1}}, "spec.weights", _NETWORK_WEIGHT),
    "sent bytes with metrics-server": Broken(
        {"weights": {"networkTransmit": 1, "cpu": 1}, "metricsSource": {"metricsServer": {}}},
        "spec.weights",
        _NETWORK_WEIGHT,
    ),
    "a network limit without Prometheus": Broken(
        {"limits": {"network": 90}},
        "spec.limits",
        "a network limit needs Prometheus, since metrics-server knows no network: "
        "set metricsSource.prometheus.url, or take limits.network out",
    ),
    "a device without Prometheus": Broken(
        {"deviceName": "eth0"},
        "spec.deviceName",
        "deviceName needs Prometheus, since metrics-server knows no network: "
        "set metricsSource.prometheus.url, or take deviceName out",
    ),
    "custom metrics without Prometheus": Broken(
        {"metrics": [{"name": "disk-busy", "query": "up", "weight": 1}]},
        "spec.metrics",
        "custom metrics need Prometheus, which answers their queries: "
        "set metricsSource.prometheus.url, or take metrics out",
    ),
    "all weights 0": Broken({"weights": {"cpu": 0, "memory": 0}}, "spec.weights", _NO_WEIGHT),
    "weights without a key": Broken({"weights": {}}, "spec.weights", _NO_WEIGHT),
    "all weights 0 and a custom metric with a limit only": Broken(
        on_prometheus(weights={"cpu": 0}, metrics=[{"name": "a", "query": "up", "limit": 1}]),
        "spec.weights",
        _NO_WEIGHT,
    ),
    "all of placement 0": Broken(
        {"placement": {"load": 0, "requests": 0, "spreading": 0, "preferences": 0}},
        "spec.placement",
        "all of placement is 0, so every node would score the same: "
        "set at least one of load, requests, spreading and preferences above 0",
    ),
    "maxMemory with formula Capacity": Broken(
        {"maxMemory": "64Gi"},
        "spec.maxMemory",
        "maxMemory is for formula Relative only: set formula to Relative, or take maxMemory out",
    ),
    "a target without Pack": Broken(
        {"strategy": {"target": 60}},
        "spec.strategy.target",
        "target is for strategy Pack only: set type to Pack, or take target out",
    ),
    "a time range without unit": Broken({"timeRange": "300"}, "spec.timeRange", _TIME_RANGE),
    "a time range in days": Broken({"timeRange": "1d"}, "spec.timeRange", _TIME_RANGE),
    "a time range in milliseconds": Broken({"timeRange": "300000ms"}, "spec.timeRange", _TIME_RANGE),
    "a time range with a sign": Broken({"timeRange": "+5m"}, "spec.timeRange", _TIME_RANGE),
    "an empty time range": Broken({"timeRange": ""}, "spec.timeRange", _TIME_RANGE),
    "a time range with a newline": Broken({"timeRange": "5m\n"}, "spec.timeRange", _TIME_RANGE),
    "a time range below 30 s": Broken({"timeRange": "29s"}, "spec.timeRange", _TIME_RANGE),
    "a time range above 24 h": Broken({"timeRange": "24h1s"}, "spec.timeRange", _TIME_RANGE),
    "half seconds in a time range": Broken({"timeRange": "30.5s"}, "spec.timeRange", _TIME_RANGE),
    "a time range beyond all numbers": Broken({"timeRange": f"{'9' * 30}h"}, "spec.timeRange", _TIME_RANGE),
    "a refresh every second": Broken({"refreshInterval": "1s"}, "spec.refreshInterval", _REFRESH),
    "a refresh every two hours": Broken({"refreshInterval": "2h"}, "spec.refreshInterval", _REFRESH),
    "a time-out of 0": Broken(asking(timeout="0s"), f"{_PROM}.timeout", _TIMEOUT),
    "a time-out of two minutes": Broken(asking(timeout="2m"), f"{_PROM}.timeout", _TIMEOUT),
    "a device expression that is none": Broken(on_prometheus(deviceName="eth("), "spec.deviceName", _DEVICE),
    "a device expression with a lookahead": Broken(on_prometheus(deviceName="eth(?!0).*"), "spec.deviceName", _DEVICE),
    "a url of another scheme": Broken(asking(url="ftp://prometheus:9090"), f"{_PROM}.url", _URL),
    "a url without scheme": Broken(asking(url="prometheus:9090"), f"{_PROM}.url", _URL),
    "a url without host": Broken(asking(url="http:///api"), f"{_PROM}.url", _URL),
    "a url with a space": Broken(asking(url="http://prome theus"), f"{_PROM}.url", _URL),
    "a url with a backslash": Broken(asking(url="http://inside\\@outside"), f"{_PROM}.url", _URL),
    "a url with a word for a port": Broken(asking(url="http://prometheus:web"), f"{_PROM}.url", _URL),
    "credentials in the url": Broken(
        asking(url="https://me:secret@prometheus"), f"{_PROM}.url", f"url carries credentials, {_CREDENTIALS}"
    ),
    "a query in the url": Broken(
        asking(url="http://prometheus?dedup=true"),
        f"{_PROM}.url",
        "url carries a query or a fragment: end it with the path, and put parameters in queryParameters",
    ),
    "a header's name with a space": Broken(asking(headers={"X Scope": "a"}), f"{_PROM}.headers", _HEADER),
    "a header's value of two lines": Broken(
        asking(headers={"X-Scope-OrgID": "a\r\nX-Admin: true"}), f"{_PROM}.headers", _HEADER
    ),
    "credentials in headers": Broken(
        asking(headers={"AUTHORIZATION": "Bearer abc"}),
        f"{_PROM}.headers",
        f"headers carries credentials, {_CREDENTIALS}",
    ),
    "a header that belongs to the connection": Broken(
        asking(headers={"Host": "elsewhere"}),
        f"{_PROM}.headers",
        "headers sets what belongs to the connection: take host, content-length, transfer-encoding and connection out",
    ),
    "a parameter that is the query itself": Broken(
        asking(queryParameters={"query": "up"}),
        f"{_PROM}.queryParameters",
        "queryParameters sets what the query itself is made of: "
        "take query, time and timeout out; timeout is a field of its own",
    ),
    "a node label that Prometheus does not allow": Broken(
        asking(nodeLabel='node"} or up{a="'), f"{_PROM}.nodeLabel", _NODE_LABEL
    ),
    "two kinds of credentials": Broken(
        asking(auth={"bearerToken": _KEY, "basic": {"username": _KEY, "password": _KEY}}), f"{_PROM}.auth", _AUTH
    ),
    "auth without credentials": Broken(asking(auth={}), f"{_PROM}.auth", _AUTH),
    "a certificate without its key": Broken(
        asking(url="https://prometheus", tls={"certificate": _KEY}),
        f"{_PROM}.tls",
        "a client certificate is a certificate and its private key: set both certificate and privateKey, or neither",
    ),
    "tls for an http url": Broken(
        asking(tls={"insecureSkipVerify": True}),
        f"{_PROM}.tls",
        "tls needs an https url: write https:// in url, or take tls out",
    ),
    "a limit of 0": Broken({"limits": {"cpu": 0}}, "spec.limits.cpu", _PERCENT),
    "a limit of 101": Broken({"limits": {"memory": 101}}, "spec.limits.memory", _PERCENT),
    "a network limit of 0": Broken(on_prometheus(limits={"network": 0}), "spec.limits.network", _PERCENT),
    "a network capacity in words": Broken({"networkCapacity": "fast"}, "spec.networkCapacity", _BYTES),
    "a network capacity of nothing": Broken({"networkCapacity": 0}, "spec.networkCapacity", _BYTES),
    "a negative maxMemory": Broken({"formula": "Relative", "maxMemory": "-1Gi"}, "spec.maxMemory", _BYTES),
    "a built-in metric's name": Broken(measuring(name="memory"), "spec.metrics[memory].name", _BUILT_IN),
    "a metric's name with a blank": Broken(measuring(name="disk busy"), "spec.metrics[disk busy].name", _METRIC_NAME),
    "a metric without weight and limit": Broken(
        measuring(weight=0),
        "spec.metrics[disk-busy]",
        "a metric without weight and limit changes nothing: give it a weight of at least 1, or a limit, or take it out",
    ),
    "min equal to max": Broken(
        measuring(min="1", max="1000m"),
        "spec.metrics[disk-busy].min",
        "min is not below max: swap them, or take one out",
    ),
    "a negative perPod": Broken(
        measuring(perPod="-1"),
        "spec.metrics[disk-busy].perPod",
        "perPod is negative: write what one pod adds, 0 or more",
    ),
    "a limit that is no quantity": Broken(measuring(limit="90%"), "spec.metrics[disk-busy].limit", _QUANTITY),
}

# Which pods and which nodes: nothing is in force where these are wrong.
BROKEN_ESSENTIALS = {
    "In without values": Broken(
        selecting(operator="In"),
        f"{_EXPRESSION}.values",
        "In and NotIn need values: list at least one value, or use Exists or DoesNotExist",
    ),
    "Exists with values": Broken(
        selecting(operator="Exists", values=["web"]),
        f"{_EXPRESSION}.values",
        "Exists and DoesNotExist take no values: take values out, or use In or NotIn",
    ),
    "Gt with two values": Broken(
        expressing(operator="Gt", values=["1", "2"]), f"{_TERM}.matchExpressions[0].values", _COMPARES
    ),
    "Lt with a word": Broken(
        expressing(operator="Lt", values=["many"]), f"{_TERM}.matchExpressions[0].values", _COMPARES
    ),
    "a field that nobody knows": Broken(naming(key="metadata.namespace"), f"{_TERM}.matchFields[0]", _FIELDS),
    "two node names in one expression": Broken(naming(values=["node-1", "node-2"]), f"{_TERM}.matchFields[0]", _FIELDS),
    "an empty term": Broken(
        on_nodes({}), _TERM, "an empty term matches no node: add matchExpressions or matchFields, or take the term out"
    ),
    "no terms": Broken(
        on_nodes(),
        "spec.nodeAffinity",
        "a node affinity without terms matches no node: add a term to nodeSelectorTerms, or take nodeAffinity out",
    ),
}

# Just inside each bound, and what looks odd and is right.
VALID = {
    "nothing at all": {},
    "the shortest time range": {"timeRange": "30s"},
    "the longest time range": {"timeRange": "24h"},
    "a time range of two units": {"timeRange": "1h30m"},
    "a time range with a fraction": {"timeRange": "1.5h"},
    "a time range in any order": {"timeRange": "30s5m"},
    "the fastest refresh": {"refreshInterval": "5s"},
    "network weights of 0 without Prometheus": {"weights": {"networkReceive": 0, "networkTransmit": 0, "cpu": 1}},
    "weights of 0 beside a custom metric": on_prometheus(
        weights={"cpu": 0}, metrics=[{"name": "a", "query": "up", "weight": 1}]
    ),
    "a custom metric with a limit only": measuring(weight=0, limit="0.9"),
    "a custom metric with all it can have": measuring(
        goal="Maximize", min="-1", max=1, limit="0.9", perPod="20m", query='max by (node) (up{a="\n"})'
    ),
    "requests alone": {"placement": {"load": 0, "spreading": 0, "preferences": 0}},
    "Prometheus under its default time-out": {"metricsSource": PROMETHEUS},
    "metrics-server by name": {"metricsSource": {"metricsServer": {}}},
    "a source with all it can have": asking(
        url="https://[2001:db8::1]:9090/prometheus/",
        timeout="60s",
        headers={"X-Scope-OrgID": 'team-a|"b"'},
        queryParameters={"partial_response": "true", "dedup": "false"},
        nodeLabel="kubernetes_node",
        auth={"basic": {"username": _KEY, "password": _KEY}},
        tls={"ca": _KEY, "certificate": _KEY, "privateKey": _KEY, "insecureSkipVerify": False},
    ),
    "an at sign in the path": asking(url="http://prometheus/@tenant"),
    "a device expression": on_prometheus(deviceName="eth[0-9]+|bond0"),
    "a device's name with quotes and braces": on_prometheus(deviceName='eth0"} or up{a="'),
    "limits at their bounds": on_prometheus(limits={"cpu": 1, "memory": 100, "network": 50}),
    "maxMemory with Relative": {"formula": "Relative", "maxMemory": "64Gi"},
    "a network capacity in bytes": {"networkCapacity": 125000000},
    "Pack without a target": {"strategy": {"type": "Pack"}},
    "Pack with a target": {"strategy": {"type": "Pack", "target": 60}},
    "selectors of all kinds": {
        **expressing(operator="Gt", values=["3"]),
        "podSelector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        "namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a", "b"]}]},
        "nodeSelector": {"cpu": "true", "empty": ""},
    },
    "a node by name": naming(),
    "Observe": {"mode": "Observe"},
}


def cases(table: dict[str, Any]) -> list[Any]:
    """For parametrize, the keys as ids."""
    return [pytest.param(value, id=name) for name, value in table.items()]
