"""Do what people ask for on a metastore that somebody writes events to all the time."""

import pytest

from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.policy import Policy
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.notification_log.event_stream import NextEventRange
from twinhive.replication.operator_requests.request_files import requested_tables
from twinhive.runtime.pipeline.phases import INCREMENTAL

HOLDER = {"run": "x"}


def never_resting(followed: Followed, monkeypatch: pytest.MonkeyPatch, happens) -> None:
    """Let something happen at the source after each reading of its log."""
    read = type(followed.world.source).events_after

    def events_after(source, event_id: int, limit: int):
        rows = read(source, event_id, limit)
        happens()
        return rows

    monkeypatch.setattr(followed.world.source, "events_after", events_after.__get__(followed.world.source))


def somebody_elses(followed: Followed):
    return lambda: followed.world.source.emit("OPEN_TXN", None, None, {"txnIds": [1]})


def of_another_table(followed: Followed):
    return lambda: followed.users.set_parameters("empty", {"at": str(followed.world.source.current_event_id())})


@pytest.mark.parametrize("happens", [somebody_elses, of_another_table])
def test_a_table_is_brought_over_by_the_first_window_on_a_source_that_never_rests(monkeypatch, happens) -> None:
    followed = Followed()
    Resync(followed.policy, "plain", HOLDER).run(followed.world.ports())
    never_resting(followed, monkeypatch, happens(followed))
    followed.follow()
    assert requested_tables(followed.world.replica_files, followed.policy) == ()
    assert not any("frozen" in line for line in followed.log)
    monkeypatch.undo()
    followed.follow()
    followed.assert_twin()


def test_a_table_waits_for_the_window_that_is_not_cut_by_its_limits(monkeypatch) -> None:
    policy: Policy = tuned(window_events=2)
    followed = Followed(policy)
    for number in range(3):
        followed.users.create_table(f"made{number}", files=[b"row"])
    Resync(policy, "plain", HOLDER).run(followed.world.ports())
    never_resting(followed, monkeypatch, somebody_elses(followed))
    followed.follow()
    assert any("frozen until a window reaches the newest event: plain" in line for line in followed.log)
    followed.follow()
    assert requested_tables(followed.world.replica_files, policy) == ()
    monkeypatch.undo()
    followed.follow()
    followed.assert_twin()


def test_a_table_that_becomes_external_while_another_is_read_comes_whole_as_well(monkeypatch) -> None:
    followed = FollowedExternals.from_the_beginning()
    followed.settle()
    Resync(followed.policy, "plain", HOLDER).run(followed.world.ports())
    left = [lambda: followed.users.make_external("empty"), lambda: followed.users.insert("plain", None, [b"more"])]
    read = followed.world.source.table

    def table(name):
        found = read(name)
        if left and name.table == "plain":
            left.pop()()
        return found

    monkeypatch.setattr(followed.world.source, "table", table)
    for _ in range(3):
        followed.follow()
    followed.settle()
    assert not left
    followed.assert_twin()


def test_an_event_that_is_to_be_skipped_is_not_in_a_window_that_reads_on(monkeypatch) -> None:
    followed = Followed()
    Resync(followed.policy, "plain", HOLDER).run(followed.world.ports())
    followed.users.insert("orders", ("a b",), [b"more"])
    event_id = followed.world.source.current_event_id()
    SkipEvent(followed.policy, event_id, "rows of no use", HOLDER).run(followed.world.ports())
    # The window's own reading ends before it.
    monkeypatch.setattr(
        "twinhive.replication.incremental.plan_window.window_after",
        lambda ports, policy, begin, skipped: NextEventRange(EventRange(begin, begin, ()), is_cut=False),
    )
    followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    followed.follow()
    assert not any("planned again" in line for line in followed.log)
