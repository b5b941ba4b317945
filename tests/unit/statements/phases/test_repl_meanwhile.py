"""What users do while REPL DUMP reads is not blocked, and is in the dump (seed 002, 'Bootstrap, Revisited')."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.memory_comparison import assert_twin
from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.model.errors import Missing


class Meanwhile:
    """Pass everything on to a port; when it is asked for the second directory listing, users do something first."""

    def __init__(self, port: Any, users: Callable[[], object]) -> None:
        self._port = port
        self._users = users
        self._listings = 0

    def __getattr__(self, name: str) -> Any:
        if name == "list_pages":
            self._listings += 1
            if self._listings == 2:
                self._users()
        return getattr(self._port, name)


def rename_a_table(users: SourceWriter) -> None:
    users.rename_table("plain", "plainer")


def add_and_drop_partitions(users: SourceWriter) -> None:
    users.add_partitions("orders", {("new",): {"f": b"f"}})
    users.drop_partitions("orders", [("a b",)])


def overwrite_and_drop(users: SourceWriter) -> None:
    users.overwrite("plain", None, {"data": b"other"})
    users.drop_table("empty")
    users.create_table("made", files=[b"one"])


@pytest.mark.parametrize("change", [rename_a_table, add_and_drop_partitions, overwrite_and_drop])
def test_what_happens_while_a_database_is_dumped_is_in_the_dump(change: Callable[[SourceWriter], None]) -> None:
    repl = ReplWorld()
    begin = repl.world.source.current_event_id()
    ports = repl.ports()
    dumped = repl.dump(ports=replace(ports, source_files=Meanwhile(ports.source_files, lambda: change(repl.users))))
    assert dumped.last_event == repl.world.source.current_event_id() > begin
    repl.load(dumped)
    assert_twin(repl.world)


def test_a_database_that_is_dropped_while_its_events_are_dumped_is_said() -> None:
    repl = ReplWorld()
    repl.users.create_table("made")
    begin = repl.world.source.current_event_id() - 1
    ports = repl.ports()

    class Gone:
        """Pass everything on; the database is there when it is first looked at, and never again."""

        looks = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(repl.world.source, name)

        def database(self, name: str) -> Any:
            self.looks += 1
            return repl.world.source.database(name) if self.looks == 1 else None

    with pytest.raises(Missing, match="database sales does not exist"):
        repl.dump(begin, ports=replace(ports, source=Gone()))
