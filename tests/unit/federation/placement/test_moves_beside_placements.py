"""The move of one table leaves what a placement has of the others alone."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import CopiesWorld
from tests.unit.federation.placement.test_move_primary import a_placed_world, adopt, rows
from twinhive.core.model.placement.copy_marks import CopyMark


def marks_of_others(world: CopiesWorld, table: str) -> dict[str, CopyMark]:
    return {name: mark for name, (_, mark) in world.marked().items() if name.split()[0] != table}


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_the_marks_of_other_tables_stay_as_they_are_through_a_move(table: str) -> None:
    expected = marks_of_others(a_placed_world(), table)
    assert expected
    for world in left_by_kills(a_placed_world, lambda world, switch: adopt(world, table, switch)):
        assert marks_of_others(world, table) == expected
        adopt(world, table)
        assert marks_of_others(world, table) == expected
        before = rows(world, table)
        assert world.run()["list_copies"].unmarked == 0
        assert marks_of_others(world, table) == expected and rows(world, table) == before
