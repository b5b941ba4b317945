"""What becomes of the tables of a running policy whose file says something else of external tables than before."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.external_followed import POLICY, FollowedExternals
from tests.support.worlds.fake_world import tuned
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import EXTERNAL_RULES, SOURCE_FOR
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.operations.actions.skip_event import SkipEvent


def test_more_tables_than_a_window_takes_all_come_and_each_once() -> None:
    policy: Policy = tuned(POLICY, window_partitions=1)
    followed = FollowedExternals(policy)
    for name in ("first", "second", "third"):
        followed.users.create_external(name)
    followed.settle()
    assert followed.follow()["window"].idle
    came = [line for line in followed.log if "was brought over" in line]
    assert len(came) == 4 and len(set(came)) == 4
    followed.assert_twin()


STAY = ("hdfs://east/data/.*",)
THERE = "hdfs://east/data/made"
BELOW = "hdfs://west/ext/data/made"


def changed(followed: FollowedExternals, **external: Any) -> None:
    """Let the policy file say something else of external tables."""
    followed.policy = replace(
        followed.policy, external=replace(followed.policy.external, **external), fingerprint=f"of {external}"
    )


def with_tables(**external: Any) -> FollowedExternals:
    """Return a replica with a table, one of which only a partition lies elsewhere, and one that no change is about."""
    followed = FollowedExternals.from_the_beginning(replace(POLICY, external=replace(POLICY.external, **external)))
    followed.users.create_external("made")
    followed.users.create_external("parts", ("p",), location="hdfs://east/other/parts")
    followed.users.add_external("parts", ("far",), below="hdfs://east/data/far")
    followed.users.create_external("beside", location="hdfs://east/other/beside")
    followed.settle()
    followed.log.clear()
    return followed


def brought_over(followed: FollowedExternals) -> set[str]:
    return {line.partition(" ")[0] for line in followed.log if "was brought over" in line}


@pytest.mark.parametrize(
    ("first", "then", "before", "after"), [((), STAY, BELOW, THERE), (STAY, (), THERE, BELOW)], ids=["added", "removed"]
)
def test_another_stay_brings_those_tables_over_that_lie_elsewhere_now(
    first: tuple[str, ...], then: tuple[str, ...], before: str, after: str
) -> None:
    followed = with_tables(stay=first)
    assert followed.on_replica("made").location == before
    changed(followed, stay=then)
    followed.settle()
    assert followed.on_replica("made").location == after
    assert brought_over(followed) == {"made", "parts"}
    followed.assert_twin()
    assert followed.follow()["window"].idle


def test_data_that_is_copied_from_now_on_is_waited_for() -> None:
    followed = with_tables(data="metadata_only", stay=("hdfs://east/other/.*",))
    changed(followed, data="copy")
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    assert followed.pending == ("made", "outside", "parts")
    assert followed.on_replica("made") is not None, "it stays until its data is there"
    followed.settle()
    assert followed.pending == () and brought_over(followed) == {"made", "outside", "parts"}
    followed.assert_twin()


def test_data_that_is_not_copied_any_more_brings_nothing_over() -> None:
    followed = with_tables()
    changed(followed, data="metadata_only")
    followed.settle()
    assert brought_over(followed) == set()


def test_rules_that_no_parameter_can_hold_bring_all_over_when_they_change() -> None:
    followed = with_tables(stay=tuple(f"s3a://lake{number}/.*" for number in range(400)))
    changed(followed, stay=())
    followed.settle()
    assert brought_over(followed) == {"made", "parts", "beside", "outside"}
    followed.assert_twin()


def test_a_replica_that_does_not_say_by_which_rules_it_was_made_goes_on() -> None:
    followed = with_tables()
    replica = followed.world.replica
    kept = {key: value for key, value in replica.database("sales").parameters.items() if key != EXTERNAL_RULES}
    replica.set_database_parameters("sales", kept)
    followed.users.insert("plain", None, [b"more"])
    followed.settle()
    assert brought_over(followed) == set()
    changed(followed, stay=STAY)
    followed.settle()
    assert followed.on_replica("made").location == THERE


def test_what_was_dropped_or_renamed_while_external_tables_were_left_out_goes() -> None:
    followed = with_tables()
    followed.users.create_external("waits")
    followed.follow()
    changed(followed, included=False)
    followed.users.drop_table("made")
    followed.users.drop_table("waits")
    followed.users.rename_table("beside", "besides")
    followed.follow()
    foreign = replace(followed.users.table("parts"), name=TableName("sales", "theirs"), parameters={"EXTERNAL": "TRUE"})
    followed.world.replica.create_table(foreign)
    changed(followed, included=True)
    followed.settle()
    assert followed.pending == ()
    assert followed.on_replica("theirs") is not None, "it is nobody's of ours"
    followed.world.replica.drop_table(foreign.name, delete_data=False)
    assert followed.world.replica.table_names("sales") == followed.world.source.table_names("sales")
    followed.assert_twin()
    assert followed.follow()["window"].idle


@pytest.mark.parametrize("damaged", ["{}", "no JSON", '{"data": "copy", "stay": 3}', "[]"])
def test_rules_that_nobody_can_read_count_as_others(damaged: str) -> None:
    followed = with_tables()
    replica = followed.world.replica
    said = {**replica.database("sales").parameters, EXTERNAL_RULES: damaged}
    replica.set_database_parameters("sales", said)
    followed.users.insert("plain", None, [b"more"])
    followed.settle()
    assert brought_over(followed) == {"made", "parts", "beside", "outside"}
    followed.assert_twin()


def test_what_a_dropped_source_database_had_stays_also_when_external_tables_are_included_again() -> None:
    followed = with_tables()
    changed(followed, included=False)
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    there = followed.world.replica.table_names("sales")
    source = followed.world.source
    said = source.database("sales").parameters
    source.set_database_parameters("sales", {key: value for key, value in said.items() if key != SOURCE_FOR})
    source.drop_database("sales")
    dropped = source.current_event_id()
    with pytest.raises(ActNow):
        followed.follow()
    SkipEvent(followed.policy, dropped, "by mistake", {"run": "x"}).run(followed.world.ports())
    changed(followed, included=True)
    for _ in range(3):
        with suppress(ActNow):
            followed.follow()
    assert followed.world.replica.table_names("sales") == there
