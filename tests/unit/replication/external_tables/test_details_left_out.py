"""A detail of a waiting table that the replica's metastore does not take is named, and stops nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.worlds.external_followed import FollowedExternals
from tests.unit.replication.external_tables.test_log_nobody_knows import work
from twinhive.core.model.errors import Missing, Refused, TwinhiveError, Unexplained
from twinhive.runtime.pipeline.phases import WINDOW

Step = Callable[[FollowedExternals], None]


def key(followed: FollowedExternals) -> None:
    followed.users.add_constraint("child", "primary_key", "pk")


def dropped_key(followed: FollowedExternals) -> None:
    key(followed)
    followed.users.drop_constraint("child", "pk")


def statistics(followed: FollowedExternals) -> None:
    followed.users.update_statistics("child")


def deleted_statistics(followed: FollowedExternals) -> None:
    statistics(followed)
    followed.users.delete_statistics("child")


REFUSED = {
    "add_constraints": (key, "constraint pk of sales.child: no"),
    "drop_constraint": (dropped_key, "the drop of constraint pk of sales.child: no"),
    "set_statistics": (statistics, "column statistics of sales.child: no"),
    "delete_statistics": (deleted_statistics, "the deletion of column statistics of sales.child: no"),
}


def refusing(method: str, of: Step, error: TwinhiveError) -> FollowedExternals:
    """Return a replica with a waiting table, whose data is there now, and whose metastore refuses a call for it."""
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_external("child")
    of(followed)
    followed.follow()
    assert followed.pending == ("child",)
    followed.sync()

    def refuse(*given: Any) -> None:
        raise error

    setattr(followed.world.replica, method, refuse)
    return followed


def left_out(followed: FollowedExternals) -> set[str]:
    return {line.removeprefix("left out: ") for line in followed.log if "sales.child" in line and "left out" in line}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [Refused, Missing, Unexplained])
@pytest.mark.parametrize("method", list(REFUSED))
def test_each_refused_detail_is_left_out_and_named(method: str, kind: type[TwinhiveError]) -> None:
    of, line = REFUSED[method]
    followed = refusing(method, of, kind("no"))
    followed.follow()
    assert followed.pending == () and followed.on_replica("child") is not None
    assert left_out(followed) == {line}
    followed.users.insert("plain", None, [b"more"])
    followed.follow()


def test_an_answer_that_nobody_knows_is_left_out_after_the_last_try() -> None:
    followed = refusing("set_statistics", statistics, Unexplained("MetaException: odd"))
    ports = followed.world.ports()
    with pytest.raises(Unexplained, match="odd"):
        WINDOW(work(followed, is_last_try=False)).run(ports)
    assert followed.pending == ("child",)
    WINDOW(work(followed, is_last_try=True)).run(ports)
    assert followed.pending == ()


def test_a_foreign_key_whose_other_table_has_lost_its_key_meanwhile_stops_nothing() -> None:
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_table("parent", files=[b"x"])
    followed.users.add_constraint("parent", "primary_key", "pk")
    followed.users.create_external("child")
    followed.users.add_constraint("child", "foreign_key", "fk", parent="parent")
    followed.users.drop_constraint("parent", "pk")
    followed.follow()
    followed.sync()
    followed.follow()
    assert followed.pending == () and followed.on_replica("child") is not None
    (line,) = left_out(followed)
    assert line.startswith("constraint fk of sales.child: ")


def test_what_an_earlier_try_has_said_is_not_named() -> None:
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_external("child")
    key(followed)
    statistics(followed)
    followed.follow()
    followed.sync()
    original: Any = followed.world.replica.set_statistics

    def fail(*given: Any) -> None:
        followed.world.replica.set_statistics = original  # type: ignore[method-assign]
        raise Unexplained("odd")

    followed.world.replica.set_statistics = fail  # type: ignore[method-assign]
    with pytest.raises(Unexplained):
        WINDOW(work(followed, is_last_try=False)).run(followed.world.ports())
    followed.follow()
    assert followed.pending == () and left_out(followed) == set()
    followed.assert_twin()
