"""The memory that planning needs does not depend on the number of files."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.hdfs.generated_listing import GeneratedListing, Shape
from twinhive.transfer.tree.path_rule import Layout, Root
from twinhive.transfer.tree.planning.make_plan import make_plan
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.tree_actions import ActionKind
from twinhive.transfer.tree.work_directories import Places

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


def in_a_list(shape: Shape) -> float:
    """Return the memory (MiB) that the statuses of one side alone need."""
    east = GeneratedListing(SOURCE, shape)
    tracemalloc.start()
    kept = [
        status
        for number in range(shape.directories)
        for _, page in east.list_pages([f"{SOURCE}/d{number:08d}"])
        for status in page or ()
    ]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(kept) == shape.all_files
    return peak / MIB


def test_a_large_directory_of_equal_files_is_never_held() -> None:
    shape = Shape(directories=1, files=10_000, page=100)
    with planned(shape, shape, compare="time") as (plan, peak):
        assert plan.totals.files[ActionKind.SKIP].files == shape.all_files
        assert plan.changes == 0

    assert peak < 2 < 3 < in_a_list(shape)


@pytest.mark.thorough
def test_a_plan_of_new_files_is_never_held() -> None:
    shape = Shape(directories=10, files=1000, page=100)
    with planned(shape, None) as (plan, peak):
        assert plan.totals.files[ActionKind.COPY].files == shape.all_files
        assert sum(1 for _ in plan.copies()) == shape.all_files

    assert peak < 2 < 3 < in_a_list(shape)
