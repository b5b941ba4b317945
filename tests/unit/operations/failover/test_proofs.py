"""Whichever way a planned failover goes, what it rests on is of this moment: ways and proofs, each with each."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from tests.support.builders import a_policy
from tests.support.worlds.fake_world import Killed
from tests.unit.operations.failover.test_failback_external import SwitchedExternals, bring
from tests.unit.operations.failover.test_failover import HOLDER
from tests.unit.operations.failover.test_fence import HOME, Fenced, killed_once_open
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.core.model.failover.fence import QUOTA, FenceRules
from twinhive.core.model.marks import PHASE
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Reader, commands_of, render
from twinhive.core.ports import WritePorts
from twinhive.operations.actions.unlock import Unlock
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.proof import (
    OLD_BEHIND_QUOTA_SECONDS,
    OLD_SECONDS,
    Proof,
    now_ms,
    refuse_another_moment,
)
from twinhive.operations.operation_kinds import OperationFields, operation_of
from twinhive.replication.dump.dump_store import newest_pass
from twinhive.replication.dump.log_point import LogPoint
from twinhive.replication.external_tables import list_external, sync_external, sync_status
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.replica import begun_failover
from twinhive.replication.replica.sync_records import Synced
from twinhive.runtime.pipeline.runner import run_whole

PROOF = Proof(Position(7, 8, "d"), "t", 1_000)


class Taking(Fenced):
    """A replica that is about to take over from a source of managed tables."""

    def follow_to_the_end(self) -> None:
        while not self.follow()["window"].idle:
            pass


class TakingExternals(SwitchedExternals):
    """The same with external tables, whose data was copied before any failover began."""

    def fail_over(self, policy: Policy, ports: WritePorts) -> None:
        self.policy = policy

    def follow_to_the_end(self) -> None:
        """Let events go on, and copy nothing."""

    @property
    def late(self) -> bytes | None:
        """What the new primary has of the file that was written after the last copy."""
        path = "hdfs://west/ext/data/logs/late"
        files = self.world.replica_files
        return files.read(path) if files.status(path) else None

    def write_late(self) -> None:
        self.world.source_files.put("hdfs://east/data/logs/late", b"acknowledged")


def phase(taking: Any) -> str:
    return str(taking.world.replica.database("sales").parameters[PHASE])


def pass_time(taking: Any, seconds: float) -> None:
    """Let time go by at the replica's NameNode, or back."""
    tree = taking.world.replica_files._tree
    tree._times = count(tree.new_time() + int(seconds * 1000), 1000)


def failover_of(taking: Any) -> Failover:
    return Failover(taking.policy, HOLDER, wait=lambda seconds: None, run_command=lambda words, environment: None)


# How a failover is done.


def from_a_terminal(taking: Any) -> None:
    replace(failover_of(taking), catch_up=lambda token: taking.follow_to_the_end()).run(taking.world.ports())


def by_the_form(taking: Any) -> None:
    """Nothing is brought there: the fence's own mark is an event, so that the first try asks for a run."""
    operation = replace(operation_of("failover", taking.policy, HOLDER, OperationFields()), wait=lambda seconds: None)
    with suppress(TryAgain):
        operation.run(taking.world.ports())
        return
    taking.follow_to_the_end()
    operation.run(taking.world.ports())


def handed_over(proof: Proof) -> Proof:
    """Return a proof as the next task of a DAG finds it."""
    found = Proof.read(json.loads(json.dumps(proof.written())))
    assert found is not None
    return found


def task_by_task(taking: Any) -> None:
    failover_of(taking).fence(taking.world.ports())
    taking.follow_to_the_end()
    quiet = handed_over(failover_of(taking).prove_quiet(taking.world.ports()))
    _, compared = failover_of(taking).prove_equal(taking.world.ports(), quiet)
    failover_of(taking).promote(taking.world.ports(), quiet, handed_over(compared))


