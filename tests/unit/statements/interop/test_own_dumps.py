"""Dumps that we have written for Hive are told from Hive's own, and those that no load needs from the others."""

import pytest

from tests.unit.statements.interop.hive_world import ROOT, HiveWorld
from twinhive.statements.interop.hive_dump.hive_layout import HivePlaces, dumps_of_database
from twinhive.statements.interop.hive_dump.own_dumps import done_with, own_dumps


@pytest.fixture
def hive() -> HiveWorld:
    return HiveWorld()


def done(hive: HiveWorld) -> list[str]:
    return [dump.directory for dump in done_with(own_dumps(hive.files, ROOT, "sales"))]


def three_dumps(hive: HiveWorld) -> list[str]:
    return [hive.write(hive.our_dump()) for _ in range(3)]


def test_what_nobody_has_loaded_is_not_done_with(hive: HiveWorld) -> None:
    dumps = three_dumps(hive)
    assert [dump.directory for dump in own_dumps(hive.files, ROOT, "Sales")] == dumps
    assert done(hive) == []


def test_a_load_is_done_with_its_dump_and_all_before_it(hive: HiveWorld) -> None:
    first, second, _ = three_dumps(hive)
    hive.files.write(HivePlaces.below(second).loaded, b"")
    assert done(hive) == [first, second]


def test_one_that_was_cut_off_is_done_with(hive: HiveWorld) -> None:
    _, second, _ = three_dumps(hive)
    hive.files.delete(HivePlaces.below(second).finished)
    assert done(hive) == [second]


def test_hives_own_are_none_of_ours(hive: HiveWorld) -> None:
    own = hive.write(hive.our_dump())
    token = f"{dumps_of_database(ROOT, 'sales')}/0bc2c2a5-5f2f-4c1e-a1b0-5f8a4d8c6a11"
    hive.files.rename(own, token)
    hive.files.write(HivePlaces.below(token).loaded, b"")
    assert own_dumps(hive.files, ROOT, "sales") == []
    assert own_dumps(hive.files, ROOT, "nothere") == []
