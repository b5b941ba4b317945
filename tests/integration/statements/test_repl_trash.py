"""What REPLACE excludes is found in the trash of the real HDFS after the grace."""

from collections.abc import Callable, Iterator

import pytest
import yaml
from hive_metastore import ttypes

from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.core.step.step_base import Work
from twinhive.replication.scan.sweep import sweep
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import StatementPlace, run_statement

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]


@pytest.fixture
def users(source_metastore: ThriftSource, east: Warehouse) -> SourceWriter:
    return SourceWriter(source_metastore, east.files, east.create_database("trashed"))


@pytest.fixture
def keeping_a_trash(policies: PolicyFiles, west: Warehouse) -> Iterator[str]:
    """Let the replica's file system keep a trash; return where."""
    clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    clusters["clusters"]["west"]["file_system"]["hadoop"] = {"fs.trash.interval": "60"}
    policies.write("clusters.yaml", clusters)
    trash = f"{west.files.root}/user/{west.cluster.user}/.Trash"
    yield f"{trash}/Current"
    west.files.delete(trash)


def test_data_of_tables_that_replace_drops_is_in_the_trash_after_the_grace(
    users: SourceWriter,
    west: Warehouse,
    policies: PolicyFiles,
    keeping_a_trash: str,
    log: list[str],
    report: Callable[[str], None],
) -> None:
    name = policies.add(users.database, options={"grace_seconds": 0})

    def say(text: str) -> list[tuple[str | int, ...]]:
        place = StatementPlace(load_configuration(policies.directory), resolve_from_environment, policy=name)
        return list(run_statement(text, place, {"run": "test"}, report).rows)

    def location(table: str) -> str:
        return str(west.client.get_table_req(ttypes.GetTableRequest(dbName=name, tblName=table)).table.sd.location)

    users.create_table("plain", files={"data": b"stays"})
    users.create_table("q4", files={"data": b"four"})
    users.create_table("p5", keys=("p",))
    users.add_partitions("p5", {("a b",): {"f1": b"one"}})
    users.create_table("dropped", files={"data": b"dropped"})
    ((directory, event_id),) = say(f"REPL DUMP {name}")
    say(f"REPL LOAD {name} FROM '{directory}'")
    excluded, dropped = {table: location(table) for table in ("q4", "p5")}, location("dropped")
    users.drop_table("dropped")
    ((directory, _),) = say(f"REPL DUMP {name}.['[a-z]+'] REPLACE {name} FROM {event_id}")
    say(f"REPL LOAD {name} FROM '{directory}'")
    assert west.client.get_all_tables(name) == ["plain"]
    wiring = policies.wiring(name)
    for _ in range(2):
        sweep(wiring.write_ports(), Work(wiring.policy, holder={"run": "test"}, report=report))
    gone = {**excluded, "dropped": dropped}
    kept = {table: place.replace(west.files.root, keeping_a_trash) for table, place in gone.items()}
    assert west.files.read(f"{kept['q4']}/data") == b"four"
    assert west.files.read(f"{kept['p5']}/_tw/{event_id}/p=a b/f1") == b"one"
    assert west.files.read(f"{kept['dropped']}/data") == b"dropped"
    assert not any(west.files.status(place) for place in gone.values())
    said = {line.rpartition(": ")[2]: line.partition(",")[0] for line in log if ", unused for 0 s" in line}
    assert said == dict.fromkeys(gone.values(), "moved to the trash")
