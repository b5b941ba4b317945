"""Results of copies that do not count lost files, as earlier versions wrote them: what staging lacks is looked at."""

import json

import pytest

from tests.unit.operations.failover.test_failover import parameters, position, promotion, silent
from tests.unit.replication.incremental.files.test_lost_files_of_windows import (
    apply_alone,
    failing,
    insert_that_is_lost,
    quarantining,
    window,
)
from tests.unit.replication.incremental.files.test_salvage import (
    UP_TO_COPY,
    at_replica,
    at_source,
    named_by_plan,
    take_over,
)
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, TwinhiveError, Unreachable
from twinhive.core.model.quarantine import frozen_tables
from twinhive.replication.dump.dump_layout import result_path

_MOST_LISTED = 100


def as_before(followed: Followed) -> None:
    """Let the result be one that does not count lost files, and lists lost ones alone, as many as have room."""
    dump, files, staging = window(followed), followed.world.replica_files, followed.policy.staging
    (batch,) = (batch.name for batch in dump.manifest.batches)
    path = result_path(staging, dump.key, batch)
    record = json.loads(files.read(path))
    del record["lost_files"], record["more_lost"]
    record["failures"] = [one for one in record["failures"] if one["kind"] == "lost"][:_MOST_LISTED]
    assert len(record["failures"]) < record["failure_count"]
    files.write(path, json.dumps(record).encode())


def more_lost_than_is_listed() -> Followed:
    followed = quarantining()
    insert_that_is_lost(followed, *[b"%d" % number for number in range(_MOST_LISTED + 20)])
    followed.users.insert("orders", ("a b",), [b"three"])
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    as_before(followed)
    return followed


def test_more_lost_files_than_are_listed_freeze_their_table() -> None:
    followed = more_lost_than_is_listed()
    apply_alone(followed)
    assert position(followed) == followed.world.source.current_event_id()
    assert list(frozen_tables(parameters(followed))) == ["plain"]
    assert at_replica(followed)["sales.orders"] == at_source(followed)["sales.orders"]


def test_a_failover_right_after_the_upgrade_takes_all_that_is_staged() -> None:
    followed = more_lost_than_is_listed()
    newest, orders = followed.world.source.current_event_id(), at_source(followed)["sales.orders"]
    silent(followed)
    assert named_by_plan(followed) == newest
    take_over(followed)
    assert promotion(followed).position.event_id == newest
    assert list(frozen_tables(parameters(followed))) == ["plain"]
    assert at_replica(followed)["sales.orders"] == orders


def test_a_failure_of_another_event_that_is_not_listed_is_not_excused() -> None:
    followed = quarantining()
    insert_that_is_lost(followed, b"one", b"two")
    followed.users.insert("orders", ("a b",), [b"three"])
    begin, dying = position(followed), Unreachable("the source is down for a moment", next_step="wait")
    with failing(followed, "/orders/", dying), pytest.raises(TwinhiveError):
        followed.run_with(followed.world.ports(), UP_TO_COPY)
    as_before(followed)
    with pytest.raises(ActNow, match="1 of 3 files are not copied") as caught:
        apply_alone(followed)
    assert "clear the copy tasks of this run" in str(caught.value).lower()
    assert position(followed) == begin and frozen_tables(parameters(followed)) == {}
