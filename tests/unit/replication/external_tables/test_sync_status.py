"""Who waits for external tables does not wait for the events of others, which no window is cut for."""

import time

import pytest

from tests.support.builders import a_table
from tests.support.worlds.external_followed import FollowedExternals
from tests.unit.replication.external_tables.test_restored_source import copy
from twinhive.core.model.objects import Database
from twinhive.replication.dump.dump_store import newest_pass
from twinhive.replication.dump.passes.pass_manifest import PassManifest
from twinhive.replication.external_tables.sync_status import why_not_in_sync
from twinhive.replication.incremental import plan_window
from twinhive.replication.notification_log import newest_in_scope


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> FollowedExternals:
    """Return a replica at the newest event; that of the fake log is years old, and is to be one of this hour."""
    monkeypatch.setattr(plan_window, "_SILENT_SECONDS", 10**12)
    followed = FollowedExternals.from_the_beginning()
    followed.world.source.create_database(Database("elsewhere", None, None, {}, "{}"))
    for once in (lambda: copy(followed), followed.follow):
        once()
    return followed


def others(followed: FollowedExternals, name: str) -> None:
    followed.world.source.create_table(a_table(f"elsewhere.{name}"))


def why_not(followed: FollowedExternals, since: float) -> str | None:
    return why_not_in_sync(followed.world.ports(), followed.policy, since)


def listed_by(followed: FollowedExternals) -> PassManifest:
    found = newest_pass(followed.world.source_files, followed.policy)
    assert found is not None
    return found.manifest


def test_events_of_other_databases_are_not_waited_for(followed: FollowedExternals) -> None:
    for number in range(3):
        others(followed, f"t{number}")
        since = time.time()
        copy(followed)
        followed.follow()
        assert why_not(followed, since) is None
    assert listed_by(followed).event_id == followed.world.source.current_event_id()


def test_an_event_in_scope_before_those_of_others_is_waited_for(followed: FollowedExternals) -> None:
    followed.users.create_external("late")
    own = followed.world.source.current_event_id()
    others(followed, "after")
    since = time.time()
    copy(followed)
    assert listed_by(followed).in_scope == own
    assert f"the data of its external tables at {own}" in str(why_not(followed, since))
    followed.follow()
    followed.follow()
    assert why_not(followed, since) is None


def test_what_came_after_the_pass_is_not_waited_for(followed: FollowedExternals) -> None:
    others(followed, "before")
    since = time.time()
    ask = followed.world.source.table_names

    def meanwhile(database: str) -> list[str]:
        followed.world.source.table_names = ask  # type: ignore[method-assign]
        followed.users.insert("plain", None, [b"more"])
        return ask(database)

    followed.world.source.table_names = meanwhile  # type: ignore[method-assign]
    copy(followed)
    assert followed.world.source.current_event_id() > listed_by(followed).event_id
    assert why_not(followed, since) is None


@pytest.mark.parametrize("case", ["far behind", "a gap"])
def test_where_it_is_not_told_the_pass_itself_is_waited_for(
    followed: FollowedExternals, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    others(followed, "one")
    others(followed, "two")
    source = followed.world.source
    if case == "far behind":
        monkeypatch.setattr(newest_in_scope, "_MOST_EVENTS", 1)
    if case == "a gap":
        source.expire_events(source.current_event_id() - 1)
    copy(followed)
    assert listed_by(followed).in_scope == source.current_event_id()
