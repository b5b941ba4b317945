"""Ledgers hold what was put; comparing two finds exactly the leaves that differ; both in bounded memory."""

import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinhive.replication.comparison.hash_tree import BUCKETS, DifferenceKind, bucket_of, differing, top_of, tree_of
from twinhive.replication.comparison.leaf_records import (
    NOT_READ,
    WIDTH,
    LeafRecord,
    Ledger,
    LedgerBuilder,
    digest_of_content,
    digest_of_form,
    digest_of_look,
    digest_of_names,
    leaf_key,
)


def a_record(name: str, meta: object = "", names: object = 0, content: str | None = None) -> LeafRecord:
    return LeafRecord(
        leaf_key(name),
        digest_of_form({"meta": meta}),
        digest_of_names({"f": names}),
        NOT_READ if content is None else digest_of_content({"f": content}),
        digest_of_look((1, 2)),
    )


values = st.sampled_from(["a", "b"])
leaves = st.dictionaries(st.text(max_size=3), st.tuples(values, values, values | st.none()), max_size=30)


def ledger_of(some) -> Ledger:
    return Ledger.of(a_record(name, *fields) for name, fields in some.items())


@given(leaves)
def test_a_ledger_gives_back_what_was_put(some) -> None:
    ledger = ledger_of(some)
    assert len(ledger) == len(some)
    assert all(ledger.get(leaf_key(name)) == a_record(name, *fields) for name, fields in some.items())
    assert ledger.get(leaf_key("not there")) is None
    assert [one.key for one in ledger.all()] == sorted(map(leaf_key, some))
    assert all(len(one.packed()) == WIDTH == 56 for one in ledger.all())


@given(leaves, leaves)
def test_a_builder_takes_records_in_any_order_and_the_last_one_counts(first, second) -> None:
    builder = LedgerBuilder()
    for some in (first, second):
        for name, fields in some.items():
            builder.put(a_record(name, *fields))
    assert builder.ledger() == ledger_of({**first, **second})


@given(leaves, leaves)
def test_exactly_the_leaves_that_differ_are_found(source, replica) -> None:
    found = dict(differing(ledger_of(source), ledger_of(replica)))
    assert found == {
        leaf_key(name): kind
        for name in source.keys() | replica.keys()
        if (kind := expected(source.get(name), replica.get(name))) is not None
    }


def expected(here, there) -> DifferenceKind | None:
    if here is None or there is None:
        return DifferenceKind.MISSING if there is None else DifferenceKind.EXTRA
    if here[0] != there[0]:
        return DifferenceKind.META
    if here[1] != there[1]:
        return DifferenceKind.NAMES
    return DifferenceKind.CONTENT if None not in (here[2], there[2]) and here[2] != there[2] else None


@given(leaves)
def test_looks_are_no_part_of_the_tree(some) -> None:
    ledger = ledger_of(some)
    other = Ledger.of(replace(one, look=digest_of_look(None)) for one in ledger.all())
    assert tree_of(ledger) == tree_of(other)
    assert top_of(ledger) == top_of(other)


def test_there_are_4096_buckets_and_leaves_fall_into_all_of_them() -> None:
    assert {bucket_of(leaf_key(str(number))) for number in range(60_000)} == set(range(BUCKETS))


def test_checksums_of_no_files_are_known() -> None:
    assert digest_of_content({}) != NOT_READ


@pytest.mark.thorough
def test_two_ledgers_of_many_leaves_take_little_more_than_their_bytes() -> None:
    leaves = 20_000
    tracemalloc.start()
    try:
        sides = []
        for _ in range(2):
            builder = LedgerBuilder()
            for number in range(leaves):
                builder.put(LeafRecord(leaf_key(str(number)), bytes(12), bytes(10), NOT_READ, bytes(8)))
            sides.append(builder.ledger())
            del builder
        assert list(differing(*sides)) == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Two ledgers, one that is being built beside them, and a segment or two taken apart.
    assert peak < 4 * leaves * WIDTH
