"""Take the seconds of failovers between two real clusters: planned and unplanned, of 1,000 partitions."""

import time
import uuid
from collections.abc import Callable

from benchmarks.measuring import load_average
from benchmarks.sides import Clusters, Twinhive
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.errors import TryAgain
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

_PARTITIONS = 1_000
_TRIES = 20
_HOLDER = {"run": "benchmark", "task": "failover"}


def timed() -> None:
    """Print both; servers that were started stay for the next one."""
    clusters = Clusters.start("bench-failover")
    print("\n| Failover, 1,000 partitions | seconds | of these, quiet | load average |\n|---|---|---|---|")
    policy, ports, _ = _followed(clusters)
    began = time.monotonic()
    Failover(policy, _HOLDER).run(ports)
    _say("planned: from the last write to a replica that users may write", began, policy.quiet_seconds)
    policy, ports, users = _followed(clusters)
    users.insert("plain", None, {"f": b"x,1\n", "g": b"y,2\n"})
    users.insert("orders", ("0",), {"f": b"x,1\n"})
    run_phase(INCREMENTAL[:2], policy, ports, _HOLDER, lambda line: None)
    began = time.monotonic()
    order = UnplannedFailover(policy, 0, "measured", _HOLDER)
    order.plan(ports)
    _say("unplanned: to say what is lost", began, 0.0)
    began = time.monotonic()
    UnplannedFailover(policy, order.event_now(ports), "measured", _HOLDER).run(ports)
    _say("unplanned, with a staged window: from the approval on", began, 0.0)


def _followed(clusters: Clusters) -> tuple[Policy, WritePorts, SourceWriter]:
    database = clusters.east.create_database("failed_over")
    users = SourceWriter(clusters.source(), clusters.east.files, database)
    users.create_table("orders", ("day",))
    users.create_table("plain", files={"a": b"z,3\n"})
    for start in range(0, _PARTITIONS, 100):
        users.add_partitions("orders", {(str(number),): {"a": b"x,1\n"} for number in range(start, start + 100)})
    ours = Twinhive.of(database)
    holder = {"run": uuid.uuid4().hex}
    until_done(lambda: bool(run_bootstrap(ours.policy, ours.ports, holder, lambda line: None)))
    until_done(lambda: bool(run_phase(INCREMENTAL, ours.policy, ours.ports, _HOLDER, lambda line: None)["window"].idle))
    return ours.policy, ours.ports, users


def until_done(work: Callable[[], bool]) -> None:
    """Do it again until it is done; what may pass is tried again, as Airflow does."""
    for left in reversed(range(_TRIES)):
        try:
            if work():
                return
        except TryAgain:
            if not left:
                raise


def _say(what: str, began: float, quiet: float) -> None:
    seconds = time.monotonic() - began
    print(f"| {what} | {seconds:.1f} | {quiet:.0f} | {load_average():.1f} |", flush=True)
