"""A job writes into one table: in another one of the same name and place it is another write."""

from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.hive.metastore_objects import a_table
from tests.support.worlds.fake_world import Killed, KillSwitch
from tests.unit.publishing.partition_writes.test_partition_writer import NAME, Written, of_parquet
from twinhive.core.model.thrift_objects import TableIdentity

PLACE = "hdfs://east/ext/days"


class WrittenAgain(Written):
    """An external table whose files stay where they are when it is dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.world.source.drop_table(NAME, delete_data=True)
        self.make()

    def make(self) -> None:
        table = of_parquet(a_table("sales", "days", keys=("p",), location=PLACE, table_type="EXTERNAL_TABLE"))
        self.world.source.create_table(replace(table, table_type="EXTERNAL_TABLE"))

    def make_again(self) -> None:
        self.world.source.drop_table(NAME, delete_data=False)
        self.make()

    def files(self, name: str = "") -> dict[str, bytes]:
        files = self.world.source_files
        return {path: files.read(path) for path in files.paths() if path.startswith(f"{PLACE}/") and name in path}

    def forget_tables(self) -> None:
        """Leave directories of jobs as earlier versions have made them."""
        for path in self.files("/table.json"):
            self.world.source_files.delete_file(path)


@pytest.fixture
def written() -> WrittenAgain:
    return WrittenAgain()


@pytest.mark.parametrize("mode", ["add", "append", "overwrite"])
def test_the_same_job_writes_into_a_table_that_was_made_again(written: WrittenAgain, mode: str) -> None:
    for _ in range(3):
        done = written.write({"a": ["1"]}, mode, set_done="p=a")
        assert (done.already, written.rows(), written.marks()) == (False, {"a": ["1"]}, [("p=a", 1, 1)])
        again = written.write({"a": ["other rows"]}, mode, set_done="p=a")
        assert (again.already, written.rows(), written.marks()) == (True, {"a": ["1"]}, [("p=a", 1, 1)])
        before = written.files()
        written.make_again()
        assert written.files() == before
        assert written.rows() == {}


def test_what_was_written_into_the_table_before_stays(written: WrittenAgain) -> None:
    written.write({"a": ["1"]})
    (partition,) = written.world.source.partitions(NAME, ["p=a"])
    before = written.files()
    written.make_again()
    written.world.source.add_partitions([partition])  # by ADD PARTITION ... LOCATION
    written.write({"b": ["2"]}, "append")
    assert written.rows() == {"a": ["1"], "b": ["2"]}
    assert before.items() <= written.files().items()


def test_a_job_that_was_cut_off_does_not_go_on_in_another_table() -> None:
    for at in range(1, 100):
        written, switch = WrittenAgain(), KillSwitch(at, after_effect=True)
        with suppress(Killed):
            written.write({"a": ["old"], "b": ["old"]}, switch=switch)
        written.make_again()
        done = written.write({"a": ["new"]})
        assert (done.already, written.rows()) == (False, {"a": ["new"]})
        if switch.count < at:
            break
    assert 10 < at < 99


def test_a_table_that_was_altered_is_the_same(written: WrittenAgain) -> None:
    written.write({"a": ["1"]})
    table = written.world.source.table(NAME)
    assert table is not None
    written.world.source.alter_table(NAME, table.with_parameters({**table.parameters, "mine": "1"}))
    assert written.write({"a": ["1"]}).already


def test_a_directory_of_an_earlier_version_is_trusted_and_goes_on(written: WrittenAgain) -> None:
    written.write({"a": ["1"]})
    written.forget_tables()
    assert written.write({"a": ["1"]}).already
    written.make_again()
    assert not written.write({"a": ["1"]}).already


def test_what_only_one_of_two_says_tells_nothing() -> None:
    one = TableIdentity(7, 1_000)
    assert not any(one.is_another(other) for other in (one, TableIdentity(None, 1_000), TableIdentity(None, None)))
    assert one.is_another(TableIdentity(8, 1_000)) and one.is_another(TableIdentity(None, 2_000))
    assert TableIdentity.decode(one.encode()) == one
    assert TableIdentity.decode(b"{}") == TableIdentity(None, None)
