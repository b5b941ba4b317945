"""What differs is looked at again when a scan has had its turn, and only then somebody is called."""

import pytest

from tests.unit.replication.verify.test_verify import parameter
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import ActNow
from twinhive.core.step.step_base import Work
from twinhive.replication.verify.recheck import LookAgain
from twinhive.replication.verify.verification_outcome import Verified


def look_again(verifying: Verifying, during=lambda: None) -> Verified:
    waited: list[float] = []

    def wait(seconds: float) -> None:
        verifying.now += seconds
        waited.append(seconds)
        during()

    work = Work(verifying.followed.policy, holder={"run": "v"}, report=verifying.followed.say)
    found = LookAgain(work, clock=lambda: verifying.now, wait=wait).run(verifying.world.ports())
    verifying.waited = sum(waited)
    return found


def test_nothing_is_waited_for_where_nothing_differs() -> None:
    verifying = Verifying()
    found = verifying.verify()
    assert look_again(verifying) == found
    assert verifying.waited == 0


def test_damage_is_waited_for_and_raised_with_the_next_command() -> None:
    verifying = Verifying()
    parameter(verifying)
    begun = verifying.now + 900
    assert verifying.verify().suspected == 1
    with pytest.raises(ActNow) as raised:
        look_again(verifying)
    assert verifying.now - begun == 900
    assert raised.value.commands == ("twinhive repair sales plain",)
    assert "plain: meta (parameters.by: source None, replica 'hand')" in str(raised.value)


def test_what_a_scan_brings_meanwhile_calls_nobody() -> None:
    verifying = Verifying()
    there = verifying.world.replica.table(verifying.users.name("plain"))
    parameter(verifying)
    verifying.verify()
    found = look_again(verifying, lambda: verifying.world.replica.alter_table(there.name, there))
    assert found.is_equal


def test_who_has_mended_clears_the_task_and_it_is_green() -> None:
    verifying = Verifying()
    there = verifying.world.replica.table(verifying.users.name("plain"))
    parameter(verifying)
    verifying.verify()
    with pytest.raises(ActNow):
        look_again(verifying)
    verifying.world.replica.alter_table(there.name, there)
    assert look_again(verifying).is_equal
