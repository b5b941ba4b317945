"""Count what a promotion asks of its metastore, and how many bytes a failback and a repair copy; all in memory."""

from collections import Counter
from dataclasses import replace
from typing import Any

from tests.support.hive.metastore_objects import a_partition
from tests.unit.operations.failover.test_failback import Switched
from tests.unit.operations.failover.test_failover import HOLDER, Asked, position
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.verify.verifying import Verifying
from twinhive.operations.actions.repair import Repair
from twinhive.operations.failover.unplanned_failover import UnplannedFailover

_PROMOTED = 100_000
_AT_ONCE = 1_000
_OF_A_FILE = 1_000
_CHANGED_OF = 100
"""One of so many partitions is changed on the new primary."""


class Opened:
    """Count the bytes of files that are read as a stream: what copies do."""

    def __init__(self, files: Any) -> None:
        self.bytes: Counter[str] = Counter()
        original = files.open

        def opened(path: str, **given: Any) -> Any:
            if "/warehouse/" in path:
                self.bytes[path] += files.status(path).length
            return original(path, **given)

        files.open = opened


def counted(partitions: int) -> None:
    """Print all three."""
    print("\n| What | counted |\n|---|---|")
    promotion()
    failback(partitions)
    repair(min(partitions, 1_000))


def promotion() -> None:
    """Count the calls of a promotion of a replica with 100,000 partitions."""
    followed = Followed()
    replica = followed.world.replica
    table = replica.table(followed.users.name("orders"))
    assert table is not None
    for start in range(0, _PROMOTED, _AT_ONCE):
        names = [f"{number:06}" for number in range(start, start + _AT_ONCE)]
        replica.add_partitions([a_partition(table, one, location=f"{table.location}/_tw/9/p={one}") for one in names])
    asked = Asked(replica)
    ports = replace(followed.world.ports(), replica=asked)
    UnplannedFailover(followed.policy, position(followed), "measured", HOLDER).run(ports)
    calls = ", ".join(f"{count} {name}" for name, count in sorted(asked.calls.items()))
    print(
        f"| a promotion, {_PROMOTED:,} partitions: calls of the metastore | {asked.calls.total()} ({calls}) |",
        flush=True,
    )


def failback(partitions: int) -> None:
    """Count the bytes that a failback copies, of which one partition in a hundred is changed."""
    switched = Switched(partitions=partitions)
    changed = range(0, partitions, _CHANGED_OF)
    for number in changed:
        switched.west.overwrite("large", (f"{number:06}",), {"f": bytes(_OF_A_FILE)})
    opened = Opened(switched.world.replica_files)
    switched.fail_back()
    copied, least = opened.bytes.total(), len(changed) * _OF_A_FILE
    print(
        f"| a failback, {len(changed):,} of {partitions:,} partitions changed: bytes copied, of bytes changed "
        f"| {copied:,} of {least:,} ({copied / least:.2f}) |",
        flush=True,
    )


def repair(partitions: int) -> None:
    """Count the bytes that are copied to mend one file of one partition."""
    verifying = Verifying()
    followed = verifying.followed
    followed.users.create_table("large", keys=("p",))
    rows: dict[tuple[str, ...], dict[str, bytes]] = {
        (f"{number:06}",): {"f": bytes(_OF_A_FILE)} for number in range(partitions)
    }
    followed.users.add_partitions("large", rows)
    followed.follow()  # type: ignore[no-untyped-call]
    world = followed.world
    table = world.replica.table(followed.users.name("large"))
    assert table is not None
    (damaged,) = world.replica.partitions(table.name, ["p=000007"])
    world.replica_files.write(f"{damaged.location}/f", b"x" * _OF_A_FILE)
    opened = Opened(world.source_files)
    Repair(followed.policy, ("large",), dict(HOLDER)).run(world.ports())
    followed.follow()  # type: ignore[no-untyped-call]
    whole = partitions * _OF_A_FILE
    print(
        f"| a repair of one damaged partition of {partitions:,}: bytes copied, of bytes of the table "
        f"| {opened.bytes.total():,} of {whole:,} |",
        flush=True,
    )
