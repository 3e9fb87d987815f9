from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.reporting.text import cut


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("short", "short", id="what fits stays"),
        pytest.param("0123456789abc", "012345 ...", id="what does not is cut"),
        pytest.param("ééééééé", "ééé ...", id="between characters"),
        pytest.param("a\ud800b", "a?b", id="half a surrogate pair"),
        pytest.param("\ud800" * 20, "?????? ...", id="many halves"),
    ],
)
def test_a_sentence_is_cut_to_bytes_of_utf_8(text: str, want: str) -> None:
    assert cut(text, max_bytes=10) == want


@given(st.text(st.characters()), st.integers(min_value=4, max_value=40))
def test_every_text_fits_and_can_be_sent(text: str, max_bytes: int) -> None:
    assert len(cut(text, max_bytes=max_bytes).encode()) <= max_bytes
