"""Only the same kind of work takes a lease from who may live, and housekeeping gives way to all."""

import pytest

from twinhive.core.model.lease_kinds import LeaseKind, Manner, manner_of

WORK = sorted(set(LeaseKind) - {LeaseKind.HOUSEKEEPING, LeaseKind.UNLOCK}, key=str)


@pytest.mark.parametrize("kind", WORK)
def test_the_next_try_of_the_same_work_takes_it_at_once(kind: LeaseKind) -> None:
    assert manner_of(kind, kind) is Manner.TAKE


@pytest.mark.parametrize("mine", [*WORK, LeaseKind.HOUSEKEEPING])
@pytest.mark.parametrize("theirs", WORK)
def test_other_work_is_left_alone(mine: LeaseKind, theirs: LeaseKind) -> None:
    if mine is not theirs and (mine, theirs) != (LeaseKind.EVENTS, LeaseKind.LOAD):
        assert manner_of(mine, theirs) is Manner.WAIT_THEN_LEAVE


def test_events_take_over_from_a_load_that_has_published_and_was_killed_then() -> None:
    assert manner_of(LeaseKind.EVENTS, LeaseKind.LOAD) is Manner.WAIT_THEN_TAKE


@pytest.mark.parametrize("mine", [*WORK, LeaseKind.HOUSEKEEPING])
def test_housekeeping_is_waited_for_and_a_killed_one_taken_over(mine: LeaseKind) -> None:
    assert manner_of(mine, LeaseKind.HOUSEKEEPING) is Manner.WAIT_THEN_TAKE


@pytest.mark.parametrize("theirs", [*LeaseKind, None])
def test_a_person_who_says_that_the_holder_is_dead_is_believed(theirs: LeaseKind | None) -> None:
    assert manner_of(LeaseKind.UNLOCK, theirs) is Manner.TAKE


def test_a_holder_of_a_version_that_did_not_say_its_kind_stops_no_work_for_good() -> None:
    assert LeaseKind.of(None) is None
    assert {manner_of(kind, None) for kind in WORK if kind is not LeaseKind.COPY} == {Manner.WAIT_THEN_TAKE}
    assert manner_of(LeaseKind.COPY, None) is Manner.TAKE, "nothing but copies holds the lease of a tree"
    assert manner_of(LeaseKind.HOUSEKEEPING, None) is Manner.WAIT_THEN_LEAVE


@pytest.mark.parametrize("kind", LeaseKind)
def test_a_kind_is_read_as_it_was_written(kind: LeaseKind) -> None:
    assert LeaseKind.of(kind.value) is kind
