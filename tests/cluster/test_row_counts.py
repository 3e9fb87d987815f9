from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given

from plimsoll.cluster import row_counts
from plimsoll.cluster.domains import DomainColumn
from plimsoll.cluster.row_counts import RowCounts

ROWS = 12


@pytest.mark.parametrize("rows_per_entry", [1, 3, 32], ids=["mostly a dict", "now this, now that", "an array"])
@given(zones=st.lists(st.sampled_from(["", "a", "b", None]), min_size=ROWS, max_size=ROWS), data=st.data())
def test_sums_by_domain_follow_what_comes_and_goes(
    rows_per_entry: int, zones: list[str | None], data: st.DataObject
) -> None:
    column, counts, plain = DomainColumn("zone"), RowCounts(), Counter[int]()
    for row in range(data.draw(st.integers(2, ROWS))):
        column.put(row, {} if (zone := zones[row]) is None else {"zone": zone})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_counts, "_ROWS_PER_ENTRY", rows_per_entry)
        for row in data.draw(st.lists(st.integers(0, ROWS - 1), min_size=5, max_size=30)):
            # A row beyond the last is a node that comes.
            for new in range(len(column.ids), row + 1):
                column.put(new, {} if (zone := zones[new]) is None else {"zone": zone})
            amount = -1 if plain[row] and data.draw(st.booleans()) else 1
            counts.add(row, amount)
            plain[row] += amount
            got = {column.names[i]: n for i, n in enumerate(counts.by_domain(column).tolist()) if n}
            assert got == dict(+_by_zone(plain, zones))
            assert counts.by_row == dict(+plain)


def _by_zone(plain: Counter[int], zones: list[str | None]) -> Counter[str]:
    found: Counter[str] = Counter()
    for row, count in plain.items():
        if (zone := zones[row]) is not None:
            found[zone] += count
    return found
