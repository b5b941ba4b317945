"""Kill an incremental run at every single change it makes, run it again, and compare the twins."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.unit.replication.incremental import test_incremental as histories
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Unreachable
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase

MOST_CHANGES = 600
TOGETHER = {
    "tables": (
        histories.create_table_with_files,
        histories.insert_into_table,
        histories.overwrite_table,
        histories.rename_and_recreate,
        histories.truncate_table,
        histories.alter_everything,
    ),
    "partitions": (
        histories.insert_into_partition,
        histories.overwrite_partition_twice,
        histories.truncate_partitions,
        histories.partition_in_three_states,
        histories.cascade,
        histories.exchange_partition,
    ),
    "files that no event names": (
        histories.nested_directories,
        histories.move_partitions,
    ),
    "names that come again": (
        histories.details,
        histories.rename_partition,
        histories.swap_tables,
        histories.drop_and_create_with_other_keys,
        histories.views,
        histories.partitions_of_a_view,
    ),
}


def killed_at(followed: Followed, at: int, *, after_effect: bool) -> bool:
    """Run until the n-th change; False when the run came to its end before."""
    ports = killable(followed.world.ports(), KillSwitch(at, after_effect=after_effect))
    try:
        run_phase(INCREMENTAL, followed.policy, ports, {"run": "k"}, followed.log.append)
    except Killed:
        return True
    return False


def follow_noticed(followed: Followed, switch) -> None:
    run_phase(INCREMENTAL, followed.policy, killable(followed.world.ports(), switch), {"run": "k"}, followed.log.append)


@pytest.mark.thorough
@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
@pytest.mark.parametrize("together", TOGETHER.values(), ids=TOGETHER)
def test_killed_at_any_change_and_run_again_it_converges(together, consistency: str) -> None:
    def begin() -> Followed:
        followed = Followed(tuned(consistency=consistency))
        for history in together:
            history(followed.users)
        return followed

    # Most of the changes are the same: the other order is looked at less densely.
    for followed in left_by_kills(begin, follow_noticed, 1 if consistency == "every_event" else 5, least=20):
        followed.follow()
        followed.follow()  # idle: what is left in staging goes
        followed.assert_twin()


def test_a_metastore_killed_between_a_partitions_directory_and_its_name_loses_no_rows() -> None:
    followed = Followed()
    replica = followed.world.replica
    rename = replica.rename_partition

    def killed_after_the_directory(values, partition) -> None:
        table = replica.table(partition.table)
        (before,) = replica.partitions(table.name, ["p=a b"])
        place = f"{table.location}/{partition.name(table.partition_keys)}"
        followed.world.replica_files.rename(before.location, place)
        raise Unreachable("the metastore was killed before it had committed")

    replica.rename_partition = killed_after_the_directory
    followed.users.rename_partition("orders", ("a b",), ("c d",))
    followed.users.insert("orders", ("c d",), [b"after"])
    with pytest.raises(Unreachable):
        followed.follow()
    replica.rename_partition = rename
    followed.follow()
    followed.assert_twin()


def test_what_an_earlier_partition_left_makes_way_for_a_renamed_one() -> None:
    followed = Followed()
    followed.users.rename_partition("orders", ("a b",), ("c d",))
    followed.follow()
    followed.users.drop_partitions("orders", [("c d",)])
    followed.users.rename_partition("orders", ("50%=#:ü",), ("c d",))
    followed.follow()
    followed.assert_twin()


@pytest.mark.thorough
@pytest.mark.parametrize("together", TOGETHER.values(), ids=TOGETHER)
def test_killed_again_and_again_it_converges(together) -> None:
    followed = Followed()
    for history in together:
        history(followed.users)
    for number in range(1, MOST_CHANGES):
        if not killed_at(followed, 5 + number, after_effect=bool(number % 2)):
            break
    assert number > 5
    followed.follow()
    followed.follow()
    followed.assert_twin()
