"""A failover from staging, of which HDFS answers oddly: only what may be needed refuses it, with a way out."""

import shlex
from collections.abc import Callable

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.operations.failover.test_failover import position, promotion, ready, silent
from tests.unit.replication.incremental.files.test_salvage import (
    UP_TO_COPY,
    at_replica,
    at_source,
    named_by_plan,
    take_over,
)
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Unexplained
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_ownership import discard_dump
from twinhive.replication.dump.dump_store import dumps_of
from twinhive.replication.incremental.kept_windows import kept_windows


def kept_keys(followed: Followed) -> list[str]:
    """Return the windows that staging keeps, by their ends."""
    return [dump.key for _, dump in kept_windows(followed.world.replica_files, followed.policy)]


def planned_twice(consistency: str) -> Followed:
    """Return a replica of whose source the same events are staged twice, and one more the second time."""
    followed = ready(Followed(tuned(consistency=consistency)))
    followed.users.insert("plain", None, [b"one"])
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    followed.users.insert("plain", None, [b"two"])
    files = followed.world.ports().dump_files
    for layout in dumps_of(files, followed.policy, DumpKind.INCREMENTAL):
        discard_dump(files, layout.directory)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    assert len(kept_keys(followed)) == 2
    return followed


def odd_about(followed: Followed, key: str) -> None:
    """Let the results of a window's copies never be read."""
    read: Callable[[str], bytes] = followed.world.replica_files.read

    def oddly(path: str) -> bytes:
        if f"/results/{key}/" in path:
            raise Unexplained(f"{path}: refused", found="RemoteException: Odd", next_step="see the log")
        return read(path)

    followed.world.replica_files.read = oddly  # type: ignore[method-assign]


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_a_window_that_nobody_needs_stops_no_failover(consistency: str) -> None:
    followed = planned_twice(consistency)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    odd_about(followed, kept_keys(followed)[0])
    silent(followed)
    take_over(followed)
    assert promotion(followed).position.event_id == newest
    assert at_replica(followed) == held


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_one_that_may_be_needed_is_moved_aside_as_the_message_says(consistency: str) -> None:
    followed = planned_twice(consistency)
    begin, needed = position(followed), kept_keys(followed)[1]
    newest = followed.world.source.current_event_id()
    odd_about(followed, needed)
    silent(followed)
    with pytest.raises(Unexplained, match="nobody knows what is staged") as told:
        named_by_plan(followed)
    command = str(told.value).partition("hdfs dfs -mv ")[2].partition(". Nothing")[0]
    place, aside = shlex.split(command)
    assert followed.world.replica_files.rename(place, aside)
    assert kept_keys(followed) != [needed]
    take_over(followed)
    assert begin < promotion(followed).position.event_id < newest


def test_without_any_other_the_replica_takes_over_where_it_is() -> None:
    followed = ready(Followed(tuned(consistency="window_end")))
    followed.users.insert("plain", None, [b"one"])
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    begin, ((_, dump),) = position(followed), kept_windows(followed.world.replica_files, followed.policy)
    odd_about(followed, dump.key)
    silent(followed)
    with pytest.raises(Unexplained, match=f"hdfs dfs -mv {dump.layout.directory} "):
        take_over(followed, begin)
    assert followed.world.replica_files.rename(dump.layout.directory, f"{dump.layout.directory}.aside")
    assert named_by_plan(followed) == begin
    take_over(followed)
    assert promotion(followed).position.event_id == begin
