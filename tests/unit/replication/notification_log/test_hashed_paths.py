"""Paths are known by their hashes: never forgotten, in few bytes, whatever the hashes are like."""

import tracemalloc

import pytest

from twinhive.replication.dump.hashed_paths import HashedPaths

PATHS = [f"hdfs://west/w/sales.db/t.7/day={number:06d}" for number in range(20_000)]


def test_what_was_added_is_known_and_nothing_else() -> None:
    known = HashedPaths()
    for path in PATHS[::2]:
        known.add(path)
    assert all(path in known for path in PATHS[::2])
    assert not any(path in known for path in PATHS[1::2])


@pytest.mark.parametrize("value", [0, -1, 2**63])
def test_paths_of_one_hash_are_taken_for_one(value: int) -> None:
    known = HashedPaths(lambda path: value)
    assert "a" not in known
    known.add("a")
    assert "b" in known


def test_hashes_that_differ_in_their_high_bits_alone_are_told_apart() -> None:
    known = HashedPaths(lambda path: int(path) << 40)
    for number in range(500):
        known.add(str(number))
    assert all(str(number) in known for number in range(500))
    assert "500" not in known


def test_a_path_takes_few_bytes_however_long_it_is() -> None:
    tracemalloc.start()
    try:
        known = HashedPaths()
        for number in range(20_000):
            known.add(f"{'long' * 100}{number}")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 20_000
