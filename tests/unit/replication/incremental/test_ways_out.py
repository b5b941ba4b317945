"""What on-call asks for ends a window that cannot end; and what one table cannot have stops no other."""

from collections.abc import Callable

import pytest

from tests.support.builders import a_table
from tests.support.worlds.copies_world import contents
from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Refused, Unexplained
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.replication.operator_requests.request_files import everything_requested
from twinhive.runtime.pipeline.phases import APPLY, INCREMENTAL

PLAIN = TableName("sales", "plain")
HOLDER = {"by": "ann"}


def dropped_by_hand(followed: Followed) -> None:
    followed.world.replica.drop_table(PLAIN, delete_data=False)


def file_is_lost(followed: Followed) -> None:
    files = followed.world.source_files
    for path in [path for path in files.paths() if path.endswith("/told")]:
        files.delete(path)


def frozen(followed: Followed) -> dict[str, str]:
    return frozen_tables(followed.world.replica.database("sales").parameters)


@pytest.mark.parametrize("expires", [False, True], ids=["the log is whole", "the log expires"])
@pytest.mark.parametrize("trouble", [dropped_by_hand, file_is_lost])
def test_everything_is_brought_over_though_a_window_has_begun(
    trouble: Callable[[Followed], None], *, expires: bool
) -> None:
    followed = Followed()
    followed.users.insert("plain", None, {"told": b"rows"})
    trouble(followed)
    with pytest.raises(ActNow):
        followed.follow()
    followed.users.insert("orders", ("a b",), [b"more"])
    if expires:
        followed.world.source.expire_events(followed.world.source.current_event_id())
    ResyncEverything(followed.policy, HOLDER).run(followed.world.ports())
    followed.follow()
    followed.assert_twin()
    assert everything_requested(followed.world.replica_files, followed.policy) == ""
    assert followed.follow()["window"].idle


def test_a_second_request_for_everything_ends_the_window_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    ResyncEverything(followed.policy, HOLDER).run(followed.world.ports())
    with monkeypatch.context() as refusing, pytest.raises(ActNow):
        refusing.setattr(followed.world.replica, "alter_table", refuses(Refused("altering: no")))
        followed.follow()
    ResyncEverything(followed.policy, HOLDER).run(followed.world.ports())
    followed.follow()
    followed.assert_twin()
    assert everything_requested(followed.world.replica_files, followed.policy) == ""


def refuses(error: ActNow) -> Callable[..., None]:
    def refuse(*given: object, **named: object) -> None:
        raise error

    return refuse


def test_a_table_that_comes_whole_and_is_refused_is_frozen_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    dropped_by_hand(followed)
    Resync(followed.policy, "plain", HOLDER).run(followed.world.ports())
    followed.users.insert("orders", ("a b",), [b"more"])
    with monkeypatch.context() as refusing:
        refusing.setattr(followed.world.replica, "create_table", refuses(Refused("creating plain: no")))
        followed.follow()
    assert frozen(followed).keys() == {"plain"}
    assert "creating plain: no" in frozen(followed)["plain"]
    assert any("plain is frozen: creating plain: no" in line for line in followed.log)
    Resync(followed.policy, "plain", HOLDER).run(followed.world.ports())
    followed.follow()
    assert frozen(followed) == {}
    followed.assert_twin()


def test_a_table_of_somebody_else_in_the_way_of_one_that_comes_whole_freezes_that_alone() -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    dropped_by_hand(followed)
    followed.world.replica.create_table(a_table("sales.plain", location="hdfs://west/mine"))
    followed.users.files.write("hdfs://east/elsewhere/plain/other", b"other rows")
    followed.users.set_location("plain", "hdfs://east/elsewhere/plain")
    followed.users.insert("orders", ("a b",), [b"more"])
    for _ in range(2):
        followed.follow()
    assert frozen(followed).keys() == {"plain"}
    assert followed.world.replica.table(PLAIN).location == "hdfs://west/mine"


def test_a_table_that_comes_whole_still_stops_the_run_where_the_policy_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    dropped_by_hand(followed)
    Resync(followed.policy, "plain", HOLDER).run(followed.world.ports())
    monkeypatch.setattr(followed.world.replica, "create_table", refuses(Refused("creating plain: no")))
    with pytest.raises(ActNow, match="creating plain: no"):
        followed.follow()
    assert frozen(followed) == {}


DETAILS: dict[str, tuple[str, Callable[[Followed], object]]] = {
    "a primary key": ("add_constraints", lambda one: one.users.add_constraint("plain", "primary_key", "c")),
    "not null": ("add_constraints", lambda one: one.users.add_constraint("plain", "not_null", "c")),
    "statistics": ("set_statistics", lambda one: one.users.update_statistics("plain")),
}


@pytest.mark.parametrize("error", [Refused("it says: no"), Unexplained("it says: hm")], ids=["refused", "unexplained"])
@pytest.mark.parametrize("rule", ["stop", "quarantine"])
@pytest.mark.parametrize("name", DETAILS)
def test_a_detail_that_is_refused_is_left_out_and_stops_nothing(
    name: str, rule: str, error: ActNow, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, act = DETAILS[name]
    followed = Followed(tuned(on_object_error=rule))
    act(followed)
    followed.users.insert("plain", None, [b"more"])
    monkeypatch.setattr(followed.world.replica, call, refuses(error))
    followed.follow()
    assert frozen(followed) == {}
    assert any("it says: " in line for line in followed.log)
    there = followed.world.replica_files
    place = followed.world.replica.table(PLAIN).location
    assert {b"plain", b"more"} <= set(contents(there, place).values())
    assert followed.follow()["window"].idle


@pytest.mark.parametrize("name", DETAILS)
def test_an_answer_that_nobody_knows_leaves_a_detail_out_after_the_last_try_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, act = DETAILS[name]
    followed = Followed()
    act(followed)
    ports = followed.world.ports()
    dump = followed.run_with(ports, INCREMENTAL[:2])["window"].dump
    with monkeypatch.context() as refusing, pytest.raises(Unexplained):
        refusing.setattr(followed.world.replica, call, refuses(Unexplained("it says: hm")))
        APPLY(Work(followed.policy, dump=dump, holder={"run": "i"}, is_last_try=False)).run(ports)
    APPLY(Work(followed.policy, dump=dump, holder={"run": "i"})).run(ports)
    followed.assert_twin()
