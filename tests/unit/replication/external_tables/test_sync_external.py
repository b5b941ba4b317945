"""A directory of the replica becomes what the source's is; one without a change costs a look and no write below it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.external_world import BASE, ExternalWorld, a_world_with_files
from tests.support.worlds.fake_world import Killed
from twinhive.core.model.errors import Promoted, Refused
from twinhive.core.model.files import Attributes
from twinhive.core.model.marks import PHASE, Phase
from twinhive.replication.external_tables import equal_directories, list_external, sync_external
from twinhive.replication.external_tables.sync_external import InThisProcess, SyncExternal
from twinhive.replication.replica.sync_records import of_event
from twinhive.transfer.tree.executing import in_this_process


def test_a_new_directory_comes_whole_with_owner_permission_and_acl_of_its_top() -> None:
    world = a_world_with_files()
    acl = ("user:ann:rwx",)
    source = world.world.source_files
    source.set_attributes("hdfs://east/data/events", Attributes(owner="ann", group="staff", permission=0o750, acl=acl))
    (synced,) = world.cycle()
    assert (synced.changed, synced.unchanged, synced.files) == (1, 0, 2)
    world.assert_twin("/data/events")
    there = world.world.replica_files.status(f"{BASE}/data/events")
    assert there is not None
    assert (there.owner, there.group, there.permission) == ("ann", "staff", 0o750)
    assert world.world.replica_files.acl(f"{BASE}/data/events") == source.acl("hdfs://east/data/events")
    above = world.world.replica_files.status(f"{BASE}/data")
    assert above is not None
    assert above.owner != "ann"


def test_nothing_is_copied_into_a_replica_that_has_taken_over_nor_deleted_there() -> None:
    world = a_world_with_files()
    world.cycle()
    world.put("/data/events/h", b"late")
    listed = world.listed()
    parameters = world.world.replica.database("sales").parameters
    world.world.replica.set_database_parameters("sales", {**parameters, PHASE: Phase.PROMOTED.value})
    world.world.replica_files.put(f"{BASE}/data/events/ours", b"written by users")
    before = world.there("/data/events")
    with pytest.raises(Promoted):
        world.sync(listed)
    with pytest.raises(Promoted):
        world.listed()
    assert world.there("/data/events") == before


def test_a_task_that_is_overtaken_by_a_promotion_puts_nothing_in_place() -> None:
    world = a_world_with_files(options={"copy_threads": 1})
    world.add_table("more", "hdfs://east/data/more")
    world.put("/data/more/g", b"two")
    listed = world.listed()
    parameters = world.world.replica.database("sales").parameters

    class Promoting:
        def execution(self, *given: Any) -> Any:
            execute = InThisProcess().execution(*given)

            def executed(*planned: Any, **named: Any) -> Any:
                said = {**parameters, PHASE: Phase.PROMOTED.value}
                world.world.replica.set_database_parameters("sales", said)
                return execute(*planned, **named)

            return executed

    with pytest.raises(Promoted):
        for batch in listed.batches:
            SyncExternal(world.work(batch.name, listed.dump), Promoting()).run(world.ports())
    assert not any(world.there(place) for place in ("/data/events", "/data/more"))


def test_top_attributes_follow_later_changes() -> None:
    world = a_world_with_files()
    world.cycle()
    world.world.source_files.set_attributes("hdfs://east/data/events", Attributes(group="other", permission=0o700))
    (synced,) = world.cycle()
    assert synced.changed == 1
    there = world.world.replica_files.status(f"{BASE}/data/events")
    assert there is not None
    assert (there.group, there.permission) == ("other", 0o700)
    (synced,) = world.cycle()
    assert (synced.changed, synced.unchanged) == (0, 1)


def test_the_record_says_what_the_source_had_and_the_event_before_the_listing() -> None:
    world = a_world_with_files()
    world.cycle()
    record = world.record("/data/events")
    assert record is not None
    assert (record.target, record.event_id) == (f"{BASE}/data/events", world.world.source.current_event_id())
    assert (record.files, record.directories, record.bytes, record.changed) == (2, 2, 6, True)
    assert 0 < record.began <= record.at


def test_without_a_change_nothing_is_written_but_the_record() -> None:
    world = a_world_with_files()
    world.cycle()
    before, files = world.record("/data/events"), world.world.replica_files
    nodes = set(files._nodes)
    world.add_table("another", "hdfs://east/data/another")
    files.calls.clear()
    listed = world.listed()
    world.sync(listed)
    record = world.last_look("/data/events")
    assert before is not None
    assert record is not None
    assert record == replace(
        before, **of_event(record.point), at=record.at, began=record.began, changed=False, pairs=record.pairs
    )
    assert record.event_id > before.event_id
    assert {path for path in set(files._nodes) - nodes if path.startswith(f"{BASE}/data/events")} == set()
    assert any(line == "sales.events  unchanged  2 files in 2 directories" for line in world.log)


def test_no_lease_is_taken_for_a_directory_without_a_change() -> None:
    world = a_world_with_files()
    world.cycle()
    held: list[str] = []
    lease = world.world.lease
    hold = lease.hold
    lease.hold = lambda directory, *whose: (held.append(directory), hold(directory, *whose))[1]  # type: ignore
    world.cycle()
    assert held == []
    world.put("/data/events/new")
    world.cycle()
    assert held == [f"{BASE}/data/events/.twinhive/lease"]


def test_acls_that_are_equal_are_no_change() -> None:
    world = a_world_with_files()
    for path in ("", "/f", "/day=1"):
        world.world.source_files.set_attributes(f"hdfs://east/data/events{path}", Attributes(acl=("user:ann:r-x",)))
    world.cycle()
    (synced,) = world.cycle()
    assert (synced.changed, synced.unchanged) == (0, 1)
    world.world.source_files.set_attributes("hdfs://east/data/events/day=1", Attributes(acl=("user:bob:r-x",)))
    (synced,) = world.cycle()
    assert synced.changed == 1
    assert world.world.replica_files.acl(f"{BASE}/data/events/day=1") == world.world.source_files.acl(
        "hdfs://east/data/events/day=1"
    )


@pytest.mark.parametrize("snapshots", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda world: world.put("/data/events/new/deep/f", b"new"),
        lambda world: world.put("/data/events/f", b"other content"),
        lambda world: world.world.source_files.delete("hdfs://east/data/events/day=1"),
        lambda world: world.world.source_files.rename("hdfs://east/data/events/f", "hdfs://east/data/events/h"),
        lambda world: world.world.replica_files.put(f"{BASE}/data/events/stranger", b"x"),
        lambda world: world.world.replica_files.delete(f"{BASE}/data/events/f"),
    ],
    ids=["new", "other", "gone", "renamed", "a stranger on the replica", "lost on the replica"],
)
def test_every_change_is_followed(change: Callable[[ExternalWorld], object], snapshots: bool) -> None:
    world = a_world_with_files(snapshots=snapshots)
    world.cycle()
    change(world)
    (synced,) = world.cycle()
    assert synced.changed == 1
    world.assert_twin("/data/events")
    (synced,) = world.cycle()
    assert (synced.changed, synced.unchanged) == (0, 1)


def test_with_snapshots_two_questions_are_enough_when_nothing_changed() -> None:
    world = a_world_with_files(snapshots=True)
    world.cycle()
    record = world.record("/data/events")
    assert record is not None
    source, replica = world.world.source_files, world.world.replica_files
    assert source.snapshots("hdfs://east/data/events") == [record.snapshot]
    listed = world.listed()
    for files in (source, replica):
        files.calls.clear()
    world.sync(listed)
    asked = [files.calls["snapshot_changes"] for files in (source, replica)]
    assert asked == [1, 1]
    assert [files.calls["list_pages"] for files in (source, replica)] == [0, 0]
    assert source.snapshots("hdfs://east/data/events") == [record.snapshot]
    again = world.last_look("/data/events")
    assert again is not None
    assert (again.files, again.directories, again.bytes, again.changed) == (2, 2, 6, False)


def test_a_source_that_cannot_have_snapshots_is_listed_and_not_asked_again_by_a_run() -> None:
    world = a_world_with_files(snapshots=True)

    def refused(path: str) -> None:
        raise Refused(f"{path}: superuser privilege is required")

    world.world.source_files.allow_snapshots = refused  # type: ignore[method-assign]
    world.cycle()
    (synced,) = world.cycle()
    assert synced.unchanged == 1
    world.assert_twin("/data/events")
    world.put("/data/events/new")
    world.cycle()
    world.assert_twin("/data/events")


def test_what_is_deleted_waits_in_the_trash_and_leaves_it_in_time_also_when_nothing_changes_any_more() -> None:
    world = a_world_with_files(trash_days=1.0)
    world.cycle()
    world.world.source_files.delete("hdfs://east/data/events/f")
    world.cycle()
    trash = [path for path in world.world.replica_files.paths() if "/trash/" in path]
    assert len(trash) == 1
    record = world.record("/data/events")
    assert record is not None
    assert record.trashed_at > 0
    world.policy = replace(world.policy, external=replace(world.policy.external, trash_days=-1.0))
    world.cycle()
    assert [path for path in world.world.replica_files.paths() if "/trash/" in path] == []
    record = world.record("/data/events")
    assert record is not None
    assert (record.trashed_at, record.changed) == (0.0, False)


@pytest.mark.parametrize(("delete", "left"), [("no", True), ("permanently", False)])
def test_other_ways_to_delete(delete: str, left: bool) -> None:
    world = a_world_with_files(delete=delete)
    world.cycle()
    world.world.source_files.delete("hdfs://east/data/events/f")
    world.cycle()
    assert ("f" in world.there("/data/events")) is left
    assert [path for path in world.world.replica_files.paths() if "/trash/" in path] == []
    (synced,) = world.cycle()
    assert synced.unchanged == 1


def test_what_copies_keep_for_themselves_is_not_copied_when_replicas_are_chained() -> None:
    world = a_world_with_files()
    world.put("/data/events/.twinhive/verified/x/00000", b"ours")
    world.put("/data/events/day=1/.twinhive-external.json", b"{}")
    world.put("/data/events/.twinhive-sub-0123456789abcdef/tree/x", b"ours")
    world.cycle()
    names = [path for path in world.world.replica_files.paths() if path.startswith(f"{BASE}/data/events")]
    assert [name for name in names if "external.json" in name or "tree/x" in name] == []
    (synced,) = world.cycle()
    assert synced.unchanged == 1


def test_large_work_is_carried_out_where_the_caller_says() -> None:
    world = a_world_with_files()
    asked: list[object] = []

    class Elsewhere:
        def execution(self, source, target, say, is_ending):
            def execute(job, plan, confirm):
                asked.append((job.places.base, job.options.bandwidth_mb, job.options.threads))
                return in_this_process(source, target)(job, plan, confirm)

            return execute

    world.policy = replace(world.policy, options=replace(world.policy.options, bandwidth_mb=100.0))
    listed = world.listed()
    SyncExternal(world.work(listed.batches[0].name, listed.dump), Elsewhere()).run(world.ports())
    assert asked == [(f"{BASE}/data/events", 100.0, 2)]
    world.assert_twin("/data/events")


def test_with_another_base_directory_everything_is_brought_there() -> None:
    world = a_world_with_files()
    world.cycle()
    world.policy = replace(
        world.policy, external=replace(world.policy.external, base_directory="hdfs://west/elsewhere")
    )
    assert world.record("/data/events") is None
    world.cycle()
    assert world.world.replica_files.status("hdfs://west/elsewhere/data/events/f") is not None


def test_who_is_killed_while_he_looks_has_written_down_what_he_has_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world_with_files()
    world.add_table("more", "hdfs://east/data/more")
    world.put("/data/more/g", b"two")
    world.cycle()
    for module in (equal_directories, sync_external):
        monkeypatch.setattr(module, "TREES_TOGETHER", 1)
    monkeypatch.setattr(list_external, "_quiet", lambda *given: lambda location: False)  # somebody may ask
    see, written, seen = equal_directories._look_at_some, [], []

    def killed(*given: Any) -> Any:
        if seen:
            raise Killed
        seen.append(given)
        return see(*given)

    monkeypatch.setattr(equal_directories, "_look_at_some", killed)
    monkeypatch.setattr(sync_external, "write_unchanged", lambda *given: written.append(given))
    listed = world.listed()
    with pytest.raises(Killed):
        world.sync(listed)
    assert len(written) == 1
