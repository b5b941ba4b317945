"""Hold what users do to a fake source and to a real one to the same events, files and change manager."""

from typing import Any

import pytest

from tests.support.hive.contract_metastores import SourceCluster
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    AddPartitions,
    AlterDatabase,
    AlterPartitions,
    AlterTable,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    DeleteStatistics,
    DropConstraint,
    DropFunction,
    DropPartitions,
    DropTable,
    EventFile,
    Insert,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import ChecksumForm, base_name
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.objects import TableKind
from twinhive.core.model.tjson import from_text
from twinhive.hive.events.decoder import decode_event
from twinhive.replication.apply.function_files import ORIGINAL


class Watch:
    """Decode what happens from now on."""

    def __init__(self, cluster: SourceCluster) -> None:
        self._cluster = cluster
        self._begin = cluster.metastore.current_event_id()

    def changes(self) -> list[Any]:
        """Return the changes since the last call."""
        rows = self._cluster.metastore.events_after(self._begin, 1_000)
        self._begin = rows[-1].event_id if rows else self._begin
        return [decode_event(row).change for row in rows]

    def change(self) -> Any:
        """Return the only change since the last call."""
        (change,) = self.changes()
        return change

    def kinds(self) -> list[type]:
        """Return the kinds of the changes since the last call."""
        return [type(change) for change in self.changes()]

    def file(self, path: str) -> EventFile:
        """Return what an event says of a file that is there now."""
        checksum = self._cluster.files.checksum(path, ChecksumForm.IDENTITY)
        assert checksum
        return EventFile(path, checksum, self._cluster.cmroot)

    def kept(self, file: EventFile) -> bytes:
        """Return what the change manager has of a file that an event named."""
        return self._cluster.files.read(f"{file.cmroot}/{base_name(file.path)}_{file.checksum}")

    def was_at(self, file: EventFile) -> str | None:
        """Return where the change manager says that a file which it keeps was."""
        return self._cluster.files.attribute(f"{file.cmroot}/{base_name(file.path)}_{file.checksum}", ORIGINAL)

    def keeps(self, file: EventFile) -> bool:
        """True when the change manager has the file."""
        return self._cluster.files.status(f"{file.cmroot}/{base_name(file.path)}_{file.checksum}") is not None


@pytest.fixture
def watch(cluster: SourceCluster, writer: SourceWriter) -> Watch:
    return Watch(cluster)


def own(writer: SourceWriter, content: str) -> bytes:
    """Return content that no other test has put into the change manager."""
    return f"{content} of {writer.database}".encode()


