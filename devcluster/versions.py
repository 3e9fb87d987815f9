"""Versions as tuples of numbers, and which of them fit."""

import re
from dataclasses import dataclass

Version = tuple[int, ...]
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def parse(text: str) -> Version | None:
    """The first version in a text, e.g. in what `etcd --version` prints.

    >>> parse("Kubernetes v1.36.4")
    (1, 36, 4)
    """
    found = _VERSION.search(text)
    return tuple(int(part or 0) for part in found.groups()) if found else None


@dataclass(frozen=True, slots=True)
class VersionRange:
    """From `first` on, below `end`."""

    first: Version
    end: Version

    def fits(self, version: Version | None) -> bool:
        """Whether the version lies within; one that could not be read never does."""
        return version is not None and self.first <= version < self.end