def cleared_alone(taking: Any) -> None:
    """Let the first try be refused; then clear `prove_quiet` alone, and `promote` alone."""
    failover_of(taking).fence(taking.world.ports())
    taking.follow_to_the_end()
    quiet = failover_of(taking).prove_quiet(taking.world.ports())
    _, compared = failover_of(taking).prove_equal(taking.world.ports(), quiet)
    with suppress(TwinhiveError):
        failover_of(taking).promote(taking.world.ports(), quiet, compared)
    assert phase(taking) == "following"
    taking.follow_to_the_end()
    with suppress(TwinhiveError):
        quiet = failover_of(taking).prove_quiet(taking.world.ports())
    failover_of(taking).promote(taking.world.ports(), quiet, compared)


WAYS = (from_a_terminal, by_the_form, task_by_task, cleared_alone)


# What is no proof of this moment.


def once_before(monkeypatch: pytest.MonkeyPatch, method: str, spoil: Callable[[], Any]) -> None:
    """Let something happen right before a failover does a part of its work, the first time."""
    original, left = getattr(Failover, method), [spoil]

    def then(operation: Failover, *given: Any) -> Any:
        while left:
            left.pop()()
        return original(operation, *given)

    monkeypatch.setattr(Failover, method, then)


def an_abort_was_killed(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking = Taking(QUOTA)

    def abort() -> None:
        with pytest.raises(Killed), killed_once_open(taking):
            AbortFailover(taking.policy, HOLDER).run(taking.world.ports())
        Unlock(taking.policy, HOLDER).run(taking.world.ports())
        taking.world.source_files.put(f"{HOME}/plain/silent", b"acknowledged")
        # As if somebody had shut it again by hand: only the token tells.
        taking.shut_by_hand()

    once_before(monkeypatch, "promote", abort)
    return taking


def an_administrator_opened_the_fence(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking = Taking(QUOTA)
    once_before(monkeypatch, "promote", lambda: taking.world.source_files.set_name_quota(HOME, None))
    return taking


def a_file_was_opened(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking = Taking(QUOTA)
    once_before(monkeypatch, "promote", lambda: taking.world.source_files.opened.add(f"{HOME}/plain/part"))
    return taking


def an_event_came(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking = Taking()
    once_before(monkeypatch, "promote", lambda: taking.users.insert("plain", None, [b"told by an event"]))
    return taking


def a_silent_write_while_it_was_compared(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking, original = Taking(), Failover.compare

    def compare(operation: Failover, ports: WritePorts) -> list[str]:
        lines = original(operation, ports)
        taking.world.source_files.put(f"{taking.users.location('plain')}/silent", b"acknowledged")
        pass_time(taking, 5 * 3600)
        return lines

    monkeypatch.setattr(Failover, "compare", compare)
    return taking


def compared_long_ago(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking = Taking()
    once_before(monkeypatch, "promote", lambda: pass_time(taking, OLD_SECONDS + 1))
    return taking


def compared_long_ago_behind_a_quota(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking = Taking(QUOTA)
    once_before(monkeypatch, "promote", lambda: pass_time(taking, OLD_BEHIND_QUOTA_SECONDS + 1))
    return taking


def a_time_that_has_not_come(monkeypatch: pytest.MonkeyPatch) -> Taking:
    taking = Taking()
    once_before(monkeypatch, "promote", lambda: pass_time(taking, -3600))
    return taking


def external_data_after_the_last_pass(monkeypatch: pytest.MonkeyPatch) -> TakingExternals:
    taking = TakingExternals()
    taking.write_late()
    return taking


def a_pass_by_a_clock_ahead(monkeypatch: pytest.MonkeyPatch) -> TakingExternals:
    real = time.time
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time", lambda: real() + 86_400)
        taking = TakingExternals()
    taking.write_late()
    return taking


def external_data_between_start_and_fence(monkeypatch: pytest.MonkeyPatch) -> TakingExternals:
    """The pass ran after the failover had begun, and before its fence stood."""
    taking = TakingExternals()
    taking.policy = replace(taking.policy, fence=FenceRules((QUOTA,)))
    set_quota, files = taking.world.source_files.set_name_quota, taking.world.source_files

    def meanwhile(path: str, names: int | None) -> None:
        del files.set_name_quota
        bring(taking.policy, taking.world.ports())
        taking.write_late()
        set_quota(path, names)

    files.set_name_quota = meanwhile  # type: ignore[method-assign]
    return taking


PROOFS: dict[Callable[[pytest.MonkeyPatch], Any], str] = {
    an_abort_was_killed: "has begun, or it was given up",
    an_administrator_opened_the_fence: "somebody has opened the fence",
    a_file_was_opened: "are open for writing",
    an_event_came: "is still written|at another moment|not at the source's newest event",
    a_silent_write_while_it_was_compared: "is too old|at another moment",
    compared_long_ago: "is too old|at another moment",
    compared_long_ago_behind_a_quota: "is too old|at another moment",
    a_time_that_has_not_come: "has not come yet|at another moment",
    external_data_after_the_last_pass: "may lack what was written last",
    a_pass_by_a_clock_ahead: "may lack what was written last",
    external_data_between_start_and_fence: "may lack what was written last",
}


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.__name__)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_what_is_no_proof_of_this_moment_is_refused_by_each_way(
    way: Callable[[Any], None], proof: Callable[[pytest.MonkeyPatch], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = proof(monkeypatch)
    with pytest.raises((ActNow, TryAgain), match=PROOFS[proof]):
        way(taking)
    assert phase(taking) == "following"


@pytest.mark.parametrize("rungs", [(), (QUOTA,)])
@pytest.mark.parametrize("way", WAYS[:-1], ids=lambda way: way.__name__)
def test_a_proof_of_this_moment_lets_it_take_over_by_each_way(
    way: Callable[[Any], None], rungs: tuple[str, ...]
) -> None:
    taking = Taking(*rungs)
    way(taking)
    assert phase(taking) == "promoted"


def test_a_large_database_is_compared_for_hours_behind_a_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    taking = Taking(QUOTA)
    once_before(monkeypatch, "promote", lambda: pass_time(taking, 5 * 3600))
    from_a_terminal(taking)
    assert phase(taking) == "promoted"


def test_the_form_says_what_brings_external_data_and_that_works() -> None:
    taking = TakingExternals()
    taking.write_late()
    with pytest.raises(ActNow) as caught:
        by_the_form(taking)
    said = caught.value.next_step
    assert said is not None
    assert "start the DAG sales.failover" in render(said, Reader.COMMANDS)
    assert commands_of(said) == ("twinhive failover sales",)
    copying = replace(failover_of(taking), catch_up=lambda token: bring(taking.policy, taking.world.ports()))
    copying.run(taking.world.ports())
    assert (phase(taking), taking.late) == ("promoted", b"acknowledged")


def test_behind_a_quota_the_form_goes_on_with_the_pass_that_was_made_meanwhile() -> None:
    taking = TakingExternals()
    taking.policy = replace(taking.policy, fence=FenceRules((QUOTA,)))
    taking.write_late()
    with pytest.raises(ActNow, match="may lack"):
        by_the_form(taking)
    bring(taking.policy, taking.world.ports())
    by_the_form(taking)
    assert (phase(taking), taking.late) == ("promoted", b"acknowledged")


def test_without_a_fence_each_try_begins_anew() -> None:
    """What was copied since an earlier try says nothing of what was written after that one was given up."""
    taking = TakingExternals()
    failover_of(taking).fence(taking.world.ports())
    bring(taking.policy, taking.world.ports())
    taking.write_late()
    with pytest.raises(ActNow, match="may lack"):
        by_the_form(taking)
    failover_of(taking).fence(taking.world.ports())
    assert "not listed since this failover has begun" in str(failover_of(taking).is_behind(taking.world.ports()))
    bring(taking.policy, taking.world.ports())
    assert failover_of(taking).is_behind(taking.world.ports()) is None


def test_a_copy_that_began_before_the_token_is_late_though_its_list_is_not() -> None:
    taking = TakingExternals()
    files = taking.world.replica_files
    failover_of(taking).fence(taking.world.ports())
    token = begun_failover.token_of(files, taking.policy)
    assert sync_status.why_data_is_late(taking.world.ports(), taking.policy, "") is not None, "'' is no token"

    def listed_since(*given: Any) -> Any:
        found = newest_pass(*given)
        assert found is not None
        return replace(found, manifest=replace(found.manifest, failover=token))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sync_status, "newest_pass", listed_since)
        late = sync_status.why_data_is_late(taking.world.ports(), taking.policy, token)
    assert "no complete copy began since this failover has begun" in str(late)


@pytest.mark.parametrize("step", [list_external, sync_external])
def test_a_failover_that_begins_while_the_source_is_looked_at_is_not_seen(
    step: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is read before the source is asked for anything: all that was written before it will be found."""
    taking = TakingExternals()
    taking.write_late()
    files = taking.world.replica_files
    failover_of(taking).fence(taking.world.ports())
    before = begun_failover.token_of(files, taking.policy)

    class BegunMeanwhile(SourceLog):
        def newest(self, *given: Any) -> LogPoint:
            failover_of(taking).fence(taking.world.ports())
            return super().newest(*given)

    monkeypatch.setattr(step, "SourceLog", BegunMeanwhile)
    run_whole("external", taking.policy, taking.world.ports(), {"run": "e"}, lambda line: None)
    assert taking.late == b"acknowledged"
    token = begun_failover.token_of(files, taking.policy)
    assert token != before
    listed = newest_pass(taking.world.source_files, taking.policy)
    record = Synced(files, taking.policy).record_of("hdfs://east/data/logs")
    assert listed is not None and record is not None
    assert (listed.manifest if step is list_external else record).failover != token
    assert sync_status.why_data_is_late(taking.world.ports(), taking.policy, token) is not None


@pytest.mark.parametrize(
    "compared",
    [
        replace(PROOF, event=Position(7, 8, "another of its id")),
        replace(PROOF, token="t2"),
        replace(PROOF, began_ms=999),
        replace(PROOF, began_ms=2_000 + 1),
    ],
)
def test_a_comparison_is_of_the_event_the_failover_and_after_the_beginning_of_what_was_quiet(compared: Proof) -> None:
    policy = a_policy()
    refuse_another_moment(policy, PROOF, PROOF, 2_000)
    with pytest.raises(ActNow):
        refuse_another_moment(policy, PROOF, compared, 2_000)


def test_tasks_of_an_aborted_failover_prove_nothing() -> None:
    taking = Taking()
    failover_of(taking).fence(taking.world.ports())
    quiet = failover_of(taking).prove_quiet(taking.world.ports())
    _, compared = failover_of(taking).prove_equal(taking.world.ports(), quiet)
    AbortFailover(taking.policy, HOLDER).run(taking.world.ports())
    for act in (
        lambda: failover_of(taking).prove_quiet(taking.world.ports()),
        lambda: failover_of(taking).promote(taking.world.ports(), quiet, compared),
    ):
        with pytest.raises(ActNow, match="has begun, or it was given up"):
            act()
    assert phase(taking) == "following"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"token": 7}', b"{}"])
def test_a_token_that_cannot_be_read_is_none(content: bytes) -> None:
    taking = Taking()
    taking.world.replica_files.put(begun_failover.token_path(taking.policy), content)
    assert begun_failover.token_of(taking.world.replica_files, taking.policy) == ""


def test_a_proof_is_read_as_it_was_written() -> None:
    proof = Proof(Position(7, 8, "d"), "t", 9)
    assert handed_over(proof) == proof
    for said in ({}, {**proof.written(), "began_ms": None}, {"compared_at": 1.5}):
        assert Proof.read(said) is None


def test_time_goes_on_by_the_clock_of_the_replicas_namenode() -> None:
    taking = Taking()
    files = taking.world.replica_files
    first = now_ms(files, taking.policy)
    pass_time(taking, 60)
    assert now_ms(files, taking.policy) - first >= 60_000
