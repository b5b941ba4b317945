"""The memory that planning needs does not depend on the number of files."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.generated_listing import GeneratedListing, Shape
from twinhive.syncing.actions import Kind
from twinhive.syncing.path_rule import Layout, Root
from twinhive.syncing.places import Places
from twinhive.syncing.plan import Plan
from twinhive.syncing.planning import make_plan
from twinhive.syncing.request import SyncOptions

SOURCE, TARGET = "hdfs://east/d", "hdfs://west/t"
MIB = 2**20


@contextmanager
def planned(shape: Shape, target: Shape | None, **given: object) -> Iterator[tuple[Plan, float]]:
    """Plan a copy of a generated tree; yield the plan, and the most memory (MiB) that it took."""
    east, west = GeneratedListing(SOURCE, shape, longer=True), GeneratedListing(TARGET, target)
    source, there = east.status(SOURCE), west.status(TARGET)
    assert source
    layout = Layout(Places(TARGET, there is None), (Root(source, "", there),))
    tracemalloc.start()
    try:
        plan = make_plan(layout, SyncOptions.of(given), east, west)  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    with plan:
        yield plan, peak / MIB


WIDE, FLAT, NARROW = Shape(300, 1000), Shape(1, 300_000), Shape(30_000, 1)


@pytest.mark.parametrize("shape", [WIDE, FLAT], ids=["many directories", "one directory"])
def test_a_list_of_the_files_would_break_the_bound(shape: Shape) -> None:
    tracemalloc.start()
    pages = GeneratedListing(SOURCE, shape).list_pages(
        [f"{SOURCE}/d{number:08d}" for number in range(shape.directories)]
    )
    kept = [status for _, page in pages for status in page or ()]
    peak = tracemalloc.get_traced_memory()[1] / MIB
    tracemalloc.stop()

    assert len(kept) == 300_000
    assert peak > 60


@pytest.mark.parametrize("shape", [WIDE, FLAT], ids=["many directories", "one directory"])
def test_files_that_are_equal(shape: Shape) -> None:
    with planned(shape, shape, compare="time") as (plan, peak):
        assert plan.totals.files[Kind.SKIP].files == 300_000
        assert plan.changes == 0

    assert peak < 15


def test_files_that_are_new() -> None:
    with planned(WIDE, None) as (plan, peak):
        assert plan.totals.files[Kind.COPY].files == 300_000

    assert peak < 15


def test_directories_that_wait_to_be_listed() -> None:
    with planned(NARROW, NARROW, compare="time") as (plan, peak):
        assert plan.totals.directories == 30_001

    assert peak < 15
