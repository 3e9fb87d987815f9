"""The programs of the control plane: where each comes from, and which versions of it fit."""

from dataclasses import dataclass

from devcluster.module import pinned_version
from devcluster.versions import VersionRange

_KUBERNETES = VersionRange((1, 36), (1, 37))


@dataclass(frozen=True, slots=True)
class Tool:
    """One program."""

    name: str
    module: str
    """Go module; go.mod pins its version."""
    package: str
    """Import path of the program."""
    fitting: VersionRange
    """Versions that are taken from the PATH instead of being built."""
    build_time: str
    """About how long the first build takes on two cores, with the programs above it built."""
    version_command: tuple[str, ...] = ("--version",)
    version_variable: str = ""
    """Go variable that holds the version; empty where the program knows it without help."""
    bare_version: bool = False
    """Whether that variable wants the version without its `v`."""

    @property
    def version(self) -> str:
        """What is built, e.g. `v1.36.4`; Prometheus 3.15 is `v0.315.0` in Go's terms."""
        return pinned_version(self.module)

    @property
    def stamps(self) -> tuple[str, ...]:
        """Linker variables. Unstamped, kubectl, helm and this package's own check read nonsense."""
        if self.module == "k8s.io/kubernetes":
            return kubernetes_stamps(self.version)
        if not self.version_variable:
            return ()
        version = _marketed(self)
        return (f"{self.version_variable}={version.removeprefix('v') if self.bare_version else version}",)


def kubernetes_stamps(version: str) -> tuple[str, ...]:
    """Linker variables by which a program of this version of Kubernetes knows it."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "local",
    }
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return tuple(f"{package}.{key}={value}" for package in packages for key, value in values.items())


def _marketed(tool: Tool) -> str:
    """The version as its users know it: Prometheus v3.15.0 is published to Go as v0.315.0."""
    if tool.name != "prometheus":
        return tool.version
    _, minor, patch = tool.version.split(".", 2)
    return f"v{int(minor) // 100}.{int(minor) % 100}.{patch}"


_ALL = (
    Tool(
        name="kube-apiserver",
        module="k8s.io/kubernetes",
        package="k8s.io/kubernetes/cmd/kube-apiserver",
        fitting=_KUBERNETES,
        build_time="4 min",
    ),
    Tool(
        name="kube-controller-manager",
        module="k8s.io/kubernetes",
        package="k8s.io/kubernetes/cmd/kube-controller-manager",
        fitting=_KUBERNETES,
        build_time="1 min",
    ),
    Tool(
        name="kube-scheduler",
        module="k8s.io/kubernetes",
        package="k8s.io/kubernetes/cmd/kube-scheduler",
        fitting=_KUBERNETES,
        build_time="10 s",
    ),
    Tool(
        name="kubectl",
        module="k8s.io/kubernetes",
        package="k8s.io/kubernetes/cmd/kubectl",
        fitting=_KUBERNETES,
        build_time="20 s",
        version_command=("version", "--client"),
    ),
    Tool(
        name="etcd",
        module="go.etcd.io/etcd/server/v3",
        package="go.etcd.io/etcd/server/v3",
        # Below 3.5.13 the API server cannot serve a streamed list, which kopf asks for.
        fitting=VersionRange((3, 5, 13), (4,)),
        build_time="15 s",
    ),
    Tool(
        name="kwok",
        module="sigs.k8s.io/kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        fitting=VersionRange((0, 8), (0, 9)),
        build_time="15 s",
        version_variable="sigs.k8s.io/kwok/pkg/consts.Version",
    ),
    Tool(
        name="metrics-server",
        module="sigs.k8s.io/metrics-server",
        package="sigs.k8s.io/metrics-server/cmd/metrics-server",
        fitting=VersionRange((0, 9), (0, 10)),
        build_time="10 s",
        version_variable="k8s.io/client-go/pkg/version.gitVersion",
    ),
    Tool(
        name="prometheus",
        module="github.com/prometheus/prometheus",
        package="github.com/prometheus/prometheus/cmd/prometheus",
        fitting=VersionRange((2, 42), (4,)),
        build_time="30 s",
        version_variable="github.com/prometheus/common/version.Version",
        bare_version=True,
    ),
    Tool(
        name="node_exporter",
        module="github.com/prometheus/node_exporter",
        package="github.com/prometheus/node_exporter",
        fitting=VersionRange((1, 5), (2,)),
        build_time="5 s",
        version_variable="github.com/prometheus/common/version.Version",
        bare_version=True,
    ),
    Tool(
        name="helm",
        module="helm.sh/helm/v4",
        package="helm.sh/helm/v4/cmd/helm",
        fitting=VersionRange((4,), (5,)),
        build_time="70 s",
        version_command=("version", "--short"),
        version_variable="helm.sh/helm/v4/internal/version.version",
    ),
)

TOOLS = {tool.name: tool for tool in _ALL}
