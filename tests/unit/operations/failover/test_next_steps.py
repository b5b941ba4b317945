"""What an error of a failover offers is typed as it stands, and leads on: to its end, or back to where it began."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.support.policy_terminal import Offered
from tests.support.worlds.copies import copies_of, lease_of
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.support.worlds.memory_comparison import contents
from tests.unit.operations.failover.test_adopt import INSIDE, seeded
from tests.unit.operations.failover.test_adopt import follow as follow_seeded
from tests.unit.operations.failover.test_divergence import rows_kept
from tests.unit.operations.failover.test_failback import BACK, Switched, of_another_policy
from tests.unit.operations.failover.test_failover import (
    HOLDER,
    behind,
    frozen,
    parameters,
    planned,
    position,
    promotion,
    ready,
    silent,
    unplanned,
    written_silently,
)
from tests.unit.operations.failover.test_fence import HOME, Fenced
from tests.unit.operations.failover.test_left_source import NORTH, Hub
from tests.unit.operations.failover.test_newer_tables import write
from tests.unit.operations.failover.test_promotion_note import restored
from tests.unit.operations.failover.test_proofs import PROOFS, TakingExternals, failover_of, pass_time, task_by_task
from tests.unit.operations.failover.test_ways_back import NORTH as NORTH_BACK
from tests.unit.publishing.set_visibility.test_shown_sets import Producer
from tests.unit.replication.incremental.files.test_salvage_troubles import NO, failing_once, staged
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import (
    ActNow,
    Foreign,
    LeaseHeld,
    LeaseLost,
    Missing,
    Refused,
    TryAgain,
    TwinhiveError,
    Unreachable,
)
from twinhive.core.model.failover.fence import FENCED, QUOTA, FenceRules
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import PHASE, POLICY, SOURCE_LOG, STAMP, without_marks
from twinhive.core.model.names import TableName
from twinhive.core.model.text import Reader, render
from twinhive.core.step.promotion_note import PromotionNote, write_promotion_note
from twinhive.core.step.replica_lease import lease_directory
from twinhive.operations.actions.resync import Resync
from twinhive.operations.failover.adopt import SEED, Adopt
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.promotion import PROMOTED
from twinhive.replication.external_tables.sync_external import SyncExternal
from twinhive.replication.incremental.kept_windows import DIRECTORY
from twinhive.runtime.pipeline.runner import run_bootstrap, run_whole

FAILOVER, ABORT = "twinhive failover sales", "twinhive failover sales --abort"
LOOK = "twinhive failover sales --unplanned --dry-run"
NAMED = re.compile(r"twinhive failover sales --unplanned --at \d+ --reason '\.\.\.'")


def offered_to(one: Any) -> Offered:
    return Offered(lambda: {"sales": (one.policy, one.world.ports)})


def refused(act: Callable[[], object], family: type[TwinhiveError] = TwinhiveError) -> TwinhiveError:
    """Return what something ends with; what can be typed stands in its next step."""
    with pytest.raises(family) as caught:
        act()
    error = caught.value
    said = render(error.next_step or "", Reader.COMMANDS)
    assert all(command in said for command in error.commands)
    return error


def is_promoted(one: Any) -> bool:
    return str(one.world.replica.database("sales").parameters[PHASE]) == "promoted"


def take_over(one: Any, error: TwinhiveError) -> list[str]:
    """Go on as the errors say until the replica has taken over; return what was typed."""
    offered = offered_to(one)
    offered.go_on(error, lambda: is_promoted(one), FAILOVER)
    return offered.typed


# A planned failover.


def what_people_do(taking: Any) -> None:
    """Do what the texts ask of people: stop who has a file open, let clocks be right, wait until a look is old."""
    taking.world.source_files.opened.clear()
    pass_time(taking, 3 * 3600)
    taking.policy = replace(taking.policy, options=replace(taking.policy.options, settle_seconds=0))


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.__name__)
def test_who_lacks_a_proof_goes_on_as_the_errors_say(proof: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        taking = proof(patched)
        error = refused(lambda: task_by_task(taking))
    what_people_do(taking)
    take_over(taking, error)


@pytest.mark.parametrize("proof", [one for one in PROOFS if "quota" in one.__name__ or "opened" in one.__name__])
def test_who_lacks_a_proof_behind_a_fence_lets_the_writers_in_as_the_errors_say(
    proof: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        taking = proof(patched)
        error = refused(lambda: task_by_task(taking))
    assert ABORT in error.commands and offered_to(taking).type(ABORT)[1] is None
    assert taking.mark is None and taking.quota in (None, 5_000)
    taking.users.insert("plain", None, [b"let in again"])
    taking.follow_to_the_end()
    world = taking.world
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)


def still_written(followed: Followed) -> TwinhiveError:
    write = planned(followed, lambda: followed.users.insert("plain", None, [b"late"]))
    return refused(lambda: write.run(followed.world.ports()), ActNow)


def behind_its_source(followed: Followed) -> TwinhiveError:
    behind(followed)
    return refused(lambda: planned(followed).run(followed.world.ports()), TryAgain)


def written_without_an_event(followed: Followed) -> TwinhiveError:
    followed.policy = tuned(followed.policy, settle_seconds=0)
    written_silently(followed)
    followed.world.source_files.pass_time(1e6)
    return refused(lambda: planned(followed).run(followed.world.ports()), TryAgain)


@pytest.mark.parametrize(
    ("spoil", "typed"),
    [
        (still_written, [FAILOVER]),
        (behind_its_source, ["twinhive run sales incremental", FAILOVER]),
        (written_without_an_event, ["twinhive run sales scan", "twinhive run sales incremental", FAILOVER]),
    ],
)
def test_a_source_that_is_written_is_taken_over_as_the_errors_say(
    spoil: Callable[[Followed], TwinhiveError], typed: list[str]
) -> None:
    followed = ready(Followed())
    assert take_over(followed, spoil(followed)) == typed


def test_tables_that_are_quarantined_are_repaired_first() -> None:
    followed = ready(Followed())
    frozen(followed)
    error = refused(lambda: planned(followed).run(followed.world.ports()), ActNow)
    assert [offered_to(followed).type(line)[1] for line in error.commands] == [None]
    followed.follow()
    assert offered_to(followed).type(FAILOVER)[1] is None and is_promoted(followed)


@pytest.mark.parametrize("is_quiet", [True, False])
def test_sets_that_are_marked_late_are_shown_first(is_quiet: bool) -> None:
    producer = Producer()
    ready(producer)
    if is_quiet:
        producer.mark("p=a b")
    late = planned(producer, lambda: None if is_quiet else producer.mark("p=a b"))
    if is_quiet:
        producer.follow()
        producer.mark("*", "plain")
    take_over(producer, refused(lambda: late.run(producer.world.ports())))
    assert "orders p=a b" in producer.shown


def test_copies_that_were_given_up_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    taking = TakingExternals()
    failover_of(taking).fence(taking.world.ports())
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(SyncExternal, "run", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        run_whole("external", taking.policy, taking.world.ports(), {"run": "e"}, lambda line: None)
    error = refused(lambda: failover_of(taking).prove_quiet(taking.world.ports()), TryAgain)
    assert "is being copied" in str(error)
    take_over(taking, error)


# A fence.


def a_fence() -> Fenced:
    fenced = Fenced(QUOTA)
    fenced.failover().fence(fenced.world.ports())
    return fenced


def by_hand(fenced: Fenced) -> None:
    fenced.world.source_files.set_name_quota(HOME, None)


def without_the_mark(fenced: Fenced) -> None:
    source = fenced.world.source
    found = source.database("sales").parameters
    source.set_database_parameters("sales", {key: value for key, value in found.items() if key != FENCED})


def aborted(fenced: Fenced) -> TwinhiveError:
    return refused(lambda: AbortFailover(fenced.policy, HOLDER).run(fenced.world.ports()))


def test_a_fence_whose_note_is_gone_is_taken_away_by_hand() -> None:
    fenced = a_fence()
    note = f"{fenced.policy.staging}/control/fence.json"
    fenced.world.replica_files.write(note, b"{")
    assert "then delete the note" in str(aborted(fenced))
    by_hand(fenced)
    fenced.world.replica_files.delete_file(note)
    assert "take twinhive.fenced off the database" in str(aborted(fenced))
    without_the_mark(fenced)
    assert offered_to(fenced).type(ABORT)[1] is None
    fenced.users.insert("plain", None, [b"let in"])
    assert offered_to(fenced).type(FAILOVER)[1] is None and is_promoted(fenced)


def test_a_mark_that_nobody_can_read_is_taken_away() -> None:
    fenced = a_fence()
    source = fenced.world.source
    source.set_database_parameters("sales", {**source.database("sales").parameters, FENCED: "by somebody"})
    assert "take the parameter away" in str(aborted(fenced))
    by_hand(fenced)
    without_the_mark(fenced)
    assert offered_to(fenced).type(FAILOVER)[1] is None and is_promoted(fenced)


def test_a_quota_that_would_keep_others_out_is_taken_out_of_the_policy_file() -> None:
    fenced = Fenced(QUOTA)
    database = fenced.world.source.database("sales")
    inner = replace(database, name="inner", managed_location=f"{HOME}/inner", location=None, parameters={})
    fenced.world.source.create_database(inner)
    assert "take quota out" in str(refused(lambda: fenced.failover().run(fenced.world.ports()), Refused))
    fenced.policy = replace(fenced.policy, fence=FenceRules())
    assert offered_to(fenced).type(FAILOVER)[1] is None and is_promoted(fenced)


def test_the_fence_of_another_failover_is_taken_away_by_that_one() -> None:
    fenced = a_fence()
    hub = Hub(fenced)
    hub.follow()
    error = refused(lambda: AbortFailover(NORTH, HOLDER).plan(hub.ports()), Foreign)
    offered = Offered(lambda: {"sales": (fenced.policy, fenced.world.ports), "sales_n": (NORTH, hub.ports)})
    assert error.commands == (ABORT,) and offered.type(ABORT)[1] is None
    assert fenced.mark is None
    hub.follow()
    assert offered.type("twinhive failover sales_n")[1] is None and hub.phase == "promoted"


def test_a_lease_of_who_is_dead_is_taken() -> None:
    fenced = a_fence()
    hold = fenced.world.lease.hold(lease_directory(fenced.policy), {"run": "dead"}, LeaseKind.PROMOTE)
    with pytest.raises(LeaseLost), hold:
        error = refused(lambda: AbortFailover(fenced.policy, HOLDER).run(fenced.world.ports()), LeaseHeld)
        assert [offered_to(fenced).type(line)[1] for line in error.commands] == [None]
        assert offered_to(fenced).type(ABORT)[1] is None
    assert fenced.mark is None


# An unplanned failover.


def another_event(followed: Followed) -> TwinhiveError:
    return refused(lambda: unplanned(followed, position(followed) + 7).run(followed.world.ports()), Refused)


def restored_and_another_event(followed: Followed) -> TwinhiveError:
    return another_event(restored(followed))


@pytest.mark.parametrize("spoil", [another_event, restored_and_another_event])
def test_what_an_unplanned_one_would_lose_is_looked_at_and_named(spoil: Callable[[Followed], TwinhiveError]) -> None:
    followed = ready(Followed())
    error = spoil(followed)
    assert error.commands == (LOOK,)
    told, trouble = offered_to(followed).type(LOOK)
    [line] = NAMED.findall(" ".join(told.split()))
    assert trouble is None and offered_to(followed).type(line)[1] is None and is_promoted(followed)


def test_what_is_staged_and_cannot_be_applied_is_left_at_the_event_before() -> None:
    followed = staged("stop")
    newest = followed.world.source.current_event_id()
    silent(followed)
    failing_once(followed, "alter_table", NO)
    error = refused(lambda: unplanned(followed, newest).run(followed.world.ports()), Refused)
    [line] = error.commands
    assert offered_to(followed).type(line)[1] is None and is_promoted(followed)
    assert promotion(followed).position.event_id < newest


def in_the_middle_of_a_window() -> Followed:
    """Return a replica that was killed in a window which staging does not hold any more."""
    followed = ready(Followed(tuned(consistency="window_end")))
    write(followed)
    begin = copies_of(followed)
    for change in range(1, 60):
        left = begin()
        with suppress(Killed):
            left.run_with(killable(left.world.ports(), KillSwitch(change, after_effect=True)))
        lease_of(left).lose_holders()
        files, windows = left.world.replica_files, f"{left.policy.staging}/{DIRECTORY}"
        if files.status(windows):
            files.delete(windows)
        with suppress(ActNow):
            unplanned(left).plan(left.world.ports())
            continue
        return left
    raise AssertionError("no kill leaves a mixture")


@pytest.mark.parametrize("answers", [True, False])
def test_a_mixture_of_events_ends_by_following_or_is_taken_as_it_is(answers: bool) -> None:
    followed = in_the_middle_of_a_window()
    error = refused(lambda: unplanned(followed).run(followed.world.ports()), ActNow)
    assert error.commands == ("twinhive run sales incremental", LOOK)
    if answers:
        assert offered_to(followed).type(error.commands[0])[1] is None
    else:
        followed.policy = tuned(followed.policy, consistency="every_event")
    told, trouble = offered_to(followed).type(LOOK)
    [line] = NAMED.findall(" ".join(told.split()))
    assert trouble is None and offered_to(followed).type(line)[1] is None and is_promoted(followed)
    assert ("newer than that event" in told) == (not answers)


def test_a_primary_that_was_restored_says_again_what_it_is() -> None:
    followed = restored(ready(Followed()))
    followed.users.insert("plain", None, [b"at the old source"])
    error = refused(followed.follow, ActNow)
    [line] = error.commands
    assert offered_to(followed).type(line)[1] is None and is_promoted(followed)


def test_a_failover_that_was_killed_right_before_its_call_has_three_ways_on() -> None:
    followed = ready(Followed())
    at = position(followed)
    said = {PROMOTED: f"log-east:{at}:0:@log-west:1:0:#planned#sales"}
    write_promotion_note(followed.world.replica_files, followed.policy, PromotionNote(at, said))
    begin, ends = copies_of(followed), []
    for number in range(3):
        one = begin()
        error = refused(partial(Forget(one.policy, HOLDER).run, one.world.ports()), ActNow)
        assert len(error.commands) == 3
        _, trouble = offered_to(one).type(error.commands[number])
        assert trouble is None, error.commands[number]
        ends.append(is_promoted(one))
    assert ends == [True, True, False]
    # Behind what the source has logged since, no window goes on: it is given up, and begun again.
    one = begin()
    behind(one)
    error = refused(one.follow, ActNow)
    offered = offered_to(one)
    found = offered.type(FAILOVER)[1]
    assert found is not None and found.commands == error.commands
    assert [offered.type(line)[1] for line in (ABORT, FAILOVER)] == [None, None] and is_promoted(one)


# What is no replica, or no primary, any more.


def test_a_primary_that_does_not_say_since_when_is_given_up() -> None:
    followed = ready(Followed())
    planned(followed).run(followed.world.ports())
    without = {key: value for key, value in parameters(followed).items() if key != PROMOTED}
    followed.world.replica.set_database_parameters("sales", without)
    error = refused(lambda: planned(followed).run(followed.world.ports()), ActNow)
    assert [offered_to(followed).type(line)[1] for line in error.commands] == [None]
    assert not {PHASE, POLICY} & parameters(followed).keys()


def test_a_primary_whose_source_is_another_is_given_up_while_that_does_not_answer() -> None:
    followed = ready(Followed())
    planned(followed).run(followed.world.ports())
    followed.world.source.log_id = lambda: "log-new"
    error = refused(lambda: Forget(followed.policy, HOLDER).run(followed.world.ports()), Foreign)

    def silent() -> str:
        raise Unreachable("the metastore does not answer", next_step="wait")

    followed.world.source.log_id = silent
    assert [offered_to(followed).type(line)[1] for line in error.commands] == [None]
    assert not {PHASE, POLICY} & parameters(followed).keys()


def test_where_there_is_no_replica_one_is_built() -> None:
    followed = ready(Followed())
    followed.world.replica.drop_database("sales")
    error = refused(lambda: planned(followed).run(followed.world.ports()), Missing)
    assert "sales.bootstrap" in str(error)
    followed = ready(Followed(world=followed.world))
    assert offered_to(followed).type(FAILOVER)[1] is None and is_promoted(followed)


# A failback.


def test_the_policy_that_has_come_back_first_is_ended_before_another_does() -> None:
    switched = Switched()
    switched.fail_back()
    error = refused(lambda: Failback(NORTH_BACK, HOLDER).run(switched.ports()), Foreign)
    ways = {one.name: (one, switched.ports) for one in (BACK, NORTH_BACK)}
    assert [Offered(lambda: ways).type(line)[1] for line in error.commands] == [None]
    assert Offered(lambda: ways).type("twinhive failback sales_n_back")[1] is None
    switched.go_on(NORTH_BACK, switched.ports)


def test_a_database_in_the_place_of_what_is_kept_is_dropped() -> None:
    switched = Switched(loses=True)
    source = switched.world.source
    source.create_database(replace(source.database("sales"), name="sales__diverged_8", parameters={}))
    error = refused(lambda: Failback(BACK, HOLDER).run(switched.ports()), Foreign)
    assert "drop it if nobody needs it; then run this again" in str(error)
    source.drop_database("sales__diverged_8")
    switched.fail_back()
    assert rows_kept(switched)


def test_an_old_primary_that_is_gone_is_built_anew() -> None:
    switched = Switched()
    source = switched.world.source
    for table in source.tables("sales", source.table_names("sales")):
        source.drop_table(table.name, delete_data=True)
    of_another_policy(switched)
    source.set_database_parameters("sales", {})
    source.drop_database("sales")
    error = refused(lambda: Failback(BACK, HOLDER).run(switched.ports()), Missing)
    assert "start the DAG sales_back.bootstrap" in str(error)
    run_bootstrap(BACK, switched.ports(), {"run": "b"}, lambda line: None)
    switched.go_on(BACK, switched.ports)


# What people have filled.


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("other", {PHASE: "following", SOURCE_LOG: "log-east"}),
        (INSIDE.name, {PHASE: "loading", SOURCE_LOG: "log-east"}),
    ],
)
def test_a_database_of_a_policy_that_is_ended_can_be_adopted(name: str, marks: dict[str, str]) -> None:
    world = seeded(**{POLICY: name}, **marks)
    other = replace(
        INSIDE,
        name=name,
        dump_root="hdfs://east/twinhive/other/dumps",
        staging_root="hdfs://west/twinhive/other/staging",
    )
    offered = Offered(lambda: {INSIDE.name: (INSIDE, world.ports)} | {name: (other, world.ports)})
    error = refused(lambda: Adopt(INSIDE, HOLDER).run(world.ports()), Foreign)
    assert [offered.type(line)[1] for line in error.commands] == [None]
    error = refused(lambda: Adopt(INSIDE, HOLDER).run(world.ports()), Foreign)
    assert str(error).endswith(f"ALTER DATABASE sales SET DBPROPERTIES ('{SEED}'='{INSIDE.name}')")
    found = world.replica.database("sales").parameters
    world.replica.set_database_parameters("sales", {**found, SEED: INSIDE.name})
    offered = Offered(lambda: {INSIDE.name: (INSIDE, world.ports)})
    assert offered.type("twinhive adopt sales")[1] is None
    follow_seeded(world)


def test_a_table_of_others_in_the_way_of_a_resync_is_moved_away() -> None:
    followed = ready(Followed())
    replica, plain = followed.world.replica, TableName("sales", "plain")
    there = replica.table(plain)
    replica.alter_table(plain, there.with_parameters(without_marks(there.parameters)))
    error = refused(lambda: Resync(followed.policy, "plain", HOLDER).run(followed.world.ports()), Foreign)
    replica.alter_table(plain, replica.table(plain).at(TableName("sales", "theirs"), there.location))
    assert [offered_to(followed).type(line)[1] for line in error.commands] == [None]
    followed.follow()
    found = replica.table(plain)
    assert STAMP in found.parameters and found.location != there.location
