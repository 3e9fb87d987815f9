"""Who runs the install steps: never root."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The image's own user: nobody on a usual machine has it, so that all that it owns was written by the steps.
NUMBER = 65532


@dataclass(frozen=True, slots=True)
class Identity:
    """An unprivileged user.

    Attributes:
        number: uid and gid.
        switched: whether the tests run as root and commands have to be started as that user.
    """

    number: int
    switched: bool

    @classmethod
    def unprivileged(cls) -> Identity:
        """The image's user where the tests run as root, else the one who runs them."""
        return cls(NUMBER, switched=True) if os.geteuid() == 0 else cls(os.geteuid(), switched=False)

    @property
    def options(self) -> Mapping[str, Any]:
        """For `subprocess`: who the command runs as."""
        if not self.switched:
            return {}
        return {"user": self.number, "group": self.number, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Make it theirs, with all below."""
        self._give(path, self.number)

    def lock(self, path: Path) -> None:
        """Leave it readable and no more, with all below; as in an image, where files are root's."""
        self._give(path, 0)
        for found in (path, *path.rglob("*")):
            if not found.is_symlink():
                found.chmod(found.stat().st_mode & ~0o222)

    def _give(self, path: Path, number: int) -> None:
        if self.switched:
            for found in (path, *path.rglob("*")):
                os.chown(found, number, number, follow_symlinks=False)
