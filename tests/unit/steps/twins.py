"""Compare the twin of a world in memory with its source."""

from tests.fake_world import World
from tests.metastore_objects import constraints_in_words
from twinhive.domain.files import base_name, is_hidden, relative_to
from twinhive.domain.marks import without_marks
from twinhive.domain.objects import Table

# What the replica's metastore writes itself, and a claim that is never carried over.
OWN = {"transient_lastDdlTime", "COLUMN_STATS_ACCURATE"}


def assert_twin(world: World) -> None:
    """Assert that the published replica equals the source, and that nothing is left in staging."""
    state = world.replica.database("sales").parameters
    assert state["twinhive.phase"] == "following"
    assert int(state["repl.last.id"]) <= world.source.current_event_id()
    assert spoken(state) == spoken(world.source.database("sales").parameters)
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)
    kept = ("/lease", "/external/synced/", "/external/purge/", "/external/results/")
    paths = [path for path in world.replica_files.paths() if "/staging/" in path]
    left = [path for path in paths if not any(part in path for part in kept)]
    assert [path for path in left if not world.replica_files.status(path).is_directory] == []


def contents(metastore, files) -> dict:
    names = metastore.table_names("sales")
    tables = [table for table in metastore.tables("sales", names) if table.table_type != "EXTERNAL_TABLE"]
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
    return {
        relative_to(path, directory): files.read(path)
        for path in files.paths()
        if path.startswith(directory + "/") and not files.status(path).is_directory and not is_hidden(base_name(path))
    }


def spoken(parameters) -> dict[str, str]:
    return {key: value for key, value in without_marks(parameters).items() if key not in OWN}
