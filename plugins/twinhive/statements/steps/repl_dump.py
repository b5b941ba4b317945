"""Run a REPL DUMP: check what it asks for, dump, and finish the directory (seed 002, 'REPL DUMP')."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from twinhive.core.model.errors import InvalidSettings, together
from twinhive.core.ports import DumpPorts
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.manifest import StatementSaid
from twinhive.replication.dump.repl_dump_description import SealedDump, seal
from twinhive.replication.notification_log.log_access_check import source_problems
from twinhive.replication.notification_log.server_settings import check_address
from twinhive.replication.replica.root_directories import check_dump_root
from twinhive.statements.steps.repl_dump_options import Dumped, DumpOrder, dumped_database
from twinhive.statements.steps.repl_events import dump_events, events_asked
from twinhive.statements.steps.repl_objects import described, dump_objects


@dataclass(frozen=True)
class ReplDump:
    """Dump a database, or what its log says, into a directory of its own."""

    work: Work
    order: DumpOrder
    clock: Callable[[], float] = time.time

    def run(self, ports: DumpPorts) -> Dumped:
        """Return the directory and the event. Raises what is wrong before anything is written."""
        order, policy = self.order, self.order.policy
        self.check(ports)
        asked = None if order.from_event is None else events_asked(ports.source, order)
        ports.source_marker.mark(policy.source.database, policy.name)
        if asked is None:
            dump = dump_objects(ports, order, self.work.report)
        else:
            dump = dump_events(ports, order, asked, self.work.report)
        only_new = asked is not None and order.brings_only_new(dump.manifest.window.snapshots)
        said = StatementSaid(order.scope, order.replaces, order.metadata_only, only_new)
        dump = described(ports.dump_files, dump, said)
        end = dump.manifest.end.event_id
        sealed = SealedDump(
            statement=order.statement,
            cluster=policy.source.cluster,
            database=policy.source.database,
            dump=dump.layout.name,
            last_event=end,
            made_at=int(self.clock()),
            external_included=policy.external.included,
            external_data=policy.external.data,
            external_base=policy.external.base_directory or "",
        )
        seal(ports.dump_files, policy.dumps, sealed)
        for entry in dump.manifest.left_out:
            self.work.report(f"left out: {entry.name}: {entry.reason}")
        return Dumped(policy.dumps, end)

    def check(self, ports: DumpPorts) -> None:
        """Raise what keeps the statement from being run."""
        order, source, addresses = self.order, self.order.policy.source, ports.source.addresses()
        problems = [one for address in addresses for one in check_address(ports.source, address, order.policy)]
        problems += source_problems(ports.source, self.work.report)
        problems += check_dump_root(ports, order.policy)
        if problems:
            raise together(problems, f"database {source} cannot be dumped: {len(problems)} problems")
        dumped_database(ports.source, source)
        newest = ports.source.current_event_id()
        if order.from_event is not None and order.from_event > newest:
            raise InvalidSettings(
                f"FROM {order.from_event} is newer than the notification log of cluster {source.cluster}",
                found=f"newest event {newest}",
                expected="the event id that REPL STATUS says of the replica",
                next_step="correct FROM; an id of another cluster's log is of no use here",
            )
