"""What holds a policy back names the command by which it goes on, in a form that can be copied."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.builders import a_policy
from tests.support.worlds.fake_world import a_world
from tests.unit.replication.incremental.test_event_reached import Replicated
from twinhive.core.model.errors import LeaseHeld
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.text import commands_of, render
from twinhive.core.ports import Lease
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.replication.operator_requests.request_files import begin_forgetting, is_paused, pause, with_way_on

GO_ON = ("twinhive pause sales --off",)


@pytest.fixture
def replicated() -> Replicated:
    return Replicated()


def test_who_waits_for_a_paused_policy_is_given_the_command(replicated: Replicated) -> None:
    replicated.write()
    pause(replicated.world.replica_files, replicated.policy, "moving house", "ann")
    lack = replicated.lacks()
    assert lack is not None and "moving house" in render(lack.why)
    assert commands_of(lack.why) == GO_ON


def test_a_policy_that_is_being_forgotten_goes_on_by_that_alone(replicated: Replicated) -> None:
    begin_forgetting(replicated.world.replica_files, replicated.policy)
    reason = is_paused(replicated.world.replica_files, replicated.policy)
    assert reason is not None and commands_of(reason) == ("twinhive forget sales",)
    assert with_way_on(replicated.policy, reason) == reason
    assert commands_of(with_way_on(replicated.policy, "a move")) == GO_ON


def test_a_lease_that_others_hold_names_the_command_for_a_dead_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()

    @contextmanager
    def held(*_: object) -> Iterator[Lease]:
        raise LeaseHeld("held", found="run x")
        yield

    monkeypatch.setattr(world.lease, "hold", held)
    work = Work(a_policy(), holder={"run": "r"})
    with pytest.raises(LeaseHeld) as raised, hold_lease(world.ports(), work, LeaseKind.EVENTS):
        pass
    assert raised.value.commands == (f"twinhive unlock {work.policy.name}",)
