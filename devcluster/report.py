"""What the command line says of a cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devcluster.cluster import DevCluster


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """How one process is."""

    name: str
    pid: int | None
    url: str
    healthy: bool


def statuses(cluster: DevCluster) -> list[ProcessStatus]:
    """How all processes are, in the order in which they were started."""
    return [
        ProcessStatus(
            name=component.name,
            pid=cluster.pid(component.name),
            url=component.url,
            healthy=cluster.is_healthy(component.name),
        )
        for component in cluster.components
    ]


def table(rows: Sequence[ProcessStatus]) -> str:
    """The statuses as columns."""
    lines = [("NAME", "PID", "URL", "STATE"), *map(_columns, rows)]
    return "\n".join(f"{name:<26}{pid:<10}{url:<28}{state}" for name, pid, url, state in lines)


def _columns(row: ProcessStatus) -> tuple[str, str, str, str]:
    if row.pid is None:
        return row.name, "-", row.url, "not running"
    return row.name, str(row.pid), row.url, "healthy" if row.healthy else "not healthy"


def usage(cluster: DevCluster) -> str:
    """How to use the cluster and how to end it."""
    return "\n".join(_usage(cluster))


def _usage(cluster: DevCluster) -> Iterator[str]:
    yield f"export KUBECONFIG={cluster.kubeconfig}"
    yield f"API server:  {cluster.server}"
    if cluster.prometheus_url:
        yield f"Prometheus:  {cluster.prometheus_url}"
    if cluster.exporter:
        yield f"exporter:    {cluster.exporter.url}  (PATCH /nodes sets loads)"
    if cluster.audit_log:
        yield f"audit log:   {cluster.audit_log}"
    yield f"kubectl:     python -m devcluster kubectl --dir {cluster.directory} get nodes"
    yield f"to stop it:  python -m devcluster down --dir {cluster.directory}"
