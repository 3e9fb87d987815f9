from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from plimsoll.cluster.quantity import exact, milli, whole
from plimsoll.errors import QuantityError

SUFFIXES = ["", "n", "u", "m", *"kMGTPE", *(f"{letter}i" for letter in "KMGTPE")]

digits = st.integers(min_value=0, max_value=10**12).map(str)
numbers = st.one_of(digits, st.tuples(digits, digits).map(".".join), digits.map(".{}".format), digits.map("{}.".format))
common = st.tuples(st.sampled_from(["", "+", "-"]), numbers, st.sampled_from(SUFFIXES)).map("".join)


@settings(max_examples=150, deadline=None)
@given(common)
@example("1E")
@example("1Ei")
def test_a_quantity_is_what_the_official_client_reads(text: str) -> None:
    with localcontext(prec=200):
        assert exact(text) == Fraction(parse_quantity(text))


@settings(max_examples=50, deadline=None)
@given(digits, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.integers(min_value=0, max_value=18))
def test_an_exponent_is_what_the_official_client_reads(number: str, letter: str, sign: str, exponent: int) -> None:
    text = f"{number}{letter}{sign}{exponent}"
    with localcontext(prec=200):
        assert exact(text) == Fraction(Decimal(parse_quantity(text)))


@settings(max_examples=50, deadline=None)
@given(common.filter(lambda text: abs(exact(text)) < 2**53))
def test_rounding_goes_up_and_by_less_than_one(text: str) -> None:
    assert whole(text) == math.ceil(exact(text))
    assert milli(text) == math.ceil(exact(text) * 1000)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("1", 1000, id="a core"),
        pytest.param("0.5m", 1, id="half a milli counts as one"),
        pytest.param("100u", 1, id="so do a hundred micro"),
        pytest.param("1.0001", 1001, id="a little above a core"),
        pytest.param("2e-1", 200, id="a negative exponent"),
        pytest.param("1k", 1_000_000, id="decimal kilo"),
        pytest.param("0", 0, id="nothing"),
        pytest.param(2, 2000, id="a YAML integer"),
        pytest.param(0.1, 100, id="a YAML float, by its shortest spelling"),
        pytest.param("+250m", 250, id="a plus sign"),
    ],
)
def test_cpu_is_counted_in_milli_rounded_up(text: object, want: int) -> None:
    assert milli(text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("100m", 1, id="a tenth of a byte is a byte"),
        pytest.param("1.5Gi", 3 * 2**29, id="a fraction of a binary unit"),
        pytest.param(".5Ki", 512, id="no digit before the point"),
        pytest.param("5.", 5, id="no digit after it"),
        pytest.param("1E", 10**18, id="E alone is exa"),
        pytest.param("1E3", 1000, id="E with a number is an exponent"),
        pytest.param("1e3", 1000, id="so is e"),
        pytest.param("8Ei", 2**63 - 1, id="what an int64 does not hold is capped"),
        pytest.param("999999E", 2**63 - 1, id="however large"),
        pytest.param("-999999E", -(2**63 - 1), id="or small"),
        pytest.param("1e30", 2**63 - 1, id="the largest exponent that is read"),
    ],
)
def test_bytes_and_pieces_are_counted_whole_rounded_up(text: object, want: int) -> None:
    assert whole(text) == want


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "1 Gi", " 1", "1\n", "1K", "1ki", "1KI", "1mm", "Gi", "m", ".", "-", "e3", "1e", "1e3Ki", "1e3m",
        "0x10", "1_000", "1,5", "NaN", "Infinity", "\N{ARABIC-INDIC DIGIT ONE}", "--1", "1e31", "1e999999999", "9" * 5000, "1e" + "9" * 5000,
        None, True, [], {}, float("nan"), float("inf"),
    ],
    ids=lambda text: repr(text)[:20],
)  # fmt: skip
def test_anything_else_is_refused_with_a_sentence(text: object) -> None:
    with pytest.raises(QuantityError, match="is not a quantity") as refusal:
        exact(text)
    assert len(str(refusal.value)) < 200
