"""kubeconfig files."""

import base64
from pathlib import Path
from typing import Any

import yaml

from devcluster.pki import Pki

_NAME = "devcluster"


def write_admin(path: Path, *, server: str, pki: Pki) -> None:
    """The administrator's, with everything inside, so that the file can be copied anywhere."""
    user = {
        "client-certificate-data": _encoded(pki.certificate("admin")),
        "client-key-data": _encoded(pki.key("admin")),
    }
    _write(path, server=server, ca=pki.ca, user_name="admin", user=user)


def write_token(path: Path, *, server: str, ca: Path, user_name: str, token: str) -> None:
    """One that signs in with a ServiceAccount's token."""
    _write(path, server=server, ca=ca, user_name=user_name, user={"token": token})


def _write(path: Path, *, server: str, ca: Path, user_name: str, user: dict[str, str]) -> None:
    cluster = {"server": server, "certificate-authority-data": _encoded(ca)}
    config: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": user_name, "user": user}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": user_name}}],
        "current-context": _NAME,
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config))


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
