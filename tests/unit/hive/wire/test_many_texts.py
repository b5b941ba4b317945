"""Long lists of texts are passed over many at once, and end where they end."""

from hypothesis import given
from hypothesis import strategies as st

from twinhive.hive.wire.method_table import LIST, NO_FIELDS, STRING
from twinhive.hive.wire.scanning import StructScan

RUNS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 200)), max_size=6)
"""How long texts are, and how many as long as each other follow."""


@given(RUNS, st.integers(1, 5_000), st.binary(max_size=9))
def test_a_list_of_texts_ends_where_it_ends_however_it_comes(
    runs: list[tuple[int, int]], piece: int, behind: bytes
) -> None:
    texts = [length.to_bytes(4) + b"\0" * length for length, count in runs for _ in range(count)]
    struct = bytes((LIST, 0, 0, STRING)) + len(texts).to_bytes(4) + b"".join(texts) + b"\0"
    scan = StructScan(NO_FIELDS, frozenset(), 1 << 30)
    ends = [scan.feed(struct[at : at + piece]) for at in range(0, len(struct), piece)]
    assert ends == [False] * (len(ends) - 1) + [True]
    scan = StructScan(NO_FIELDS, frozenset(), 1 << 30)
    assert scan.feed(struct + behind)
    assert scan.window == behind
