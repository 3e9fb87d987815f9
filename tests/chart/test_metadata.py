"""What Chart.yaml says of the chart."""

from __future__ import annotations

import pytest
import yaml

import plimsoll
from tests.chart.chart import CHART

ABOUT = yaml.safe_load((CHART / "Chart.yaml").read_text())


def test_it_installs_the_version_of_the_package():
    assert ABOUT["appVersion"] == plimsoll.__version__


@pytest.mark.parametrize("key", ["kubeVersion", "home", "sources", "keywords", "maintainers", "description"])
def test_it_says_what_a_catalogue_asks_for(key):
    assert ABOUT[key]
