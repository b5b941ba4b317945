"""The parts of an incremental run that show and hide sets: before a window, after it, and between windows.

Sets stop a replica only while a server does not answer, and before the last try for an answer that nobody knows: what
else goes wrong with them is said, and looked at again by the next run.
"""

from twinhive.core.model.errors import ActNow, LeaseHeld, LeaseLost, TwinhiveError, may_pass
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.publishing.set_visibility.show_sets import ShowSets
from twinhive.replication.incremental.apply_stage import ApplyStage
from twinhive.replication.incremental.window_stage import WindowStage
from twinhive.replication.replica.replica_state import read_state


def hide_sets_before_window(run: ApplyStage) -> ApplyStage:
    """Hide the sets that were unmarked, before events change what they promise. Raises what may pass."""
    if run.work.part_of is LeaseKind.STATEMENT:
        return run
    try:
        sets_of(run.work, run.ports, run.log_id).hide_unmarked()
    except ActNow as error:
        if may_pass(error, is_last_try=run.work.is_last_try):
            raise
        _say(run.work, error)
    return run


def show_sets_after_window(run: ApplyStage) -> ApplyStage:
    """Show the sets whose data is there now. REPL LOAD shows none: a statement says nothing of sets."""
    if run.work.part_of is LeaseKind.STATEMENT:
        return run
    try:
        sets = sets_of(run.work, run.ports, run.log_id)
        sets.carry_out(sets.plan())
    except LeaseLost:
        raise
    except TwinhiveError as error:
        _say(run.work, error)
    return run


def show_sets_between_windows(run: WindowStage) -> WindowStage:
    """Show sets where no window is applied that would do it: a mark alone makes no window."""
    if run.dump is not None:
        return run
    try:
        _show(run.work, run.ports)
    except (LeaseHeld, LeaseLost) as error:
        run.work.report(f"sets are looked at again by the next run: {error.words.what}")
    except TwinhiveError as error:
        _say(run.work, error)
    return run


def sets_of(work: Work, ports: WritePorts, log_id: str) -> ShowSets:
    """Return a look at the sets of a policy, where its replica is now."""
    return ShowSets(work, ports, read_state(ports.replica, work.policy, log_id))


def _show(work: Work, ports: WritePorts) -> None:
    log_id = ports.source.log_id()
    sets = sets_of(work, ports, log_id)
    plan = sets.plan()
    if not plan.changes:
        sets.note(plan)
        return
    with hold_lease(ports, work, LeaseKind.EVENTS):
        # Somebody may have changed the replica since it was compared.
        if read_state(ports.replica, work.policy, log_id).position == sets.state.position:
            sets.carry_out(plan)


def _say(work: Work, error: TwinhiveError) -> None:
    work.report("sets are not shown, the next run looks again: " + error.text)
