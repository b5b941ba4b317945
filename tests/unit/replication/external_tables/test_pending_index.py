"""What waits is read when it was written or when a copy has brought something, not by every run."""

from dataclasses import replace

import pytest

from tests.support.damaged import DAMAGED
from tests.support.worlds.external_followed import POLICY, FollowedExternals
from twinhive.replication.external_tables import pending_index, publish_pending
from twinhive.replication.external_tables.publish_pending import ready_tables
from twinhive.replication.replica.pending_files import pending_names, what_waits


class Reading:
    """Count the records that are read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for module, name in ((pending_index, "decode_pending"), (publish_pending, "read_pending")):
            monkeypatch.setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, read):
        def reading(*args):
            self.count += 1
            return read(*args)

        return reading

    def during(self, run) -> int:
        before = self.count
        run()
        return self.count - before


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    return Reading(monkeypatch)


@pytest.fixture
def waiting() -> FollowedExternals:
    """Return a replica on which one new table waits, and partitions of another that is there."""
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_external("clicks", ("day",), "hdfs://east/new/clicks")
    followed.sync("hdfs://east/new")
    followed.follow()
    followed.users.add_external("clicks", ("1",), below="hdfs://east/new/clicks")
    followed.users.add_external("clicks", ("2",), below="hdfs://east/apart")
    followed.users.create_external("views", (), "hdfs://east/later/views")
    followed.follow()
    assert followed.pending == ("clicks", "views")
    return followed


def test_a_run_without_anything_new_reads_nothing_of_what_waits(waiting: FollowedExternals, reading: Reading) -> None:
    assert reading.during(waiting.follow) == 0
    waiting.users.insert("plain", None, [b"more"])
    assert reading.during(waiting.follow) == 0
    assert waiting.pending == ("clicks", "views")


def test_what_a_copy_has_brought_is_read_alone(waiting: FollowedExternals, reading: Reading) -> None:
    waiting.sync("hdfs://east/later/views")
    assert 0 < reading.during(waiting.follow) <= 3
    assert waiting.pending == ("clicks",)
    assert waiting.on_replica("views") is not None


def test_a_partition_that_is_copied_by_itself_is_noticed(waiting: FollowedExternals) -> None:
    waiting.sync("hdfs://east/apart/day=2", "hdfs://east/new")
    waiting.follow()
    assert waiting.pending == ("views",)
    assert set(waiting.partitions_on_replica("clicks")) == {"day=1", "day=2"}


@pytest.mark.parametrize("content", [None, b"no gzip", DAMAGED])
def test_without_what_is_remembered_everything_is_read_and_found(
    waiting: FollowedExternals, content: bytes | None
) -> None:
    path = f"{waiting.policy.staging}/external/waits.json.gz"
    waiting.world.replica_files.delete(path)
    if content is not None:
        waiting.world.replica_files.put(path, content)
    waiting.sync("hdfs://east/apart", "hdfs://east/later", "hdfs://east/new")
    assert list(ready_tables(waiting.world.ports(), waiting.policy)) == ["clicks", "views"]
    waiting.follow()
    assert waiting.pending == ()
    assert waiting.world.replica_files.status(path) is None


@pytest.mark.parametrize("table", ["fresh", "fresh 50%"])
@pytest.mark.parametrize("has_events", [True, False])
def test_what_the_policy_does_not_select_any_more_is_not_published_though_its_data_has_come(
    table: str, has_events: bool
) -> None:
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_external(table, location="hdfs://east/data/fresh")
    followed.follow()
    files = followed.world.replica_files
    assert followed.pending == (table,) and what_waits(files, [followed.policy])
    followed.policy = replace(POLICY, exclude=("fresh.*",), fingerprint="f2")
    if has_events:
        followed.users.insert("plain", None, [b"more"])
    followed.sync()
    followed.follow()
    followed.follow()
    assert followed.on_replica(table) is None
    assert pending_names(files, followed.policy) == ()
    if table == "fresh":
        assert what_waits(files, [followed.policy]) == {}
    followed.policy = POLICY
    followed.follow()
    followed.assert_twin()
