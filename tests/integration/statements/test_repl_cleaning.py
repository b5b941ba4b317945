"""What statements leave behind on real clusters is removed by age, never what a load still needs."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sandbox import Sandbox
from sandbox.hive.peer import run_statements
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.core.directory_marks.directories import claim
from twinhive.core.directory_marks.staging import staging_mark
from twinhive.core.model.files import base_name, join, parent
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.hive.adapters.hdfs.hdfs_lease import HdfsLease
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import StatementPlace, run_statement
from twinhive.statements.steps.load_lease import under_way_in

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]

AT_ONCE = "'hive.repl.dumpdir.ttl'='0s'"


@dataclass
class Speaker:
    """Says statements to both clusters about a database of its own."""

    sandbox: Sandbox
    policies: PolicyFiles
    east: Warehouse
    west: Warehouse
    users: SourceWriter
    said: list[str]

    @property
    def database(self) -> str:
        return self.users.database

    @property
    def staging(self) -> str:
        return f"{self.west.cluster.hdfs_uri}/staging-of-{self.database}"

    def say(self, cluster: str, text: str) -> list[tuple[str | int, ...]]:
        place = StatementPlace(load_configuration(self.policies.directory), resolve_from_environment, cluster)
        return list(run_statement(text, place, {"run": "test"}, self.said.append).rows)

    def dump(self, text: str = "", settings: str = AT_ONCE) -> tuple[str, int]:
        ((directory, event_id),) = self.say("east", f"REPL DUMP {self.database} {text} WITH ({settings})")
        return str(directory), int(event_id)

    def load(self, directory: str, into: str) -> None:
        settings = f"{AT_ONCE}, 'twinhive.staging.root'='{self.staging}'"
        self.say("west", f"REPL LOAD {self.database} INTO {into} FROM '{directory}' WITH ({settings})")

    def drop_replica(self, name: str) -> None:
        self.west.client.drop_database(name, deleteData=True, cascade=True)


@pytest.fixture
def speaker(sandbox: Sandbox, policies: PolicyFiles, east: Warehouse, west: Warehouse, report) -> Iterator[Speaker]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    users = SourceWriter.with_database(metastore, east.files, east.create_database("cleaned") + "_s")
    users.create_table("orders", files={"data": b"one"})
    speaker = Speaker(sandbox, policies, east, west, users, [])
    yield speaker
    for line in speaker.said:
        report(line)
    metastore.close()


def children(warehouse: Warehouse, directory: str) -> list[str]:
    ((_, found),) = warehouse.files.list_directories([directory])
    return sorted(child.path for child in found or ())


def test_a_load_removes_the_staging_of_one_that_was_given_up_and_of_no_other(speaker: Speaker) -> None:
    name, staging, west = speaker.database, speaker.staging, speaker.west
    directory, _ = speaker.dump()
    speaker.load(directory, f"{name}_follows")
    speaker.load(directory, f"{name}_given_up")
    speaker.drop_replica(f"{name}_given_up")
    copying = f"{staging}/repl.west.{name}_copying"
    west.files.write(f"{staging}/sales/events/file", b"staged by a policy")
    claim(west.files, copying, staging_mark(base_name(copying)))
    west.files.write(f"{copying}/events/{1:012d}/file", b"is being copied")
    cluster = west.cluster
    keeper = HdfsLease(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user, 0)
    with keeper.hold(under_way_in(copying), {"run": "copies"}, LeaseKind.STATEMENT) as lease:
        speaker.load(directory, f"{name}_last")
        lease.confirm()
    follows, last = (f"{staging}/repl.west.{name}_{one}" for one in ("follows", "last"))
    assert children(west, staging) == sorted([copying, follows, last, f"{staging}/sales"])
    assert any(f"nobody loads into west/{name}_given_up" in line for line in speaker.said)
    speaker.load(directory, f"{name}_follows")
    assert children(west, staging) == sorted([follows, last, f"{staging}/sales"])


def test_a_dump_removes_the_note_of_a_replica_that_was_dropped_and_the_dumps_it_kept(speaker: Speaker) -> None:
    name = speaker.database
    first, begin = speaker.dump()
    speaker.load(first, f"{name}_r")
    speaker.users.create_table("later")
    second, _ = speaker.dump(f"FROM {begin}")
    assert speaker.east.files.status(first) is None
    third, _ = speaker.dump(f"FROM {begin}")
    dumps = parent(second)
    assert children(speaker.east, dumps) == sorted([second, third, join(dumps, "_loaders")])
    speaker.drop_replica(f"{name}_r")
    last, _ = speaker.dump(f"FROM {begin}")
    assert children(speaker.east, dumps) == sorted([last, join(dumps, "_loaders")])
    assert children(speaker.east, join(dumps, "_loaders")) == []
    assert any(f"west/{name}_r is gone" in line for line in speaker.said)


@pytest.mark.nightly(
    "tests/unit/statements/phases/test_repl_clean.py",
)
def test_a_dump_for_hive_is_removed_when_hive_has_loaded_it_and_hive_goes_on(speaker: Speaker) -> None:
    name, west = speaker.database, speaker.west
    root = f"{west.cluster.hdfs_uri}/exchange/{name}"
    settings = f"{AT_ONCE}, 'hive.repl.rootdir'='{root}', 'twinhive.dump.layout'='hive'"
    first, begin = speaker.dump(settings=settings)
    hives = f"{parent(first)}/0bc2c2a5-5f2f-4c1e-a1b0-5f8a4d8c6a11"
    west.files.write(f"{hives}/hive/_finished_load", b"")
    speaker.dump(settings=settings)
    assert west.files.status(first) is not None
    assert sum("nobody has marked it as loaded" in line for line in speaker.said) == 1

    def hive_loads() -> int:
        texts = (f"REPL LOAD {name} INTO {name}_r WITH ('hive.repl.rootdir'='{root}')", f"REPL STATUS {name}_r")
        *_, status = run_statements(speaker.sandbox, "west", list(texts))
        return int(status.rows[0][0])

    assert hive_loads() == begin
    speaker.users.create_table("later")
    third, end = speaker.dump(f"FROM {begin}", settings)
    assert children(west, parent(first)) == sorted([hives, third])
    assert hive_loads() == end
    assert "later" in west.client.get_all_tables(f"{name}_r")
