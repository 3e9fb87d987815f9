"""The installation, once per session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.image.installation import Installation, installed


@pytest.fixture(scope="session")
def installed_plimsoll() -> Iterator[Installation]:
    """Plimsoll as the Dockerfile installs it, ready to be started as an unprivileged user."""
    with installed() as installation:
        yield installation
