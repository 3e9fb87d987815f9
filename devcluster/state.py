"""What has to be known of a cluster to use it and to end it, as a file in its folder."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Self

from devcluster.component import Component
from devcluster.errors import ClusterMissingError
from devcluster.folder import ClusterFolder


@dataclass(frozen=True, slots=True)
class ClusterState:
    """One cluster."""

    server: str
    components: tuple[Component, ...]
    """In the order in which they are started."""
    controllers: bool
    audit: bool
    kubelet_port: int
    """Where the exporter plays the kubelets."""
    metrics_server_port: int

    def save(self, folder: ClusterFolder) -> None:
        """Write the file."""
        folder.state.write_text(json.dumps(asdict(self), indent=2))

    @classmethod
    def load(cls, folder: ClusterFolder) -> Self:
        """Read the file.

        Raises:
            ClusterMissingError: there is none.
        """
        try:
            saved = json.loads(folder.state.read_text())
        except FileNotFoundError:
            raise ClusterMissingError(f"no cluster in {folder.root}") from None
        components = tuple(Component(**{**each, "command": tuple(each["command"])}) for each in saved["components"])
        return cls(**{**saved, "components": components})

    def with_component(self, component: Component) -> Self:
        """The same cluster with one component more, or with another of that name."""
        others = tuple(each for each in self.components if each.name != component.name)
        return replace(self, components=(*others, component))

    def component(self, name: str) -> Component:
        """One component.

        Raises:
            KeyError: the cluster has none of that name.
        """
        return {each.name: each for each in self.components}[name]

    def has(self, name: str) -> bool:
        """Whether the cluster has a component of that name."""
        return any(each.name == name for each in self.components)

    def url(self, name: str) -> str | None:
        """Where a component listens; None if the cluster does not have it."""
        return self.component(name).url if self.has(name) else None
