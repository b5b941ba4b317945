"""What an earlier version has left on both clusters is gone on with, without loss, and known as ours."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.users.external_writer import ExternalWriter
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.external_followed import POLICY as WITH_EXTERNAL_TABLES
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import tuned
from tests.support.worlds.kept_worlds import FIXTURES, keep, kept_world
from tests.unit.replication.bootstrap.test_bootstrap_killed import POLICY as IN_SMALL_BATCHES
from tests.unit.replication.incremental.test_incremental import POLICY, Followed
from tests.unit.replication.scan.test_scan import same, scan
from twinhive.core.directory_marks.directories import mark_of
from twinhive.core.model.marks import SKIPPED
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.failover.forget import Forget
from twinhive.replication.dump.dump_ownership import own_dumps_of
from twinhive.runtime.pipeline.phases import CONSOLIDATE, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

EARLIER = FIXTURES / "de3b3ea"
Some = TypeVar("Some", bound=Followed)


def left_by(name: str, policy: Policy, kind: type[Some] = Followed) -> Some:  # type: ignore[assignment]
    """Return a world that an earlier version has left, with its users."""
    followed = kind.__new__(kind)
    followed.policy, followed.world, followed.log = policy, kept_world(EARLIER / f"{name}.json.gz"), []
    writer: Callable = ExternalWriter if issubclass(kind, FollowedExternals) else SourceWriter
    followed.users = writer(followed.world.source, followed.world.source_files, "sales")
    return followed


def to_the_end(followed: Followed) -> None:
    for _ in range(20):
        if followed.follow()["window"].idle:
            return
    raise AssertionError("it does not come to an end")


def assert_ours(followed: Followed) -> None:
    """What the earlier version made without a mark has one by now."""
    assert mark_of(followed.world.replica_files, followed.policy.staging) == "staging:sales"
    assert own_dumps_of(followed.world.source_files, followed.policy) is not None


@pytest.mark.parametrize("saves_events", [False, True], ids=["at once", "after events were saved"])
@pytest.mark.parametrize("name", ["first_copy", "drained", "loading"])
def test_a_bootstrap_that_was_killed_is_ended(name: str, saves_events: bool) -> None:
    followed = left_by(name, IN_SMALL_BATCHES)
    if saves_events:
        followed.users.insert("plain", None, [b"drained by this version"])
        run_phase(INCREMENTAL, followed.policy, followed.world.ports(), {"run": "d"}, followed.log.append)
        followed.users.insert("orders", ("a b",), [b"and this is not"])
    run_bootstrap(followed.policy, followed.world.ports(), {"run": "b"}, followed.log.append)
    to_the_end(followed)
    followed.assert_twin()
    assert_ours(followed)


def test_a_load_that_was_killed_goes_on_where_it_was() -> None:
    followed = left_by("loading", IN_SMALL_BATCHES)
    there = {table.name: table.location for table in tables_of(followed)}
    assert len(there) == 2
    load = tuple(stage for stage in CONSOLIDATE if stage.name == "load")
    run_phase(load, followed.policy, followed.world.ports(), {"run": "l"}, followed.log.append)
    assert there.items() < {table.name: table.location for table in tables_of(followed)}.items()
    to_the_end(followed)
    followed.assert_twin()
    assert_ours(followed)


def tables_of(followed: Followed):
    replica = followed.world.replica
    return replica.tables("sales", replica.table_names("sales"))


def test_a_window_that_was_killed_is_ended() -> None:
    followed = left_by("window", POLICY)
    to_the_end(followed)
    followed.assert_twin()
    assert_ours(followed)


def test_requests_quarantine_and_what_a_scan_remembers_are_obeyed() -> None:
    followed = left_by("quarantined", tuned(on_object_error="quarantine"))
    assert list(frozen_tables(followed.world.replica.database("sales").parameters)) == ["plain"]
    skipped = followed.world.source.current_event_id()
    to_the_end(followed)
    parameters = followed.world.replica.database("sales").parameters
    assert frozen_tables(parameters) == {} and parameters[f"{SKIPPED}{skipped}"] == "nobody needs it"
    assert scan(followed, now=1e9).suspects < scan(followed, now=1e9, deep=True).leaves
    followed.users.alter_partition("orders", ("z",), {"k": "v"})  # what was skipped
    to_the_end(followed)
    assert same(followed)
    assert_ours(followed)


def test_external_tables_that_wait_are_published() -> None:
    followed = left_by("external", WITH_EXTERNAL_TABLES, FollowedExternals)
    assert followed.pending != ()
    followed.settle()
    assert followed.pending == ()
    followed.assert_twin()


@pytest.mark.parametrize("name", ["window", "quarantined"])
def test_a_replica_can_be_given_up_and_nothing_of_us_is_left(name: str) -> None:
    followed = left_by(name, POLICY)
    Forget(followed.policy, {"by": "ann"}).run(followed.world.ports())
    world = followed.world
    paths = [*world.replica_files.paths(), *world.source_files.paths()]
    assert [path for path in paths if "/twinhive/" in path] == []


def as_kept(path: Path) -> Any:
    """Return what a file keeps, but for what is not set: fields that came later are among these."""

    def without_unset(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_unset(one) for key, one in value.items() if one not in (None, "")}
        return [without_unset(one) for one in value] if isinstance(value, list) else value

    return without_unset(json.loads(gzip.decompress(path.read_bytes())))


def test_a_world_is_the_same_when_it_was_kept(tmp_path: Path) -> None:
    first = kept_world(EARLIER / "quarantined.json.gz")
    keep(first, tmp_path / "again.json.gz")
    assert as_kept(tmp_path / "again.json.gz") == as_kept(EARLIER / "quarantined.json.gz")
