"""Dump a whole scope as the source had it at one event, for replicas that are not known yet.

A bootstrap and its rounds of consolidating (seed 002, 'Bootstrap, Revisited', approach 2) in one go: what a round of a
policy asks the replica's copies, the checksums of the listed files answer here.
"""

from dataclasses import replace

from twinhive.core.model.batches import Batch
from twinhive.core.model.errors import TryAgain
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileWriter, SourcePorts
from twinhive.core.step.step_base import Report
from twinhive.hive.events.reader import position_at
from twinhive.replication.bootstrap.folded_tables import Folding
from twinhive.replication.bootstrap.list_objects import write_listing
from twinhive.replication.dump.batch_records import write_file_list
from twinhive.replication.dump.dump_layout import DumpKind, DumpLayout
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.manifest import StatementSaid
from twinhive.replication.dump.publishing import remove_other_dumps
from twinhive.replication.notification_log.dump_checksums import seal_batches
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.notification_log.list_files import list_batch
from twinhive.statements.steps.repl_dump_options import DumpOrder


def dump_objects(ports: SourcePorts, order: DumpOrder, report: Report) -> Dump:
    """Return a dump that describes the scope at one event. Raises TryAgain when files vanish too fast."""
    policy = order.policy
    begin = position_at(ports.source, ports.source.current_event_id())
    layout = DumpLayout.of(policy.dumps, DumpKind.BOOTSTRAP, begin.event_id, begin.event_id)
    dump = write_listing(ports, layout, policy, ports.source.log_id(), begin, checks_places=False)
    report(
        f"listed from event {begin.event_id} on: {len(dump.manifest.batches)} batches, {dump.manifest.base.views} views"
    )
    _list_files(ports, order, dump)
    return consolidated(ports, policy, dump, report, metadata_only=order.metadata_only)


def consolidated(
    ports: SourcePorts, policy: Policy, dump: Dump, report: Report, *, metadata_only: bool = False
) -> Dump:
    """Return the dump brought to one event, its files with checksums. Raises TryAgain when files vanish too fast."""
    gone: list[Batch] = []
    for _ in range(policy.options.most_rounds):
        dump = Folding(EventStream(ports, policy), dump).consolidate({batch.name for batch in gone})
        remove_other_dumps(ports.dump_files, policy, dump.layout)
        end, batches = dump.manifest.end.event_id, dump.manifest.batches
        if metadata_only:
            for batch in batches:
                write_file_list(ports.dump_files, dump.layout, batch.name, (), end)
            return dump
        gone = seal_batches(ports, dump.layout, batches, end)
        report(f"round {dump.manifest.base.round}: at event {end}; {len(gone)} batches have changed files since")
        if not gone:
            return dump
    raise TryAgain(
        f"the files of database {policy.source} vanish faster than they can be dumped",
        found=f"{', '.join(batch.label for batch in gone[:5])} changed in each of {policy.options.most_rounds} rounds",
        expected="one round in which no file that is listed goes",
        next_step="run the statement again when those who rewrite these tables rest",
    )


def _list_files(ports: SourcePorts, order: DumpOrder, dump: Dump) -> None:
    for batch in dump.manifest.batches:
        if order.metadata_only:
            write_file_list(ports.dump_files, dump.layout, batch.name, (), dump.manifest.begin.event_id)
        else:
            list_batch(ports, dump, batch.name)


def described(files: FileWriter, dump: Dump, said: StatementSaid) -> Dump:
    """Write into a dump, which nobody can load yet, of which policy it is."""
    manifest = replace(dump.manifest, statement=said)
    files.write(dump.layout.manifest, manifest.to_json())
    return Dump(dump.layout, manifest)
