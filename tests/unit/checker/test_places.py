"""The users of a random history put no two managed tables into one directory."""

from random import Random

from tests.checker.occupied_directories import Places
from tests.checker.random_users.statement import NAMES
from tests.checker.random_users.statement_choice import Statements
from tests.checker.random_users.writers import Crowd
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World


def a_crowd() -> Crowd:
    world = World()
    SourceWriter.with_database(world.source, world.source_files, "sales")
    return Crowd(Random(1), world.source, world.source_files, "sales", statements=0)


def elsewhere(crowd: Crowd, name: str) -> str:
    return f"{crowd.files.root}/elsewhere/{name}"


def shared(crowd: Crowd) -> list[str]:
    return Places.of(crowd.metastore, crowd.database).shared()


def made_under(crowd: Crowd) -> set[str | None]:
    """Return the names that tables may get now."""
    return {Statements(crowd)._free_table() for _ in range(100)}


def test_a_table_gets_no_name_whose_directory_a_renamed_one_has_kept() -> None:
    crowd = a_crowd()
    crowd.users.create_table("x", location=crowd.users.default_location("a"))
    assert made_under(crowd) == set(NAMES) - {"a"}


def test_a_table_gets_no_name_in_whose_directory_partitions_were_left() -> None:
    crowd = a_crowd()
    crowd.users.create_table("a", ["p"])
    crowd.users.add_partitions("a", {("1",): {}})
    crowd.users.set_location("a", elsewhere(crowd, "1"))
    crowd.users.rename_table("a", "b")
    assert made_under(crowd) == {"c", "d"}


def test_a_table_is_not_made_anew_where_another_one_lies() -> None:
    crowd = a_crowd()
    crowd.users.create_table("a", location=crowd.users.default_location("b"))
    crowd.users.create_table("b", location=elsewhere(crowd, "1"))
    offered = {statement.what for _ in range(50) if (statement := Statements(crowd).replace_table())}
    assert {what.split()[3] for what in offered} == {"a"}


def test_tables_that_share_a_directory_are_named() -> None:
    crowd = a_crowd()
    crowd.users.create_table("a", ["p"])
    crowd.users.add_partitions("a", {("1",): {}})
    assert shared(crowd) == []
    crowd.users.create_table("b", location=f"{crowd.users.default_location('a')}/p=1")
    assert shared(crowd) == [
        f"tables a and b share {crowd.users.default_location('a')}",
        f"tables a and b share {crowd.users.default_location('a')}/p=1",
    ]
