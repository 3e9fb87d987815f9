from __future__ import annotations

from typing import Any

import pytest

from plimsoll.errors import SettingsError
from plimsoll.runtime.settings import Address, make_settings


def test_the_defaults_are_client_gos_and_fit() -> None:
    settings = make_settings()
    assert settings.lease == "plimsoll"
    assert settings.lease_times.duration_s == 15
    assert settings.metrics_address == Address("127.0.0.1", 10260)


def test_the_lease_is_named_after_the_scheduler_unless_told_otherwise() -> None:
    assert make_settings(scheduler_name="batch").lease == "batch"
    assert make_settings(scheduler_name="batch", lease_name="mine").lease == "mine"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        (":10260", Address("0.0.0.0", 10260)),
        ("[::1]:9090", Address("::1", 9090)),
        ("localhost:65535", Address("localhost", 65535)),
    ],
)
def test_addresses_are_read(text: str, want: Address) -> None:
    assert make_settings(metrics_address=text).metrics_address == want


@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param({"metrics_address": "10260"}, "--metrics-address '10260': .*host:port", id="no port"),
        pytest.param({"metrics_address": "a:99999"}, "--metrics-address", id="port out of range"),
        pytest.param({"metrics_address": "a:x"}, "--metrics-address", id="port is no number"),
        pytest.param({"scheduler_name": "a,b"}, "--scheduler-name", id="a name that would be a selector"),
        pytest.param({"scheduler_name": ""}, "--scheduler-name", id="no name"),
        pytest.param({"namespace": "A/b"}, "--namespace", id="no namespace"),
        pytest.param({"log_format": "xml"}, "--log-format", id="unknown format"),
        pytest.param({"bind_concurrency": 0}, "--bind-concurrency", id="no binds"),
        pytest.param({"lease_duration_s": 5, "renew_deadline_s": 10}, "--lease-duration must be longer", id="deadline"),
        pytest.param({"renew_deadline_s": 2, "retry_period_s": 2}, "--retry-period", id="one try only"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_flag(values: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as raised:
        make_settings(**values)
    assert "\n" not in str(raised.value)
