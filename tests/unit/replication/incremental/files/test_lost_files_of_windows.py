"""Files of a window that nobody has any more freeze their tables; what only was not copied is never taken for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.operations.failover.test_failover import parameters, position, promotion, ready, silent
from tests.unit.replication.incremental.files.test_salvage import (
    UP_TO_COPY,
    at_replica,
    at_source,
    named_by_plan,
    take_over,
)
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, CopyDiffers, Refused, TryAgain, TwinhiveError, Unreachable
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import Dump, dumps_of, open_dump
from twinhive.replication.incremental.salvage import Salvage
from twinhive.replication.replica.replica_state import read_state
from twinhive.runtime.pipeline.phases import APPLY


def quarantining() -> Followed:
    return ready(Followed(tuned(on_object_error="quarantine")))


def insert_that_is_lost(followed: Followed, *contents: bytes) -> None:
    """Insert files that no place has any more when they are copied."""
    world = followed.world
    before = set(world.source_files.paths())
    followed.users.insert("plain", None, list(contents) or [b"lost one"])
    for path in set(world.source_files.paths()) - before:
        status = world.source_files.status(path)
        if status is not None and not status.is_directory:
            world.source_files.delete_file(path)


@contextmanager
def failing(followed: Followed, where: str, error: TwinhiveError) -> Iterator[None]:
    """Let files at the source fail that have something in their paths."""
    files: Any = followed.world.source_files
    original = files.open

    def refuse(path: str, *given: Any, **named: Any) -> Any:
        if where in path:
            raise error
        return original(path, *given, **named)

    files.open = refuse
    yield
    files.open = original


def window(followed: Followed) -> Dump:
    files = followed.world.ports().dump_files
    return open_dump(files, dumps_of(files, followed.policy, DumpKind.INCREMENTAL)[-1])


def apply_alone(followed: Followed) -> Any:
    return APPLY(Work(followed.policy, dump=window(followed).key, holder={"run": "i"})).run(followed.world.ports())


FAILURES = pytest.mark.parametrize(
    "error",
    [
        Unreachable("the source is down for a moment", next_step="wait"),
        Refused("the source says no", next_step="ask it why"),
        CopyDiffers("the copy is another one", next_step="look"),
    ],
    ids=["unreachable", "refused", "differs"],
)


@FAILURES
def test_a_lost_file_does_not_let_other_failures_of_its_batch_pass(error: TwinhiveError) -> None:
    followed = quarantining()
    insert_that_is_lost(followed)
    followed.users.insert("orders", ("a b",), [b"three"])
    begin = position(followed)
    with failing(followed, "/orders/", error), pytest.raises(TwinhiveError):
        followed.run_with(followed.world.ports(), UP_TO_COPY)
    with pytest.raises(ActNow, match=r"1 of 2 files are not copied"):
        apply_alone(followed)
    assert position(followed) == begin and frozen_tables(parameters(followed)) == {}
    followed.follow()
    assert list(frozen_tables(parameters(followed))) == ["plain"]
    assert at_replica(followed)["sales.orders"] == at_source(followed)["sales.orders"]


@FAILURES
def test_a_failover_names_and_takes_the_event_before_what_is_not_copied(error: TwinhiveError) -> None:
    followed = quarantining()
    users, begin, held = followed.users, position(followed), at_source(followed)
    insert_that_is_lost(followed)
    users.insert("orders", ("a b",), [b"three", b"four"])
    users.set_parameters("orders", {"colour": "red"})
    with failing(followed, "/orders/", error), pytest.raises(TwinhiveError):
        followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    assert named_by_plan(followed) == begin
    take_over(followed)
    assert promotion(followed).position.event_id == begin
    assert frozen_tables(parameters(followed)) == {} and at_replica(followed) == held


def test_files_that_were_needed_earlier_do_not_stand_for_those_that_are_missing() -> None:
    """A failover is killed when it has applied a part of the window: what it has not is no more there than before."""
    followed = quarantining()
    users = followed.users
    users.insert("plain", None, [b"one", b"two", b"three"])
    users.set_parameters("plain", {"colour": "blue"})
    at, held = followed.world.source.current_event_id(), at_source(followed)
    users.insert("orders", ("a b",), [b"four", b"five"])
    with failing(followed, "/orders/", Unreachable("the source is dying", next_step="wait")), pytest.raises(TryAgain):
        followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    ports = followed.world.ports()
    Salvage(followed.policy, {"run": "r"}, at).run(ports, read_state(ports.replica, followed.policy, "log-east"))
    assert position(followed) == at == named_by_plan(followed)
    take_over(followed)
    assert promotion(followed).position.event_id == at and at_replica(followed) == held
