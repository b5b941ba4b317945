"""Take over a replica that Hive's REPL LOAD has made, or has brought further since: `repl.last.id` is the common truth.

Hive leaves no stamp on what it makes. Whatever has none gets that of the replicated event id; then the database says
that it follows from there on. What is stamped already may keep its stamp.
"""

from dataclasses import replace

from twinhive.core.model import marks
from twinhive.core.model.marks import LAST_ID, Phase, ReplicaState, Stamp
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.step_base import Report
from twinhive.hive.events.reader import position_at
from twinhive.replication.replica.stamping import stamp_everything


def is_of_hive(database: Database | None) -> bool:
    """True for a replica that is there, and whose position Hive has written last."""
    return database is not None and marks.is_of_hive(database.parameters)


def adopt(ports: WritePorts, policy: Policy, lease: Lease, report: Report) -> None:
    """Stamp what bears no stamp, then mark the database. May be repeated from any point."""
    database = ports.replica.database(policy.replica.database)
    assert database is not None, "is_of_hive has seen it"
    log_id = ports.source.log_id()
    position = position_at(ports.source, int(database.parameters[LAST_ID]))
    stamp = Stamp(log_id, position.event_id)
    tables = stamp_everything(ports, policy, lease, stamp, lambda text: text is not None)
    state = ReplicaState.read(database.parameters)
    following = replace(state, phase=Phase.FOLLOWING, policy=policy.name, log_id=log_id, position=position)
    ports.replica.set_database_parameters(database.name, {**database.parameters, **following.written()})
    report(f"taken over from Hive at event {position.event_id}: {tables} tables stamped")
