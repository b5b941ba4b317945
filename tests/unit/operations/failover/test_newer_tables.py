"""A window that was begun and is not in staging leaves tables that are newer than the rest: a promotion names them."""

from typing import Any

import pytest

from tests.support.worlds.copies import copies_of, lease_of
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.unit.operations.failover.test_failover import parameters, position, promotion, ready, unplanned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Refused
from twinhive.core.model.marks import PHASE, STAMP, Stamp
from twinhive.core.model.names import TableName
from twinhive.operations.actions.replica_status import read_status
from twinhive.replication.incremental.kept_windows import DIRECTORY


def stamps(followed: Followed) -> dict[str, int]:
    """Return the events of tables, and of the newest partition of each."""
    replica, found = followed.world.replica, dict[str, int]()
    for table in replica.tables("sales", replica.table_names("sales")):
        found[table.name.table] = event_of(table)
        parts = replica.partitions(table.name, replica.partition_names(table.name)) if table.partition_keys else []
        found[f"partitions of {table.name.table}"] = max(map(event_of, parts), default=0)
    return found


def event_of(one: Any) -> int:
    stamp = Stamp.parse(one.parameters.get(STAMP))
    return stamp.event_id if stamp else 0


def write(followed: Followed) -> None:
    users = followed.users
    users.insert("orders", ("a b",), [b"one", b"two"])
    users.insert("plain", None, [b"p1"])
    users.create_table("later", files=[b"l"])
    users.insert("orders", ("a b",), [b"three"])


def test_a_mixture_is_named_before_and_after_and_kept_with_the_promotion() -> None:
    followed = ready(Followed())
    followed.users.insert("plain", None, [b"of a window that has ended, as its note says"])
    followed.follow()
    write(followed)
    begin, change, mixtures, is_killed = copies_of(followed), 0, list[set[str]](), True
    while is_killed:
        left, change = begin(), change + 1
        try:
            left.run_with(killable(left.world.ports(), KillSwitch(change, after_effect=True)))
            is_killed = False
        except Killed:
            lease_of(left).lose_holders()
        files, windows = left.world.replica_files, f"{left.policy.staging}/{DIRECTORY}"
        if files.status(windows):
            files.delete(windows)
        at = position(left)
        newer = {name for name, event_id in stamps(left).items() if event_id > at}
        newer -= {f"partitions of {name}" for name in newer}
        order, ports = unplanned(left, at), left.world.ports()
        plan, lines = order.plan(ports), order.run(ports)
        named = f"newer than that event, at least in part: {', '.join(sorted(newer))}:"
        for told in (plan, lines):
            assert any(line.startswith(named) for line in told) == bool(newer), told
        assert promotion(left).ahead == ", ".join(sorted(newer))
        assert ("newer than that event: " + promotion(left).ahead in unplanned(left, at).plan(ports)) == bool(newer)
        mixtures.append(newer)
    assert {"plain"} <= set().union(*mixtures) and {"partitions of orders"} <= set().union(*mixtures)


def test_what_becomes_newer_while_it_is_approved_is_refused() -> None:
    followed = ready(Followed(tuned()))
    hold, replica = followed.world.lease.hold, followed.world.replica

    def held(*given: Any) -> Any:
        table = replica.table(TableName("sales", "plain"))
        stamp = str(Stamp("log-east", position(followed) + 3))
        replica.alter_table(table.name, table.with_parameters({**table.parameters, STAMP: stamp}))
        return hold(*given)

    followed.world.lease.hold = held
    with pytest.raises(Refused, match=r"(?s)newer than was named.*plain"):
        unplanned(followed).run(followed.world.ports())
    assert parameters(followed)[PHASE] == "following"
    unplanned(followed).run(followed.world.ports())
    assert promotion(followed).ahead == "plain"


def test_status_says_it_afterwards() -> None:
    followed = ready(Followed())
    table = followed.world.replica.table(TableName("sales", "plain"))
    stamp = str(Stamp("log-east", position(followed) + 3))
    followed.world.replica.alter_table(table.name, table.with_parameters({**table.parameters, STAMP: stamp}))
    unplanned(followed).run(followed.world.ports())
    assert dict(read_status(followed.world.ports(), followed.policy).rows())["phase"] == "promoted"
