"""The chart, rendered and inspected as its users get it: through helm itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from devcluster import binaries

Manifest = dict[str, Any]

REPOSITORY = Path(__file__).parents[2]
CHART = REPOSITORY / "helm" / "plimsoll"
RELEASE, NAMESPACE = "plimsoll", "plimsoll-system"

VALUES_FILES = sorted((Path(__file__).parent / "values").glob("*.yaml"))
"""Values that cover every branch of the templates between them."""


class HelmFailed(Exception):
    """helm refused; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What `helm template` makes of the chart."""

    manifests: Sequence[Manifest]

    def all(self, kind: str) -> list[Manifest]:
        return [manifest for manifest in self.manifests if manifest["kind"] == kind]

    def one(self, kind: str) -> Manifest:
        """The only one of its kind."""
        (found,) = self.all(kind)
        return found

    @property
    def pod(self) -> Manifest:
        """The Deployment's pod template."""
        template: Manifest = self.one("Deployment")["spec"]["template"]
        return template

    @property
    def container(self) -> Manifest:
        container: Manifest = self.pod["spec"]["containers"][0]
        return container

    @property
    def names(self) -> set[tuple[str, str, str]]:
        """Kind, namespace and name of every object."""
        return {
            (found["kind"], found["metadata"].get("namespace", ""), found["metadata"]["name"])
            for found in self.manifests
        }

    @property
    def text(self) -> str:
        """All manifests as one YAML stream, for kubectl."""
        return yaml.safe_dump_all(self.manifests)


def helm(*arguments: str, stdin: str = "") -> str:
    """What helm prints.

    Raises:
        HelmFailed: it ended with an error.
    """
    done = subprocess.run(
        [str(binaries.ensure("helm")), *arguments],
        input=stdin,
        # No cluster, and nothing from the configuration of whoever runs the tests.
        env={"PATH": os.defpath, "HOME": "/nonexistent", "KUBECONFIG": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise HelmFailed(done.stderr + done.stdout)
    return done.stdout


def render(
    values: Mapping[str, Any] | Path | None = None,
    *,
    release: str = RELEASE,
    namespace: str = NAMESPACE,
    chart: Path = CHART,
    api_versions: Iterable[str] = (),
    kube_version: str = "1.36.4",
) -> Rendered:
    """The chart's manifests with these values on top of its own; the hooks and NOTES are left out."""
    given = values.read_text() if isinstance(values, Path) else yaml.safe_dump(dict(values or {}))
    served = [f"--api-versions={version}" for version in api_versions]
    options = ["--namespace", namespace, "--kube-version", kube_version, "--values", "-", *served]
    text = helm("template", release, str(chart), *options, stdin=given)
    return Rendered([manifest for manifest in yaml.safe_load_all(text) if manifest])


def notes(values: Mapping[str, Any] | None = None, *, namespace: str = NAMESPACE) -> str:
    """What the user reads after the installation in a cluster that has nothing but Kubernetes."""
    options = ["--namespace", namespace, "--dry-run=client", "--values", "-"]
    text = helm("install", RELEASE, str(CHART), *options, stdin=yaml.safe_dump(dict(values or {})))
    return text.partition("NOTES:")[2]


def default_values() -> Manifest:
    values: Manifest = yaml.safe_load((CHART / "values.yaml").read_text())
    return values
