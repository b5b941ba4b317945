"""Kill a run with events of external tables at every change it makes, run it again, and compare the twins."""

import pytest

from tests.support.worlds.copies import copies_of, left_by_kills
from tests.support.worlds.external_followed import POLICY
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.unit.replication.external_tables import test_external_incremental as histories
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase

MOST_CHANGES = 300
TOGETHER = {
    "names": (histories.rename_tables, histories.translated, histories.create_with_partitions),
    "swapped names": (histories.partitions_of_an_old_table, histories.swap),
    "locations": (
        histories.new_locations,
        histories.cascade_while_its_location_waits,
        histories.rename_while_its_location_waits,
    ),
    "dropped and made again": (
        histories.removals_between,
        histories.partition_in_three_states,
        histories.cascade,
        histories.drop_and_create_again,
    ),
    "kinds": (histories.details, histories.become_external_and_get_another_name),
}


def killed_after(followed, changes: int) -> bool:
    """Run until the n-th change has taken effect, which is before the next one; False when the run came to its end."""
    ports = killable(followed.world.ports(), KillSwitch(changes, after_effect=True))
    try:
        run_phase(INCREMENTAL, followed.policy, ports, {"run": "k"}, followed.log.append)
    except Killed:
        return True
    return False


def run_noticed(followed, switch) -> None:
    run_phase(INCREMENTAL, followed.policy, killable(followed.world.ports(), switch), {"run": "k"}, followed.log.append)


def changes_of_window(followed) -> int:
    switch = KillSwitch(MOST_CHANGES, after_effect=True)
    run_phase(INCREMENTAL[:1], followed.policy, killable(followed.world.ports(), switch), {"run": "k"}, lambda _: None)
    return switch.count


def begun(together, *, copied: bool, consistency: str):
    """Return a replica with the events of some histories before it; `copied`: their data is there already."""
    followed = histories.with_tables(tuned(POLICY, consistency=consistency))
    for history in together:
        history(followed.users)
    if copied:
        followed.sync()
    return followed


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("consistency", "copied", "step"),
    [("every_event", False, 1), ("every_event", True, 8), ("window_end", False, 8)],
    ids=["data is missing", "data is there", "window_end"],
)
@pytest.mark.parametrize("together", TOGETHER.values(), ids=TOGETHER)
def test_external_events_killed_at_any_change_converge(together, consistency, copied, step) -> None:
    # Most changes are the same each way: two are looked at less densely, and the window's own with managed tables.
    begin = copies_of(begun(together, copied=copied, consistency=consistency))
    cutting = changes_of_window(begin())
    for followed in left_by_kills(begin, run_noticed, step, first=cutting, least=4):
        followed.settle()
        followed.assert_twin()


@pytest.mark.parametrize("together", TOGETHER.values(), ids=TOGETHER)
def test_killed_at_any_change_while_it_publishes_it_converges(together) -> None:
    before = begun(together, copied=False, consistency="every_event")
    before.follow()
    before.sync()
    for followed in left_by_kills(lambda: before, run_noticed, least=2):
        followed.settle()
        followed.assert_twin()


@pytest.mark.thorough
@pytest.mark.parametrize("together", TOGETHER.values(), ids=TOGETHER)
def test_external_events_killed_again_and_again_converge(together) -> None:
    followed = begun(together, copied=True, consistency="every_event")
    for number in range(1, MOST_CHANGES):
        if not killed_after(followed, 2 + number):
            break
    assert number > 3
    followed.settle()
    followed.assert_twin()
