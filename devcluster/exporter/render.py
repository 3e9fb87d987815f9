"""A fake node's state in Prometheus' text format."""

import json
import math
from collections.abc import Iterator

from devcluster.exporter.node import Device, FakeNode

# How a real node's busy time is split is of no interest to anyone here, only that it is split.
_BUSY_SHARES = {"system": 0.25, "user": 0.75}
# metrics-server takes a node for broken that has never worked or uses no memory at all.
_BUSY_AT_BOOT_S = 1.0

Sample = tuple[str, float]
"""Labels in braces, or nothing, and the value."""


def node_exporter(node: FakeNode, *, now_s: float) -> str:
    """What node-exporter would say of the node."""
    return "".join(
        [
            _family("node_time_seconds", "gauge", [("", now_s)]),
            _family("node_uname_info", "gauge", [(f"{{nodename={_quoted(node.name)}}}", 1.0)]),
            _family("node_cpu_seconds_total", "counter", _shown(node, _cpu_samples(node, now_s=now_s))),
            *_memory(node),
            *_network(node, now_s=now_s),
        ]
    )


def kubelet_resource_metrics(node: FakeNode, *, now_s: float) -> str:
    """What the kubelet's /metrics/resource would say of the node; metrics-server wants timestamps."""
    sampled_at_ms = round(now_s * 1000)
    core_seconds = _BUSY_AT_BOOT_S + node.busy.at(now_s) * node.cpus
    working_set_bytes = max(1.0, node.memory_used_bytes)
    return (
        "# TYPE node_cpu_usage_seconds_total counter\n"
        f"node_cpu_usage_seconds_total {core_seconds!r} {sampled_at_ms}\n"
        "# TYPE node_memory_working_set_bytes gauge\n"
        f"node_memory_working_set_bytes {working_set_bytes!r} {sampled_at_ms}\n"
    )


def cadvisor(node: FakeNode, *, now_s: float) -> str:
    """What the kubelet's /metrics/cadvisor would say of the node's pods.

    Beside its container each pod has the series of its own cgroup, which is the sum of them, as real ones have.
    """
    pods = [(_pod_labels(name), pod) for name, pod in (node.pods or {}).items()]
    groups = [(f'{{container="{c}",{labels}}}', pod) for labels, pod in pods for c in ("", "main")]
    interfaces = [(f'{{interface="eth0",{labels}}}', pod) for labels, pod in pods]
    cpu = [(labels, pod.cpu.at(now_s)) for labels, pod in groups]
    memory = [(labels, pod.memory_bytes) for labels, pod in groups]
    received = [(labels, pod.receive.at(now_s)) for labels, pod in interfaces]
    sent = [(labels, pod.transmit.at(now_s)) for labels, pod in interfaces]
    return "".join(
        [
            _family("container_cpu_usage_seconds_total", "counter", cpu),
            _family("container_memory_working_set_bytes", "gauge", memory),
            _family("container_network_receive_bytes_total", "counter", received),
            _family("container_network_transmit_bytes_total", "counter", sent),
        ]
    )


def _pod_labels(name: str) -> str:
    namespace, _, pod = name.rpartition("/")
    return f"namespace={_quoted(namespace)},pod={_quoted(pod)}"


def _cpu_samples(node: FakeNode, *, now_s: float) -> Iterator[Sample]:
    busy_s = node.busy.at(now_s)
    seconds = {mode: busy_s * share for mode, share in _BUSY_SHARES.items()}
    seconds["idle"] = max(0.0, node.uptime.at(now_s) - busy_s)
    for cpu in range(node.cpus):
        for mode, value in seconds.items():
            yield f'{{cpu="{cpu}",mode="{mode}"}}', value


def _memory(node: FakeNode) -> Iterator[str]:
    available = node.memory_total_bytes - node.memory_used_bytes
    yield _family("node_memory_MemTotal_bytes", "gauge", _shown(node, iter([("", node.memory_total_bytes)])))
    yield _family("node_memory_MemAvailable_bytes", "gauge", _shown(node, iter([("", available)])))


def _network(node: FakeNode, *, now_s: float) -> Iterator[str]:
    devices = [(f"{{device={_quoted(name)}}}", device) for name, device in node.shown_devices()]
    received = ((labels, device.receive.at(now_s)) for labels, device in devices)
    sent = ((labels, device.transmit.at(now_s)) for labels, device in devices)
    yield _family("node_network_receive_bytes_total", "counter", _shown(node, received))
    yield _family("node_network_transmit_bytes_total", "counter", _shown(node, sent))
    yield _family("node_network_speed_bytes", "gauge", _shown(node, _speeds(devices)))


def _speeds(devices: list[tuple[str, Device]]) -> Iterator[Sample]:
    for labels, device in devices:
        if device.speed_bytes is not None:
            yield labels, device.speed_bytes


def _shown(node: FakeNode, samples: Iterator[Sample]) -> list[Sample]:
    return [(labels, math.nan) for labels, _ in samples] if node.not_a_number else list(samples)


def _family(name: str, kind: str, samples: list[Sample]) -> str:
    lines = [f"{name}{labels} {'NaN' if math.isnan(value) else repr(value)}\n" for labels, value in samples]
    return f"# TYPE {name} {kind}\n{''.join(lines)}"


def _quoted(value: str) -> str:
    # JSON's escapes are those of the text format for all that can occur in a name.
    return json.dumps(value, ensure_ascii=False)
