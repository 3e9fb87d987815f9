"""SchedulingPolicies on the real API server, applied and read as a user does, with kubectl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from devcluster.errors import KubectlError

if TYPE_CHECKING:
    from devcluster import DevCluster


class Policies:
    def __init__(self, cluster: DevCluster) -> None:
        self.kubectl = cluster.kubectl

    def apply(self, manifest: dict[str, Any], *arguments: str) -> str:
        """Server-side apply; what kubectl says."""
        return self.kubectl("apply", "--server-side", "-f", "-", *arguments, input=json.dumps(manifest))

    def client_side_apply(self, manifest: dict[str, Any]) -> str:
        return self.kubectl("apply", "-f", "-", input=json.dumps(manifest))

    def try_out(self, manifest: dict[str, Any]) -> None:
        """As apply, with nothing stored."""
        self.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(manifest))

    def refusal(self, manifest: dict[str, Any]) -> str:
        """Why the API server refuses the policy."""
        with pytest.raises(KubectlError) as refused:
            self.try_out(manifest)
        return refused.value.stderr

    def get(self, name: str) -> dict[str, Any]:
        policy: dict[str, Any] = json.loads(self.kubectl("get", "schedulingpolicy", name, "-o", "json"))
        return policy

    def spec(self, name: str) -> dict[str, Any]:
        spec: dict[str, Any] = self.get(name)["spec"]
        return spec

    def write_status(self, name: str, status: dict[str, Any]) -> None:
        patch = json.dumps({"status": status})
        self.kubectl("patch", "schedulingpolicy", name, "--subresource=status", "--type=merge", "-p", patch)