def test_overwrite_with_what_was_there_before(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", files={"f": own(writer, "first")})
    for content in ("second", "first", "second", "first"):
        writer.overwrite("t", None, {"f": own(writer, content)})
    inserts = [change for change in watch.changes() if isinstance(change, Insert)]
    assert [change.files[0].checksum for change in inserts[:2]] == [change.files[0].checksum for change in inserts[2:]]
    assert writer.files.read(f"{writer.location('t')}/f") == own(writer, "first")
    assert watch.keeps(inserts[0].files[0]) and watch.keeps(inserts[1].files[0])


def test_new_table_names_the_files_that_are_seen(writer: SourceWriter, watch: Watch) -> None:
    files = {"f 1": b"one", "_marker": b"", ".hidden": b"", "below/f2": b"two"}
    table = writer.create_table("t", files=files, parameters={"a": "b"})
    change = watch.change()
    assert isinstance(change, CreateTable)
    assert change.files == (watch.file(f"{table.location}/f 1"),)
    assert (change.table.name, change.table.kind, change.table.parameters["a"]) == (table.name, TableKind.MANAGED, "b")
    assert table.location == f"hdfs://east/warehouse/managed/{writer.database}.db/t"


def test_view_is_created_altered_and_dropped(writer: SourceWriter, watch: Watch) -> None:
    writer.create_view("v")
    writer.set_parameters("v", {"a": "b"})
    writer.rename_table("v", "w")
    writer.drop_table("w")
    created, altered, renamed, dropped = watch.changes()
    assert (type(created), created.table.kind, created.files) == (CreateTable, TableKind.VIEW, ())
    assert (type(altered), altered.after.parameters["a"]) == (AlterTable, "b")
    assert (renamed.before.name, renamed.after.name) == (writer.name("v"), writer.name("w"))
    assert (type(dropped), dropped.table.name) == (DropTable, writer.name("w"))


def test_dropped_files_are_kept(writer: SourceWriter, watch: Watch) -> None:
    contents = {name: own(writer, name) for name in ("f", "_marker", "below/g")}
    table = writer.create_table("t", files=contents)
    files = [watch.file(f"{table.location}/{name}") for name in contents]
    writer.drop_table("t")
    assert watch.kinds() == [CreateTable, DropTable]
    assert [watch.kept(file) for file in files] == list(contents.values())
    assert writer.files.status(str(table.location)) is None


def test_dropped_files_of_a_database_that_nobody_replicates_are_gone(writer: SourceWriter, watch: Watch) -> None:
    writer.metastore.set_database_parameters(writer.database, {})
    table = writer.create_table("t", files=[own(writer, "data")])
    (file,) = watch.change().files
    writer.drop_table("t")
    assert writer.files.status(str(table.location)) is None
    assert not watch.keeps(file)


def test_altered_table_has_a_before_and_an_after(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", ("p",))
    watch.changes()
    writer.set_parameters("t", {"a": "b"})
    writer.set_owner("t", "bob")
    writer.add_columns("t", [("extra", "string")])
    parameters, owner, columns = watch.changes()
    assert ("a" in parameters.before.parameters, parameters.after.parameters["a"]) == (False, "b")
    assert [from_text(each.thrift)["3"]["str"] for each in (owner.before, owner.after)] == ["anna", "bob"]
    assert (*columns.before.columns, ("extra", "string")) == columns.after.columns
    assert not any(change.truncates or change.renames for change in (parameters, owner, columns))


def test_cascade_is_silent(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", ("p",))
    writer.add_partitions("t", {("a",): (), ("b",): ()})
    watch.changes()
    writer.add_columns("t", [("extra", "string")], cascade=True)
    assert isinstance(watch.change(), AlterTable)
    columns = from_text(writer.partition("t", ("b",)).thrift)["6"]["rec"]["1"]["lst"][2:]
    assert [column["1"]["str"] for column in columns] == ["id", "extra"]


def test_renamed_table_moves_with_its_partitions(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", ("p",))
    writer.add_partitions("t", {("a",): {"f": b"one"}})
    watch.changes()
    writer.rename_table("t", "n")
    change = watch.change()
    assert isinstance(change, AlterTable)
    assert (change.before.name, change.after.name) == (writer.name("t"), writer.name("n"))
    assert change.after.location == f"hdfs://east/warehouse/managed/{writer.database}.db/n"
    assert writer.files.read(f"{writer.location('n', ('a',))}/f") == b"one"
    assert writer.location("n", ("a",)) == f"{change.after.location}/p=a"


def test_added_partitions_name_their_files(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", ("p", "q"))
    watch.changes()
    writer.add_partitions(
        "t", {("a b", "50%"): [b"one", b"two"], ("c", "d"): {"f": b"three", "_x": b""}, ("e", "f"): ()}
    )
    change = watch.change()
    assert isinstance(change, AddPartitions)
    found = {added.partition.values: added.files for added in change.added}
    assert found.keys() == {("a b", "50%"), ("c", "d"), ("e", "f")}
    assert {writer.files.read(file.path) for file in found["a b", "50%"]} == {b"one", b"two"}
    assert found["c", "d"] == (watch.file(f"{writer.location('t', ('c', 'd'))}/f"),)
    assert found["e", "f"] == ()
    assert all(watch.file(file.path) == file for files in found.values() for file in files)


def test_dropped_partitions_are_told_by_their_values(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", ("p",))
    writer.add_partitions("t", {(value,): [own(writer, value)] for value in ("a b", "50%", "c")})
    _, added = watch.changes()
    writer.drop_partitions("t", [("a b",), ("50%",)])
    change = watch.change()
    assert isinstance(change, DropPartitions)
    assert set(change.values) == {("a b",), ("50%",)}
    for partition in added.added:
        (file,) = partition.files
        is_dropped = partition.partition.values != ("c",)
        assert watch.keeps(file) is is_dropped
        assert (writer.files.status(file.path) is None) is is_dropped


def test_renamed_partition_has_a_before_and_an_after(writer: SourceWriter, watch: Watch) -> None:
    table = writer.create_table("t", ("p",))
    writer.add_partitions("t", {("a",): {"f": b"one"}})
    watch.changes()
    writer.rename_partition("t", ("a",), ("b c",))
    change = watch.change()
    assert isinstance(change, RenamePartition)
    assert (change.before.values, change.after.values) == (("a",), ("b c",))
    assert change.after.location == f"{table.location}/p=b c"
    assert writer.files.read(f"{table.location}/p=b c/f") == b"one"


def test_altered_partitions_say_what_is_after(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", ("p",))
    writer.add_partitions("t", {(value,): () for value in "abc"})
    watch.changes()
    writer.alter_partition("t", ("a",), {"x": "1"})
    writer.alter_partitions("t", [("b",), ("c",)], {"x": "2"})
    one, two = watch.changes()
    assert (type(one), type(two)) == (AlterPartitions, AlterPartitions)
    assert [(each.values, each.parameters["x"]) for each in one.after] == [(("a",), "1")]
    assert {each.values: each.parameters["x"] for each in two.after} == {("b",): "2", ("c",): "2"}


@pytest.mark.parametrize("values", [None, ("a b",)])
def test_insert_names_its_files_and_counts_anew(
    writer: SourceWriter, watch: Watch, values: tuple[str, ...] | None
) -> None:
    a_table_with(writer, values, {"old": b"old"})
    watch.changes()
    writer.insert("t", values, [b"one", b"three"])
    insert, counted = watch.changes()
    assert isinstance(insert, Insert)
    assert (insert.replaces, insert.table.name) == (False, writer.name("t"))
    assert (insert.partition.values if insert.partition else None) == values
    assert {writer.files.read(file.path) for file in insert.files} == {b"one", b"three"}
    assert {watch.file(file.path) for file in insert.files} == set(insert.files)
    assert counted_by(counted, values) == ("3", "11")


@pytest.mark.parametrize("values", [None, ("a b",)])
def test_overwrite_keeps_what_was_there(writer: SourceWriter, watch: Watch, values: tuple[str, ...] | None) -> None:
    contents = {name: own(writer, name) for name in ("old", "same name", "below/it")}
    a_table_with(writer, values, contents)
    location = writer.location("t", values)
    before = [watch.file(f"{location}/{name}") for name in contents]
    watch.changes()
    writer.overwrite("t", values, {"same name": b"second"})
    insert, counted = watch.changes()
    assert isinstance(insert, Insert) and insert.replaces
    assert insert.files == (watch.file(f"{location}/same name"),)
    assert writer.files.read(f"{location}/same name") == b"second"
    assert [status.path for _, found in writer.files.list_directories([location]) for status in found or ()] == [
        f"{location}/same name"
    ]
    assert [watch.kept(file) for file in before] == list(contents.values())
    assert counted_by(counted, values) == ("1", "6")


def test_overwrite_of_an_empty_table_by_nothing(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t")
    writer.overwrite("t", None, ())
    _, insert, counted = watch.changes()
    assert (insert.replaces, insert.files) == (True, ())
    assert counted_by(counted, None) == ("0", "0")


def a_table_with(writer: SourceWriter, values: tuple[str, ...] | None, files: dict[str, bytes]) -> None:
    if values is None:
        writer.create_table("t", files=files)
    else:
        writer.create_table("t", ("p",))
        writer.add_partitions("t", {values: files})


def counted_by(change: Any, values: tuple[str, ...] | None) -> tuple[str, str]:
    """Return number and size of the files that a change of statistics says."""
    assert type(change) is (AlterTable if values is None else AlterPartitions)
    (after,) = (change.after,) if values is None else change.after
    assert not change.truncates
    return after.parameters["numFiles"], after.parameters["totalSize"]


def test_truncated_table(writer: SourceWriter, watch: Watch) -> None:
    table = writer.create_table("t", files={"below/g": b"two"})
    writer.insert("t", None, {"f": own(writer, "one")})
    _, insert, _ = watch.changes()
    (file,) = insert.files
    writer.truncate("t")
    change = watch.change()
    assert (type(change), change.truncates) == (AlterTable, True)
    assert change.before.parameters["numFiles"] == change.after.parameters["numFiles"] == "0"
    assert list(writer.files.list_directories([str(table.location)])) == [(table.location, [])]
    assert watch.kept(file) == own(writer, "one")


@pytest.mark.parametrize("chosen", [None, [("a",)]])
def test_truncated_partitions(writer: SourceWriter, watch: Watch, chosen: list[tuple[str, ...]] | None) -> None:
    writer.create_table("t", ("p",))
    writer.add_partitions("t", {(value,): {"f": own(writer, value)} for value in "ab"})
    _, added = watch.changes()
    writer.truncate("t", chosen)
    change = watch.change()
    assert (type(change), change.truncates) == (AlterPartitions, True)
    assert {each.values for each in change.after} == set(chosen or [("a",), ("b",)])
    for partition in added.added:
        (file,) = partition.files
        is_emptied = chosen is None or partition.partition.values in chosen
        assert (writer.files.status(file.path) is None) is is_emptied
        assert watch.keeps(file) is is_emptied


def test_exchanged_partition_is_added_there_and_dropped_here(writer: SourceWriter, watch: Watch) -> None:
    for name in ("here", "there"):
        writer.create_table(name, ("p", "q"))
    values = ("a b", "c")
    writer.add_partitions("here", {values: {"f": b"one"}})
    watch.changes()
    writer.exchange_partition("here", "there", values)
    added, dropped = watch.changes()
    assert (type(added), added.table.name) == (AddPartitions, writer.name("there"))
    location = writer.location("there", values)
    assert location == f"{writer.table('there').location}/p=a b/q=c"
    assert [each.files for each in added.added] == [(watch.file(f"{location}/f"),)]
    assert (type(dropped), dropped.table.name, dropped.values) == (DropPartitions, writer.name("here"), (values,))
    assert writer.metastore.partition_names(writer.name("here")) == []
    for unusable in (values, ("never", "there")):
        with pytest.raises(Refused):
            writer.exchange_partition("here", "there", unusable)


def test_database_is_altered_and_stays_a_source(writer: SourceWriter, watch: Watch) -> None:
    writer.alter_database_parameters({"team": "Zürich"})
    change = watch.change()
    assert isinstance(change, AlterDatabase)
    assert "team" not in change.before.parameters
    assert change.after.parameters["team"] == "Zürich"
    assert SOURCE_FOR not in change.after.parameters
    found = writer.metastore.database(writer.database)
    assert found is not None and found.parameters[SOURCE_FOR]
    with pytest.raises(Refused):
        writer.metastore.drop_database(writer.database)


def test_details_come_and_go(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", ("p",))
    writer.create_table("parent")
    writer.add_partitions("t", {("a",): ()})
    watch.changes()
    jar = f"hdfs://east/tmp/{writer.database}/upper.jar"
    writer.files.write(jar, own(writer, "upper"))
    kept = watch.file(jar)
    writer.create_function("upper", [jar])
    writer.drop_function("upper")
    assert (watch.kept(kept), writer.files.read(jar)) == (own(writer, "upper"),) * 2
    assert (watch.was_at(kept) or "").removeprefix("hdfs://east") == jar.removeprefix("hdfs://east")
    writer.add_constraint("parent", "primary_key", "pk")
    writer.add_constraint("t", "foreign_key", "fk", parent="parent")
    writer.drop_constraint("t", "fk")
    assert watch.kinds() == [CreateFunction, DropFunction, AddConstraints, AddConstraints, DropConstraint]
    writer.update_statistics("t")
    writer.update_statistics("t", ("a",))
    writer.delete_statistics("t", ("a",), "id")
    of_table, of_partition, *deleted = watch.changes()
    assert (type(of_table), of_table.values) == (UpdateStatistics, None)
    assert (type(of_partition), of_partition.values) == (UpdateStatistics, ("a",))
    assert deleted == [DeleteStatistics(writer.name("t"), ("a",), "id")] * 2


def test_function_whose_file_is_gone_stays(writer: SourceWriter, watch: Watch) -> None:
    writer.create_function("upper", [f"hdfs://east/tmp/{writer.database}/upper.jar"])
    with pytest.raises(Refused) as refused:
        writer.drop_function("upper")
    assert len(str(refused.value).splitlines()) <= 4
    assert [function.name for function in writer.metastore.functions(writer.database)] == ["upper"]
    assert watch.kinds() == [CreateFunction]


def test_database_from_beginning_to_end(cluster: SourceCluster, writer: SourceWriter) -> None:
    watch = Watch(cluster)
    name = f"{writer.database}_more"
    more = SourceWriter.with_database(cluster.metastore, cluster.files, name, {"a": "b"})
    more.create_table("t")
    more.create_function("f")
    cluster.metastore.set_database_parameters(name, {})
    cluster.metastore.drop_database(name)
    created, *rest = watch.changes()
    assert (type(created), created.database.parameters) == (CreateDatabase, {SOURCE_FOR: "source_writer", "a": "b"})
    kinds = [type(change).__name__ for change in rest]
    assert kinds == ["CreateTable", "CreateFunction", "AlterDatabase", "DropFunction", "DropTable", "DropDatabase"]


def test_names_of_files_are_never_used_twice(writer: SourceWriter) -> None:
    other = SourceWriter(writer.metastore, writer.files, writer.database)
    writer.create_table("t")
    for each in (writer, other, writer):
        each.insert("t", None, [b"same", b"same"])
    ((_, found),) = writer.files.list_directories([writer.location("t")])
    assert found is not None and len(found) == 6


def test_creations_name_only_the_files_directly_in_their_directory(writer: SourceWriter, watch: Watch) -> None:
    writer.create_table("t", files={"f": own(writer, "f"), "below/g": own(writer, "g")})
    writer.create_table("d", keys=("p",))
    writer.add_partitions(
        "d", {("1",): {"f": own(writer, "f"), "below/g": own(writer, "g")}, ("2",): {"below/f": b"x"}}
    )
    created, _, added = watch.changes()
    assert created.files == (watch.file(f"{writer.location('t')}/f"),)
    assert [one.files for one in added.added] == [(watch.file(f"{writer.location('d', ('1',))}/f"),), ()]


def test_a_client_that_is_not_hives_server_may_give_managed_objects_another_location(
    writer: SourceWriter, watch: Watch
) -> None:
    """The database is a source of replication. The event of several partitions does not say what was before."""
    writer.create_table("t")
    writer.create_table("d", keys=("p",))
    writer.add_partitions("d", {("1",): [own(writer, "rows")]})
    elsewhere = f"{writer.location('t')}_elsewhere"
    watch.changes()
    writer.set_location("t", elsewhere)
    before = writer.location("d", ("1",))
    writer.set_partition_location("d", ("1",), f"{elsewhere}/one")
    writer.set_partition_location("d", ("1",), f"{elsewhere}/two", says_before=False)
    table, one, several = watch.changes()
    assert table.after.location == elsewhere != table.before.location
    assert [partition.location for partition in one.before] == [before]
    assert [partition.location for partition in one.after] == [f"{elsewhere}/one"]
    assert (several.before, several.after[0].location) == ((), f"{elsewhere}/two")
