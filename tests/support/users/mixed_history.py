"""Write the same 1,000 events each time: on some twenty tables, everything that users of a source do.

Nothing here is random, and each file has a name and a content of its own.
"""

from collections.abc import Mapping

from tests.support.users.source_writer import SourceWriter

EVENTS = 1_000
SCRATCH = "scratch"
"""A table for a policy to exclude: its events are in the log all the same."""
_ROUNDS = 20
SCRATCH_EVENTS = 2 * _ROUNDS
_PARTITIONED, _PLAIN, _DAYS = 12, 6, 10


def create_tables(users: SourceWriter) -> None:
    """Create what is there before the history begins: tables, with and without partitions, a view, a function."""
    for number in range(_PARTITIONED):
        table = _partitioned(number)
        users.create_table(table, keys=("day",))
        users.add_partitions(table, {(f"d{day}",): _file(f"{table}-{day}") for day in range(_DAYS)})
    for number in range(_PLAIN):
        users.create_table(_plain(number), files=_file(_plain(number)))
    users.create_table(SCRATCH, files=_file(SCRATCH))
    users.create_view("seen")
    users.create_table("parted_0", keys=("day",))
    _create_function(users, 0)


def write_history(users: SourceWriter) -> None:
    """Write 1,000 events, in twenty rounds of fifty that each do the same on other tables."""
    for number in range(_ROUNDS):
        _change_partitions(users, _partitioned(number), f"r{number}")
        _write_rows(users, number)
        _alter_tables(users, number)
        _make_and_drop_tables(users, number)
        _change_details(users, number)


def _change_partitions(users: SourceWriter, table: str, tag: str) -> None:
    """Write 13 events."""
    first, second, third, renamed = ((f"{tag}{letter}",) for letter in "abcd")
    users.add_partitions(table, {first: _file(f"{tag}-1"), second: {}, third: _file(f"{tag}-2")})
    users.insert(table, second, _file(f"{tag}-3"))
    users.overwrite(table, second, _file(f"{tag}-4"))
    users.alter_partition(table, first, {"note": tag})
    users.alter_partitions(table, [first, second], {"checked": tag})
    users.rename_partition(table, first, renamed)
    users.drop_partitions(table, [second])
    users.truncate(table, [third])
    elsewhere = f"{users.files.root}/elsewhere/{table}/{tag}"
    users.files.write(f"{elsewhere}/f", tag.encode())
    users.set_partition_location(table, third, elsewhere)
    users.insert(table, renamed, {f"deep/{tag}": tag.encode()})


def _write_rows(users: SourceWriter, number: int) -> None:
    """Write 13 events, two of them on the scratch table."""
    plain, tag = _plain(number), f"w{number}"
    for day in range(3):
        users.insert(_partitioned(number + 5), (f"d{(number + day) % _DAYS}",), _file(f"{tag}-{day}"))
    users.insert(plain, None, _file(f"{tag}-3"))
    users.overwrite(plain, None, _file(f"{tag}-4"))
    users.truncate(plain)
    users.insert(SCRATCH, None, _file(f"{tag}-5"))


def _alter_tables(users: SourceWriter, number: int) -> None:
    """Write 4 events."""
    users.add_columns(_partitioned(number), [(f"extra_{number}", "string")], cascade=number % 2 == 0)
    users.set_parameters(_plain(number), {"colour": str(number)})
    users.set_owner("seen", f"owner_{number}")
    users.alter_database_parameters({"round": str(number)})


def _make_and_drop_tables(users: SourceWriter, number: int) -> None:
    """Write 10 events."""
    made, parted = f"made_{number}", f"parted_{number + 1}"
    users.create_table(made, files=_file(f"{made}-1"))
    users.insert(made, None, _file(f"{made}-2"))
    users.rename_table(made, f"kept_{number}")
    users.create_table(f"{parted}_new", keys=("day",))
    users.add_partitions(f"{parted}_new", {(f"d{day}",): _file(f"{parted}-{day}") for day in range(3)})
    users.rename_table(f"{parted}_new", parted)
    users.drop_table(f"parted_{number}")
    users.create_view(f"view_{number}")
    users.drop_table(f"view_{number}")


def _change_details(users: SourceWriter, number: int) -> None:
    """Write 10 events."""
    kept = f"kept_{number}"
    _create_function(users, number + 1)
    users.drop_function(f"f{number}")
    users.add_constraint(kept, "primary_key", "pk")
    users.add_constraint(kept, "not_null", "nn")
    users.add_constraint(f"parted_{number + 1}", "foreign_key", "fk", parent=kept)
    users.drop_constraint(kept, "nn")
    users.update_statistics(kept)
    users.update_statistics(_partitioned(number + 5), ("d0",))
    users.delete_statistics(kept, column="id")


def _create_function(users: SourceWriter, number: int) -> None:
    jar = f"{users.files.root}/jars/f{number}.jar"
    users.files.write(jar, f"jar {number}".encode())
    users.create_function(f"f{number}", [jar])


def _file(name: str) -> Mapping[str, bytes]:
    return {f"part-{name}": name.encode()}


def _partitioned(number: int) -> str:
    return f"by_day_{number % _PARTITIONED}"


def _plain(number: int) -> str:
    return f"plain_{number % _PLAIN}"
