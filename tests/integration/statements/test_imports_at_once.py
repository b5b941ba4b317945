"""Two imports into one table at once, on a real metastore and HDFS with its leases: none ends well without its rows."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.statements.test_export import ROWS, Traveller, replica, traveller
from tests.support.users.thrift_source import ThriftSource
from tests.support.worlds.fake_world import Killable
from twinhive.core.model.errors import AlreadyThere, TryAgain, TwinhiveError
from twinhive.core.model.names import TableName, partition_name
from twinhive.statements.execution import table_files

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]
__all__ = ["replica", "traveller"]
KEYS = ("day", "region")
ONE, OTHER = ROWS
WHOLE = {partition_name(KEYS, values): files for values, files in ROWS.items()}


class At:
    """Let somebody do something before the n-th change, after all that was looked at for it: as if it was frozen."""

    def __init__(self, at: int, does: Callable[[], object]) -> None:
        self._left, self._does, self.was_there = at, does, False

    def change(self, effect: Callable[[], Any]) -> Any:
        self._left -= 1
        if self._left == 0:
            self.was_there = True
            self._does()
        return effect()


class Imports:
    """Import partitions of an export of `orders` into tables of west."""

    def __init__(self, traveller: Traveller, replica: ThriftSource, patch: pytest.MonkeyPatch) -> None:
        self.traveller, self.replica, self._patch = traveller, replica, patch
        traveller.say("east", f"EXPORT TABLE {traveller.database}.orders TO '{traveller.exports}/orders'")
        traveller.west.client.create_database(traveller.east.client.get_database(traveller.database))

    def text(self, table: str, values: tuple[str, ...] | None) -> str:
        named = "" if values is None else "PARTITION (day='{}', region='{}') ".format(*values)
        return f"IMPORT TABLE {self.traveller.database}.{table} {named}FROM '{self.traveller.exports}/orders'"

    def say(self, table: str, values: tuple[str, ...] | None, switch: Any = None) -> tuple[str | int, ...]:
        """Import all partitions, or one, every change of files and metastore under a switch."""
        with self._patch.context() as patch:
            if switch is not None:
                for name in ("files", "_tables"):
                    real = getattr(table_files, name)
                    patch.setattr(table_files, name, lambda *given, real=real: Killable(real(*given), switch))
            return self.traveller.say("west", self.text(table, values))

    def ended(self, *given: Any) -> tuple[str | int, ...] | TwinhiveError:
        try:
            return self.say(*given)
        except TwinhiveError as error:
            return error

    def rows(self, table: str) -> Any:
        return self.traveller.rows(self.traveller.west, self.replica, table)

    def left_over(self, table: str) -> list[str]:
        """Return what imports have left beside the table."""
        found = self.replica.table(TableName(self.traveller.database, table))
        assert found is not None and found.location is not None
        around = found.location.rpartition("/")[0]
        ((_, children),) = self.traveller.west.files.list_directories([around])
        return [child.path for child in children or () if "/.twinhive-" in child.path]


@pytest.fixture
def imports(traveller: Traveller, replica: ThriftSource, monkeypatch: pytest.MonkeyPatch) -> Imports:
    return Imports(traveller, replica, monkeypatch)


def assert_true(imports: Imports, table: str, end: object, names: set[str]) -> None:
    """Whoever ended well has its rows, and all partitions that show have theirs."""
    shown = imports.rows(table)
    assert all(WHOLE[name] == files for name, files in shown.items()), shown
    assert isinstance(end, (TryAgain, AlreadyThere)) or names <= shown.keys(), (end, shown.keys())


def test_another_of_another_partition_before_any_change_does_no_harm(imports: Imports) -> None:
    for at in range(1, 60, 3):
        table, ends = f"t{at}", list[Any]()
        moment = At(at, lambda table=table, ends=ends: ends.append(imports.ended(table, OTHER)))
        ends.append(imports.ended(table, ONE, moment))
        if not moment.was_there:
            assert at > 15
            return
        assert not [end for end in ends if isinstance(end, TwinhiveError)], (at, ends)
        assert imports.rows(table) == WHOLE, at
        assert imports.left_over(table) == [], at
    raise AssertionError("more changes than were looked at")


def test_another_of_the_same_place_before_any_change_is_told_and_one_of_both_is_whole(imports: Imports) -> None:
    one, every = {partition_name(KEYS, ONE)}, set(WHOLE)
    for at in range(1, 60, 3):
        table, ends = f"t{at}", list[Any]()
        moment = At(at, lambda table=table, ends=ends: ends.append(imports.ended(table, None)))
        ends.append(imports.ended(table, ONE, moment))
        if not moment.was_there:
            assert at > 15
            return
        assert_true(imports, table, ends[0], every)
        assert_true(imports, table, ends[1], one)
        again = imports.ended(table, ONE), imports.ended(table, None)
        assert all(isinstance(end, (tuple, AlreadyThere)) for end in again), (at, ends, again)
        assert imports.rows(table).items() >= {name: WHOLE[name] for name in one}.items(), at
    raise AssertionError("more changes than were looked at")


@pytest.mark.parametrize("same", [False, True], ids=["two partitions", "the same partition"])
def test_two_processes_at_once(imports: Imports, same: bool) -> None:
    """Two tasks that Airflow starts in the same moment."""
    texts = [imports.text("t", ONE), imports.text("t", ONE if same else OTHER)]
    config = str(imports.traveller.policies.directory)
    command = [sys.executable, "-m", "twinhive.surfaces.cli.app", "sql"]
    started = [
        subprocess.Popen(
            [*command, text, "--cluster", "west", "--config", config],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for text in texts
    ]
    said = [one.communicate()[0] for one in started]
    codes = [one.returncode for one in started]
    names = {partition_name(KEYS, values) for values in ((ONE,) if same else (ONE, OTHER))}
    assert imports.rows("t") == {name: WHOLE[name] for name in names}, said
    assert (0 in codes) if same else codes == [0, 0], said
    assert all("Traceback" not in text for text in said), said
