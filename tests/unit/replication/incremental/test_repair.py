"""A repair touches what is not equal, and nothing else; readers never miss the table; killed anywhere it goes on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.seeds import kill_points
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.verify.test_verify import (
    ORDERS,
    PLAIN,
    added,
    column,
    constraint,
    flipped,
    parameter,
    partition_extra,
    partition_missing,
    partition_parameter,
    removed,
    truncated,
    view_text,
)
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.quarantine import with_frozen
from twinhive.replication.operator_requests.request_files import request_table, requested_tables

DAMAGES: dict[str, tuple[Callable[[Verifying], object], str, int]] = {
    "flipped": (flipped, "orders", 2),
    "added": (added, "orders", 2),
    "removed": (removed, "plain", 2),
    "truncated": (truncated, "plain", 2),
    "partition_missing": (partition_missing, "orders", 0),
    "partition_extra": (partition_extra, "orders", 0),
    "partition_parameter": (partition_parameter, "orders", 0),
    "column": (column, "plain", 0),
    "parameter": (parameter, "plain", 0),
    "constraint": (constraint, "plain", 0),
    "view_text": (view_text, "recent", 0),
}
"""Each with its table, and how many files its leaf has that are copied anew."""


@pytest.fixture(params=sorted(DAMAGES))
def damaged(request: pytest.FixtureRequest) -> tuple[Verifying, str, int]:
    verifying = Verifying()
    damage, table, files = DAMAGES[request.param]
    damage(verifying)
    return verifying, table, files


def wish(followed: Followed, table: str) -> None:
    request_table(followed.world.replica_files, followed.policy, table, "ann", repairs=True)


def ids(followed: Followed) -> dict[str, int]:
    """Return all files of readers with their ids: equal ones are the same files."""
    files = followed.world.replica_files
    paths = [path for path in files.paths() if "/warehouse/" in path and not files.status(path).is_directory]
    return {path: files.status(path).file_id for path in paths}


def test_a_leaf_is_repaired_and_nothing_else_is_copied_or_touched(damaged: tuple[Verifying, str, int]) -> None:
    verifying, table, copied = damaged
    followed = verifying.followed
    before = ids(followed)
    wish(followed, table)
    followed.follow()
    followed.assert_twin()
    assert verifying.verify(deep=True).is_equal
    after = ids(followed)
    assert {path: after[path] for path in before.keys() & after.keys()} == {
        path: before[path] for path in before.keys() & after.keys()
    }
    assert len(after.keys() - before.keys()) == copied
    assert requested_tables(followed.world.replica_files, followed.policy) == ()


def test_a_table_that_is_equal_is_not_touched_at_all() -> None:
    followed = Followed()
    before = followed.world.replica.table(ORDERS), ids(followed)
    wish(followed, "orders")
    followed.follow()
    assert (followed.world.replica.table(ORDERS), ids(followed)) == before
    assert any("keep 4" in line for line in followed.log)


def test_events_of_the_same_window_come_with_the_repair() -> None:
    verifying = Verifying()
    flipped(verifying)
    verifying.users.insert("orders", ("50%=#:ü",), [b"more"])
    verifying.users.add_partitions("orders", {("new",): [b"x"]})
    verifying.users.drop_partitions("orders", [("no files",)])
    wish(verifying.followed, "orders")
    verifying.followed.follow()
    verifying.followed.assert_twin()


def test_a_repair_releases_a_table_from_quarantine() -> None:
    followed = Followed()
    parameters = followed.world.replica.database("sales").parameters
    followed.world.replica.set_database_parameters("sales", with_frozen(parameters, "plain", "4 broken"))
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    wish(followed, "plain")
    followed.follow()
    followed.assert_twin()


def test_readers_never_miss_the_table_or_what_of_it_was_equal(damaged: tuple[Verifying, str, int]) -> None:
    verifying, table, _ = damaged
    followed, name = verifying.followed, replace(ORDERS, table=table)
    before = {one.values for one in followed.world.replica.partitions(ORDERS, ["p=50%25%3D%23%3Aü"])}

    def look() -> None:
        assert followed.world.replica.table(name) is not None
        assert {one.values for one in followed.world.replica.partitions(ORDERS, ["p=50%25%3D%23%3Aü"])} == before

    wish(followed, table)
    ports = followed.world.ports()
    followed.run_with(replace(ports, replica=Watched(ports.replica, look)))
    followed.assert_twin()


class Watched:
    """Look around after each call."""

    def __init__(self, port: Any, look: Callable[[], None]) -> None:
        self._port, self._look = port, look

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            result = value(*args, **kwargs)
            self._look()
            return result

        return call if callable(value) else value


@pytest.mark.thorough
@pytest.mark.parametrize("after_effect", [False, True])
@pytest.mark.parametrize("name", ["flipped", "removed", "partition_extra", "constraint"])
def test_killed_at_any_change_a_rerun_ends_equal(name: str, after_effect: bool) -> None:
    damage, table, _ = DAMAGES[name]
    for at in range(1, 400)[kill_points()]:
        verifying = Verifying()
        damage(verifying)
        verifying.users.insert("orders", ("50%=#:ü",), [b"more"])
        wish(verifying.followed, table)
        switch = KillSwitch(at, after_effect=after_effect)
        try:
            verifying.followed.run_with(killable(verifying.world.ports(), switch))
        except Killed:
            verifying.followed.follow()
            verifying.followed.follow()
            verifying.followed.assert_twin()
            assert verifying.verify(deep=True).is_equal
        else:
            assert at > 6, "a repair is more than one change"
            return
    raise AssertionError("it never ends")


def test_a_table_that_cannot_be_compared_is_built_anew() -> None:
    followed = Followed()
    followed.world.replica.drop_table(PLAIN, delete_data=False)
    wish(followed, "plain")
    followed.follow()
    followed.assert_twin()
