"""Directories that are made ahead: who is refused one is told, and nobody else pays for it."""

from typing import ClassVar

import pytest

from tests.support.worlds.fake_world import a_world
from twinhive.core.model.errors import Missing, Refused
from twinhive.core.model.names import TableName
from twinhive.replication.apply.file_moves import Placing

ROOT = "hdfs://west/w/"
OTHERS = [f"{ROOT}b/p={number:03}" for number in range(100)]
REFUSED = f"{ROOT}a"


class Directories:
    """A file system in which one directory is refused."""

    def __init__(self) -> None:
        self.made: set[str] = set()

    def make_directories(self, path: str) -> None:
        if path == REFUSED:
            raise Refused("a quota")
        self.made.add(path)


@pytest.mark.parametrize("refused_by", ["make_directories", "own"])
def test_after_a_refusal_each_action_makes_its_own_directories(refused_by: str) -> None:
    files, world = Directories(), a_world()
    placing = Placing(files, world.source_files, f"{ROOT}staging")
    contents = [(REFUSED if refused_by == "make_directories" else f"{ROOT}c", ()), *((one, ()) for one in OTHERS)]

    def own(path: str) -> None:
        if refused_by == "own":
            raise Refused("an attribute")

    with pytest.raises(Refused):
        placing.place_ahead(contents, own)
    files.made.clear()
    for directory in OTHERS:
        placing.place(TableName("sales", "b"), directory, ())
    assert files.made == {*OTHERS}


def test_what_was_made_ahead_is_not_made_again() -> None:
    files, world = Directories(), a_world()
    placing = Placing(files, world.source_files, f"{ROOT}staging")
    placing.place_ahead([(one, ()) for one in OTHERS], lambda path: None)
    assert files.made == {*OTHERS}
    files.made.clear()
    placing.place(TableName("sales", "b"), OTHERS[0], ())
    assert files.made == set()


def test_after_a_refusal_an_innocent_directory_has_its_owner_when_it_is_there() -> None:
    files, world = Directories(), a_world()

    class Owners:
        """Give an owner to what is there."""

        given: ClassVar[list[str]] = []

        def give(self, original: str, path: str) -> bool:
            if path not in files.made:
                raise Missing(f"{path}: it is gone before it has its owner")
            self.given.append(path)
            return True

    placing = Placing(files, world.source_files, f"{ROOT}staging", Owners())
    for directory in (REFUSED, *OTHERS):
        placing.comes_from(directory, directory.replace("west", "east"))
    with pytest.raises(Refused):
        placing.place_ahead([(one, ()) for one in (REFUSED, *OTHERS)], lambda path: None)
    for directory in OTHERS:
        placing.place(TableName("sales", "b"), directory, ())
    assert sorted(Owners.given) == OTHERS


def test_a_directory_has_its_owner_when_who_was_refused_it_tries_again() -> None:
    files, world = Directories(), a_world()

    class Owners:
        """Refuse the first time."""

        given: ClassVar[list[str]] = []
        refuses = True

        def give(self, original: str, path: str) -> bool:
            if self.refuses:
                raise Refused("an owner")
            self.given.append(path)
            return True

    owners = Owners()
    placing = Placing(files, world.source_files, f"{ROOT}staging", owners)
    placing.comes_from(OTHERS[0], OTHERS[0].replace("west", "east"))
    with pytest.raises(Refused):
        placing.place(TableName("sales", "b"), OTHERS[0], ())
    owners.refuses = False
    placing.place(TableName("sales", "b"), OTHERS[0], ())
    assert owners.given == [OTHERS[0]]
