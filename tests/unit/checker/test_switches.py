"""The judges of switch histories see what they are for, and a seed tells the same history each time."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.checker.memory_histories import one_thread
from tests.checker.switches.beside import Actor
from tests.checker.switches.features import ALL, Feature, chosen, drawn
from tests.checker.switches.history import History, run_history
from tests.checker.switches.two_sides import DATABASE, Side
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName

PEOPLE = frozenset({Feature.FOREIGN, Feature.PEOPLE})


def a_history(features: frozenset[Feature] = PEOPLE) -> History:
    with one_thread(Random(1)):
        history = History(1, features)
        history.attempt(history.bring)
    history.check()
    assert not history.violations
    return history


def kinds(history: History) -> list[str]:
    history.check()
    return [one.kind for one in history.violations]


def _drop(side: Side, table: str) -> None:
    side.metastore.drop_table(TableName(DATABASE, table), delete_data=False)


def _unmade_commit(side: Side) -> None:
    side.users.set_parameters("ice", {"metadata_location": "v0"})


def _stamp(side: Side) -> None:
    side.users.set_parameters("private_plain", {STAMP: "log-east:8"})


def _mark(side: Side) -> None:
    side.files.set_attribute(side.users.location("private"), "user.twinhive.table", "sales_back:failback")


def _delete(side: Side) -> None:
    side.files.delete(f"{side.users.location('acid')}/p=1")


def _drop_partition(side: Side) -> None:
    side.metastore.drop_partitions(TableName(DATABASE, "private"), ["p=1"], delete_data=False)


def _other_database(side: Side) -> None:
    side.metastore.drop_function("archive", "theirs")


@pytest.mark.parametrize("where", ["east", "west"])
@pytest.mark.parametrize(
    "harm",
    [
        lambda side: _drop(side, "acid"),
        lambda side: _drop(side, "handled"),
        _unmade_commit,
        _stamp,
        _mark,
        _delete,
        _drop_partition,
        _other_database,
    ],
)
def test_whatever_is_done_to_what_is_not_replicated_is_seen(where: str, harm: Callable[[Side], Any]) -> None:
    history = a_history()
    harm(getattr(history.two, where))
    assert "foreign" in kinds(history)


def test_its_own_users_may_do_to_it_what_they_like() -> None:
    history = a_history()
    for _ in range(200):
        history.foreign_act()
        history.primary_acts()
    assert kinds(history) == []


def test_a_change_of_a_table_that_people_write_is_seen_and_a_mark_of_ours_is_none() -> None:
    history = a_history()
    history.primary.users.set_parameters("plain", {STAMP: "log-west:3"})
    assert kinds(history) == []
    history.primary.users.add_columns("plain", [("new", "int")])
    assert kinds(history) == ["people's"]


def test_a_row_that_is_nowhere_is_seen_unless_its_users_have_removed_it() -> None:
    history = a_history()
    history.primary_acts(lambda side: side.users.overwrite("plain", None, {"f": b"other"}))
    assert kinds(history) == []
    for side in history.two.sides:
        for path in [one for one in side.files.paths() if "orders" in one]:
            side.files.delete_file(path)
    assert "rows nowhere" in kinds(history)


def test_what_is_in_flight_at_a_primary_is_seen_to_go() -> None:
    history = a_history()
    history.primary_acts(history.people._fly)
    assert kinds(history) == []
    history.primary.files.delete(next(iter(history.people.in_flight["east"])).rpartition("/")[0])
    assert kinds(history) == ["in flight"]


def test_users_act_between_any_two_calls_and_nothing_comes_between_a_look_and_a_write_without_comparison() -> None:
    history, calls = a_history(), 0
    metastore, name = history.way.replica.metastore, TableName(DATABASE, "orders")

    def alter(ports: Any) -> None:
        nonlocal calls
        for _ in range(300):
            calls += 1
            some = ports.replica.partitions(name, ports.replica.partition_names(name))
            seen = metastore.current_event_id()
            ports.replica.alter_partitions(some)
            assert metastore.current_event_id() == seen + bool(some)

    done = len(history.people.done)
    history.operate("alter", history.way, alter, (Actor.FOREIGN, Actor.PRIMARY), kills=False)
    assert len(history.people.done) > done and calls == 300


def test_a_seed_tells_the_same_history_each_time() -> None:
    first, second = (run_history(7, chosen(["foreign", "people", "stale", "kills"])) for _ in range(2))
    assert first.steps == second.steps and first.violations == second.violations


def test_features_are_chosen_by_name_with_what_they_need() -> None:
    assert chosen(["all"]) == ALL and chosen(["none"]) == frozenset()
    assert chosen(["-external", "-forms"]) == ALL - {Feature.EXTERNAL, Feature.FORMS}
    assert chosen(["hooks"]) == {Feature.HOOKS, Feature.FENCE}
    assert set().union(*map(drawn, range(200))) == ALL
