from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.promql import by, duration, label, string
from plimsoll.load.queries import queries
from tests.load.answers import policy_of


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("eth0", '"eth0"', id="a plain name"),
        pytest.param('eth0"} or vector(1) #', r'"eth0\"} or vector(1) #"', id="a quote does not end the literal"),
        pytest.param(r"eth\d", r'"eth\\d"', id="a backslash of RE2 arrives as one"),
        pytest.param('\\"', r'"\\\""', id="a backslash does not free the quote after it"),
        pytest.param("a\nb", r'"a\nb"', id="a newline is not allowed inside"),
        pytest.param("\r\t", r'"\r\t"', id="named escapes"),
        pytest.param("\x00\x7f\u2028", r'"\u0000\u007f\u2028"', id="what cannot be printed"),
        pytest.param("\U000e0001", r'"\U000e0001"', id="beyond the basic plane"),
        pytest.param("größe", '"größe"', id="letters of other languages are left"),
    ],
)
def test_text_becomes_a_go_string(text: str, want: str) -> None:
    assert string(text) == want


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])))
def test_a_string_is_read_back_as_it_was(text: str) -> None:
    # On the basic plane Go's escapes that we use are those of JSON.
    assert json.loads(string(text)) == text


@given(st.text())
def test_nothing_ends_a_string_early(text: str) -> None:
    inner = string(text)[1:-1].replace("\\\\", "")
    assert "\n" not in inner
    assert '"' not in inner.replace('\\"', "")


@pytest.mark.parametrize(
    ("seconds", "want"),
    [
        pytest.param(300, "5m", id="minutes"),
        pytest.param(90, "1m30s", id="minutes and seconds"),
        pytest.param(86400, "24h", id="a day"),
        pytest.param(5430, "1h30m30s", id="all units"),
        pytest.param(0.25, "250ms", id="below a second"),
        pytest.param(0, "1ms", id="never nothing"),
    ],
)
def test_durations_are_written_as_prometheus_reads_them(seconds: float, want: str) -> None:
    assert duration(seconds) == want


def test_label_names_that_are_no_words_are_quoted() -> None:
    assert by(["node", "k8s.node"]) == 'by (node, "k8s.node")'
    assert label('x") or vector(1') == r'"x\") or vector(1"'


def test_a_device_name_with_a_quote_is_in_every_network_query_as_data() -> None:
    hostile = 'eth0"} or vector(1) #'
    texts = [q.text for q in queries(policy_of("networkReceive", device_name=hostile)) if "device" in q.text]
    assert len(texts) == 3
    assert all(r'{device=~"eth0\"} or vector(1) #"}' in text for text in texts)
