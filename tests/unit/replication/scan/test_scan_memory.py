"""What a scan has accepted is remembered piece by piece: one that is killed goes on, and none holds a warehouse."""

import gzip
import json
from dataclasses import replace

import pytest

from tests.support.damaged import DAMAGED
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import put, same, scan
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.names import TableName
from twinhive.core.step.step_base import Work
from twinhive.replication.scan.scan import Scan
from twinhive.replication.scan.scan_memory import Memories, Memory, shard_of


def test_a_table_is_always_remembered_with_the_same_others() -> None:
    shards = {shard_of(TableName("sales", f"t{number}")) for number in range(10_000)}
    assert len(shards) == 64
    assert shard_of(TableName("sales", "orders")) == "36"


def test_a_first_scan_that_is_killed_is_gone_on_with() -> None:
    followed = Followed()
    for number in range(20):
        followed.users.create_table(f"t{number}", files=[b"x"])
    followed.follow()
    work = Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    for tries in range(1, 20):
        ports = killable(followed.world.ports(), KillSwitch(8, after_effect=True))
        try:
            last = Scan(work, wait=lambda seconds: None).run(ports)
            break
        except Killed:
            assert tries < 10, "it does not come to its end"
    assert tries > 2
    assert last.suspects < 20 < last.leaves


def loaded_from(followed: Followed) -> str | None:
    database = followed.world.replica.database("sales")
    return ReplicaState.read(database.parameters).dump


def test_what_an_earlier_version_has_remembered_counts_and_its_file_goes() -> None:
    followed = Followed()
    scan(followed)
    files, memories = followed.world.replica_files, Memories(followed.policy)
    looks: dict[str, object] = {}
    sizes: dict[str, object] = {}
    for number in range(64):
        memory = memories.read(files, f"{number:02d}", loaded_from(followed))
        looks |= memory.looks
        sizes |= memory.sizes
    assert looks
    files.delete(f"{followed.policy.staging}/scan/looks")
    old = f"{followed.policy.staging}/scan/directories.json.gz"
    fields = {"looks": looks, "deep": 1e9, "sizes": sizes}
    files.put(old, gzip.compress(json.dumps(fields).encode()))
    assert scan(followed).suspects == 0
    assert files.status(old) is None
    assert scan(followed).suspects == 0


@pytest.mark.parametrize("content", [b"", b"no gzip", DAMAGED, gzip.compress(b"[]"), gzip.compress(b'{"looks": {}}')])
def test_a_memory_that_cannot_be_read_is_none(content: bytes) -> None:
    followed = Followed()
    scan(followed)
    shard = shard_of(TableName("sales", "plain"))
    followed.world.replica_files.put(f"{followed.policy.staging}/scan/looks/{shard}.json.gz", content)
    assert Memories(followed.policy).read(followed.world.replica_files, shard, "x") == Memory(dump="x")
    put(followed, "plain", "part-1", b"silent")
    assert len(scan(followed).followed) == 1
    assert same(followed)


def test_memory_of_tables_that_are_gone_goes() -> None:
    followed = Followed()
    followed.users.create_table("gone", files=[b"x"])
    followed.follow()
    scan(followed)
    path = f"{followed.policy.staging}/scan/looks/{shard_of(TableName('sales', 'gone'))}.json.gz"
    assert followed.world.replica_files.status(path) is not None
    followed.users.drop_table("gone")
    followed.follow()
    scan(followed)
    assert followed.world.replica_files.status(path) is None


def test_of_a_replica_that_was_adopted_nothing_is_remembered_when_it_is_loaded() -> None:
    files, memories = Followed().world.replica_files, Memories(Followed().policy)
    adopted = replace(memories.read(files, "01", None), looks={"hdfs://e/t": ("a", "b")}, deep=123.0)
    memories.write(files, "01", adopted)
    assert memories.read(files, "01", None) == adopted
    assert memories.read(files, "01", "a dump") == Memory(dump="a dump")
