"""A copy that is killed after its last file and before its result: all is staged, and a failover applies all."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import seeds
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import killable, tuned
from tests.unit.operations.failover.test_failover import position, promotion, ready, silent
from tests.unit.replication.incremental.files.test_lost_files_of_windows import failing, window
from tests.unit.replication.incremental.files.test_salvage import (
    UP_TO_COPY,
    at_replica,
    at_source,
    named_by_plan,
    states,
    take_over,
)
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import TwinhiveError, Unreachable
from twinhive.replication.dump.dump_layout import WHOLE_TABLES, result_path
from twinhive.replication.operator_requests.request_files import request_table


def results(followed: Followed, prefix: str = "") -> list[str]:
    """Return where the window's copies write what they have done, of the batches whose names begin so."""
    dump, staging = window(followed), followed.policy.staging
    names = [batch.name for batch in dump.manifest.batches]
    return [result_path(staging, dump.key, name) for name in names if name.startswith(prefix)]


def copy_killed_before_its_result(followed: Followed, prefix: str = "") -> None:
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    for path in results(followed, prefix):
        followed.world.replica_files.delete_file(path)


def second_copy_killed_before_its_result(followed: Followed) -> None:
    """Copy what is not of `orders`; then the source answers again, and the copy is repeated, and killed."""
    dying = Unreachable("the source is down for a moment", next_step="wait")
    with failing(followed, "/orders/", dying), pytest.raises(TwinhiveError):
        followed.run_with(followed.world.ports(), UP_TO_COPY)
    files = followed.world.replica_files
    before = {path: files.read(path) for path in results(followed)}
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    for path, content in before.items():
        files.write(path, content)


@pytest.fixture(params=["every_event", "window_end"])
def followed(request: pytest.FixtureRequest) -> Followed:
    followed = ready(Followed(tuned(consistency=request.param)))
    followed.users.insert("plain", None, [b"one"])
    followed.users.insert("orders", ("a b",), [b"three", b"four"])
    followed.users.set_parameters("orders", {"colour": "blue"})
    return followed


@pytest.mark.parametrize("copy", [copy_killed_before_its_result, second_copy_killed_before_its_result])
def test_all_that_is_staged_is_applied(followed: Followed, copy: Callable[[Followed], None]) -> None:
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    copy(followed)
    silent(followed)
    assert named_by_plan(followed) == newest
    take_over(followed)
    assert promotion(followed).position.event_id == newest
    assert at_replica(followed) == held


@pytest.mark.parametrize(("prefix", "is_taken"), [("w", True), (WHOLE_TABLES, False)], ids=["events", "whole tables"])
def test_beside_a_table_that_comes_whole_its_own_copy_has_to_have_said_so(
    followed: Followed, prefix: str, is_taken: bool
) -> None:
    """Which of its files are staged is not looked for."""
    request_table(followed.world.replica_files, followed.policy, "plain", "me")
    begin = position(followed)
    copy_killed_before_its_result(followed, prefix)
    end = window(followed).manifest.end.event_id
    silent(followed)
    assert named_by_plan(followed) == (end if is_taken else begin)


def whole(followed: Followed) -> None:
    """Leave all staged, of which no result tells."""
    copy_killed_before_its_result(followed)


def in_part(followed: Followed) -> None:
    """Leave staged what comes before the last event with files."""
    copy_killed_before_its_result(followed)
    files, events = followed.world.replica_files, f"{followed.policy.staging}/events/"
    staged = sorted(path for path in files.paths() if path.startswith(events))
    files.delete_file([path for path in staged if not files.status(path).is_directory][-1])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("consistency", "left"), [("every_event", whole), ("window_end", whole), ("every_event", in_part)]
)
def test_a_salvage_killed_at_any_change_is_ended_by_a_rerun_at_the_event_that_it_was_to_reach(
    consistency: str, left: Callable[[Followed], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has applied is in staging no more: a rerun that looked there would stop before it."""
    monkeypatch.setattr(seeds, "kill_points", lambda step: slice(None))
    followed = ready(Followed(tuned(consistency=consistency, batch_objects=1)))
    users = followed.users
    seen = states(
        followed,
        [
            lambda: users.insert("plain", None, [b"one", b"two", b"three"]),
            lambda: users.insert("orders", ("a b",), [b"four", b"five"]),
            lambda: users.set_parameters("plain", {"colour": "blue"}),
        ],
    )
    left(followed)
    at = named_by_plan(followed)
    assert at > position(followed)

    def act(world: Followed, switch: Any) -> None:
        take_over(world, at, killable(world.world.ports(), switch))

    for one in left_by_kills(lambda: followed, act):
        silent(one)
        take_over(one, at)
        assert promotion(one).position.event_id == at
        assert at_replica(one) == seen[at]
