"""kube-apiserver."""

from collections.abc import Iterator

import yaml

from devcluster.component import Component, Plan

_AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}


def api_server(plan: Plan) -> Component:
    """The API server with RBAC, token signing and the aggregation layer."""
    command = (
        str(plan.program("kube-apiserver")),
        f"--etcd-servers={plan.etcd_url}",
        "--bind-address=127.0.0.1",
        f"--secure-port={plan.ports.api_server}",
        # Without a default route there is no address to guess, and loopback may not be an endpoint.
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        *plan.serving_flags(),
        f"--client-ca-file={plan.pki.ca}",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={plan.pki.token_public_key}",
        f"--service-account-signing-key-file={plan.pki.token_key}",
        *_aggregation_flags(plan),
        *_admission_flags(plan),
        *_audit_flags(plan),
        *plan.spec.apiserver_flags,
    )
    return Component("kube-apiserver", command, url=plan.server, health_url=f"{plan.server}/readyz")


def _aggregation_flags(plan: Plan) -> Iterator[str]:
    yield f"--proxy-client-cert-file={plan.pki.certificate('front')}"
    yield f"--proxy-client-key-file={plan.pki.key('front')}"
    yield f"--requestheader-client-ca-file={plan.pki.front_ca}"
    yield "--requestheader-allowed-names=front-proxy-client"
    yield "--requestheader-username-headers=X-Remote-User"
    yield "--requestheader-group-headers=X-Remote-Group"
    yield "--requestheader-extra-headers-prefix=X-Remote-Extra-"


def _admission_flags(plan: Plan) -> Iterator[str]:
    if not plan.spec.controllers:
        # The one puts a taint on every new node that only a controller takes off, the other wants
        # ServiceAccounts in every namespace that only a controller makes.
        yield "--disable-admission-plugins=TaintNodesByCondition,ServiceAccount"


def _audit_flags(plan: Plan) -> Iterator[str]:
    if plan.spec.audit:
        policy = plan.folder.config / "audit-policy.yaml"
        policy.write_text(yaml.safe_dump(_AUDIT_POLICY))
        yield f"--audit-policy-file={policy}"
        yield f"--audit-log-path={plan.folder.audit_log}"
        yield "--audit-log-format=json"
        # Lines are whole and there at once, so that a test can read what it caused.
        yield "--audit-log-mode=blocking"
