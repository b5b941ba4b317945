"""Compare the twin of a world in memory with its source."""

import json

from tests.support.hive.metastore_objects import constraints_in_words
from tests.support.worlds.fake_world import World
from twinhive.core.model.files import is_hidden, relative_to
from twinhive.core.model.marks import without_marks
from twinhive.core.model.objects import Table
from twinhive.core.model.sets.own_tables import COPY_MARKS

# What the replica's metastore writes itself, and what is compared by itself.
CLAIM = "COLUMN_STATS_ACCURATE"
OWN = {"transient_lastDdlTime", CLAIM}


def assert_twin(world: World) -> None:
    """Assert that the published replica equals the source, and that nothing is left in staging."""
    state = world.replica.database("sales").parameters
    assert state["twinhive.phase"] == "following"
    assert int(state["repl.last.id"]) <= world.source.current_event_id()
    assert spoken(state) == spoken(world.source.database("sales").parameters)
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)
    claimed, true = (claims(metastore) for metastore in (world.replica, world.source))
    assert {what: columns - true[what] for what, columns in claimed.items() if columns - true[what]} == {}
    kept = ("/lease", "/sets/looked.json", "/external/synced/", "/external/purge/", "/external/results/")
    kept += ("/external/waits.json.gz", "/sets/run", "/control/clock.json", "/control/failover.json")
    kept += ("/control/window.json",)
    paths = [path for path in world.replica_files.paths() if "/staging/" in path]
    left = [path for path in paths if not any(part in path for part in kept)]
    assert [path for path in left if not world.replica_files.status(path).is_directory] == []


def claims(metastore) -> dict[tuple[str, str], set[str]]:
    """Return the columns whose statistics are said to be accurate, by table and partition.

    The source may claim more than the replica: what events of other kinds say of it is not carried over.
    """
    found = {}
    for table in metastore.tables("sales", metastore.table_names("sales")):
        partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
        named = {"": table} | {one.name(table.partition_keys): one for one in partitions}
        for name, thing in named.items():
            found[str(table.name), name] = set(json.loads(thing.parameters.get(CLAIM, "{}")).get("COLUMN_STATS", {}))
    return found


def contents(metastore, files) -> dict:
    names = [name for name in metastore.table_names("sales") if name != COPY_MARKS.name]  # a replica has no copies
    tables = [table for table in metastore.tables("sales", names) if table.kind.is_all_in_log]
    return {str(table.name): described(metastore, files, table) for table in tables}


def described(metastore, files, table: Table) -> dict:
    partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
    return {
        "type": table.table_type,
        "keys": table.partition_keys,
        "columns": table.columns,
        "parameters": spoken(table.parameters),
        "constraints": constraints_in_words(metastore, table.name),
        "partitions": {
            partition.values: (
                spoken(partition.parameters),
                partition.location and files_below(files, partition.location),
            )
            for partition in partitions
        },
        "files": {} if table.partition_keys or table.location is None else files_below(files, table.location),
    }


def files_below(files, directory: str) -> dict[str, bytes]:
    """Return what readers see: nothing below a hidden name."""
    below = {relative_to(path, directory): path for path in files.paths() if path.startswith(directory + "/")}
    seen = {relative: path for relative, path in below.items() if not any(map(is_hidden, relative.split("/")))}
    return {relative: files.read(path) for relative, path in seen.items() if not files.status(path).is_directory}


def spoken(parameters) -> dict[str, str]:
    return {key: value for key, value in without_marks(parameters).items() if key not in OWN}
