"""Write a dump of a whole database in Hive's layout: Hive's own REPL LOAD builds a replica of it."""

from collections.abc import Iterator

from twinhive.core.directory_marks.directories import claim
from twinhive.core.model.errors import AlreadyThere
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.dump_layout import VIEWS
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.manifest import LeftOutObject
from twinhive.statements.interop.hive_dump.dump_metadata import Description
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_format_limits import check_event_id, check_name, check_table_name
from twinhive.statements.interop.hive_dump.hive_layout import HivePlaces
from twinhive.statements.interop.hive_dump.hive_structs import database_text, function_text
from twinhive.statements.interop.hive_dump.object_descriptions import encode_database, encode_function
from twinhive.statements.interop.hive_dump.own_dumps import own_mark
from twinhive.statements.interop.hive_dump.table_writing import FunctionEntries, TableWriting, write_all

_NO_FILES = "function without files: Hive takes its class from the servers' own, and so must the replica's"
_NO_PARTITIONS = "partitions of a view: Hive's layout has them for tables alone"


def write_bootstrap(
    files: FileWriter, dump_files: FileReader, source_files: FileReader, dump: Dump, directory: str, terms: Terms
) -> tuple[LeftOutObject, ...]:
    """Write a consolidated dump into a new directory (`places.hive_directory`); return what Hive has no place for.

    Raises ActNow, with nothing written, for what Hive's layout cannot say. A dump that is cut off lacks its last
    file, and Hive passes it over.
    """
    places = HivePlaces.below(directory)
    make_directory(files, directory)
    writing = TableWriting(dump_files, dump, places, terms.cmroot)
    end, database = dump.manifest.end.event_id, dump.manifest.database
    views = dump.objects(dump_files, VIEWS)
    said = describe_dump("BOOTSTRAP", dump, terms, begin=end)
    writing.check(dump.manifest.batches)
    for view in views:
        check_table_name("a view", view.table.name.table)
    entries = FunctionEntries(source_files, terms)
    functions = list(_functions(entries, dump, places))
    write_all(files, writing.content(dump.manifest.batches))
    write_all(files, map(writing.table, views))
    write_all(files, functions)
    files.write(places.database(database.name), encode_database(database_text(database, end)))
    finish(files, places, said)
    bare = (function for function in dump.manifest.base.functions if not function.resources)
    return (
        *(LeftOutObject(f"{database.name}.{function.name}", _NO_FILES) for function in bare),
        *(LeftOutObject(name, reason) for name, reason in entries.left_out.items()),
        *(LeftOutObject(str(view.table.name), _NO_PARTITIONS) for view in views if view.partitions),
    )


def describe_dump(kind: str, dump: Dump, terms: Terms, *, begin: int) -> bytes:
    """Return what Hive's loader reads first. Raises ActNow for what it would read wrongly."""
    end = dump.manifest.end.event_id
    check_event_id(end)
    database, (include, exclude) = dump.manifest.database.name, terms.patterns
    for what, name in (("the database", database), ("a pattern of tables", include), ("a pattern of tables", exclude)):
        check_name(what, name or "")
    check_name("the change manager's directory", terms.cmroot)
    return Description(
        kind=kind,
        begin=begin,
        end=end,
        cmroot=terms.cmroot,
        scope_changed=terms.scope_changed,
        database=database,
        include=include,
        exclude=exclude,
    ).encode()


def make_directory(files: FileWriter, directory: str) -> None:
    """Make the directory of a dump, which Hive's user has to read too. Raises AlreadyThere for one that is there."""
    if files.status(directory) is not None:
        raise AlreadyThere(
            f"a dump for Hive cannot be written into {directory}",
            found="something that is there already",
            expected="a new directory",
            next_step="run the statement again; it takes a new directory each time",
        )
    claim(files, directory, own_mark(directory), for_others=True)


def finish(files: FileWriter, places: HivePlaces, described: bytes) -> None:
    """Write the description of the dump, then that it is whole."""
    files.write(places.metadata, described)
    files.write(places.finished, b"")


def _functions(entries: FunctionEntries, dump: Dump, places: HivePlaces) -> Iterator[tuple[str, bytes]]:
    end = dump.manifest.end.event_id
    for function in dump.manifest.base.functions:
        if function.resources and (files := entries.of(function)) is not None:
            check_name("a function", function.name)
            text = function_text(function, files)
            yield places.function(function.database, function.name), encode_function(end, text)
