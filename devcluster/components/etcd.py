"""etcd, where the API server keeps everything."""

from devcluster.component import Component, Plan

# 4 GiB; the default of 2 GiB fills up in throughput tests.
_QUOTA_BYTES = 4 * 1024**3
_NAME = "devcluster"


def etcd(plan: Plan) -> Component:
    """A single member on loopback."""
    client, peer = plan.etcd_url, f"http://127.0.0.1:{plan.ports.etcd_peer}"
    command = (
        str(plan.program("etcd")),
        f"--name={_NAME}",
        f"--data-dir={plan.folder.data / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster={_NAME}={peer}",
        # The data is thrown away with the cluster; waiting for the disk would only slow it down.
        "--unsafe-no-fsync",
        "--auto-compaction-retention=1",
        f"--quota-backend-bytes={_QUOTA_BYTES}",
    )
    return Component("etcd", command, url=client, health_url=f"{client}/health")
