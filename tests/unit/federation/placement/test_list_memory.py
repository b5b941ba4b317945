"""A list of copies is written batch by batch: no more files are held than one batch may have by its bytes."""

import gc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies_world import CopiesWorld, a_placement
from twinhive.core.model.files import copying_weight
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_lists import CopyList, objects_of, open_list
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.replication.dump.shards import pack_lines
from twinhive.transfer.staged.staged_files import CopyItem

FILES = 20
BATCH = copying_weight(2 * FILES, 2 * FILES)
"""What two partitions weigh."""


class Lists:
    """A table whose partitions have some files each, and a placement with batches of two of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **partitions: int) -> None:
        options = {"batch_objects": 1000, "batch_bytes": BATCH, "partitions_per_call": 1000}
        self.world = CopiesWorld(a_placement(options=options))
        self.world.users.create_table("orders", ("day",))
        made = {(name,): {f"f{one}": b"x" for one in range(files)} for name, files in partitions.items()}
        self.world.users.add_partitions("orders", made)
        self.held: list[int] = []

        def packing(lines: Iterable[str]) -> bytes:
            def looking() -> Iterator[str]:
                for number, line in enumerate(lines):
                    if number % 10 == 0:
                        self.held.append(sum(isinstance(one, CopyItem) for one in gc.get_objects()))
                    yield line

            return pack_lines(looking())

        monkeypatch.setattr("twinhive.federation.placement.copy_lists.pack_lines", packing)

    def write(self) -> CopyList:
        before = sum(isinstance(one, CopyItem) for one in gc.get_objects())
        made = ListCopies(Work(self.world.placement)).run(self.world.ports())
        self.held = [held - before for held in self.held]
        return open_list(self.world.north, self.world.placement, made.dump)

    def objects(self, made: CopyList) -> list[dict[str, int]]:
        """Return how many files each object of each batch has."""
        found: list[Any] = [objects_of(self.world.north, self.world.placement, made.name, b.name) for b in made.batches]
        return [{one.values[0]: sum(1 for _ in items) for one, items in objects.items()} for objects in found]


@pytest.mark.thorough
def test_many_objects_with_files(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = Lists(monkeypatch, **{f"d{number:03d}": FILES for number in range(50)})
    made = lists.write()
    assert [batch.files for batch in made.batches] == [2 * FILES] * 25
    assert all(objects == dict.fromkeys(objects, FILES) for objects in lists.objects(made))
    assert max(lists.held) <= 4 * FILES, "two batches are held at most, and there are 25"


@pytest.mark.thorough
def test_one_object_that_is_more_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = Lists(monkeypatch, a=5, b=1000, c=0, d=7)
    made = lists.write()
    assert lists.objects(made) == [{"a": 5}, {"b": 1000}, {"c": 0, "d": 7}]
    assert [(batch.objects, batch.files, batch.bytes) for batch in made.batches] == [
        (1, 5, 5),
        (1, 1000, 1000),
        (2, 7, 7),
    ]
    assert max(lists.held) <= 3 * FILES, "its lines are packed as they are listed"


@pytest.mark.thorough
def test_another_list_of_the_same_files_has_the_same_token(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = {Lists(monkeypatch, a=5, b=1000, c=3).write().token for _ in range(2)}
    assert len(tokens) == 1
    assert Lists(monkeypatch, a=5, b=1000, c=4).write().token not in tokens


def test_the_files_of_one_large_object_are_not_held_while_it_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    files = 200
    lists = Lists(monkeypatch, a=5, b=files)
    work = Work(lists.world.placement)
    listed = ListCopies(work).run(lists.world.ports())
    for batch in listed.batches:
        CopyObjects(replace(work, batch=batch.name, dump=listed.dump)).run(lists.world.ports())
    gc.collect()
    held, read = list[int](), CopyItem.from_line

    def reading(line: str) -> CopyItem:
        held.append(sum(isinstance(one, CopyItem) for one in gc.get_objects()) if len(held) % 50 == 0 else 0)
        return read(line)

    monkeypatch.setattr(CopyItem, "from_line", reading)
    assert PublishCopies(work).run(lists.world.ports()).files == 5 + files
    assert len(held) >= 3 * files and max(held) <= 3 * FILES
    lists.world.assert_complete("orders day=a", "orders day=b")
