"""Exchange dumps with Hive's own REPL: write one that it loads, take one over that it wrote."""

import time
from dataclasses import dataclass
from functools import partial

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.errors import ActNow, InvalidSettings, Refused, Unexplained
from twinhive.core.model.external.modes import METADATA_ONLY
from twinhive.core.model.files import authority, base_name, join, short_hash
from twinhive.core.model.policy import Policy
from twinhive.core.model.scopes.scope_texts import ANY_SCOPE
from twinhive.core.ports import DumpPorts, FileWriter, SourcePorts
from twinhive.core.step.step_base import Report
from twinhive.hive.events.reader import position_at
from twinhive.replication.bootstrap.function_check import function_files
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_ownership import own_dumps_of
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.manifest import StatementSaid
from twinhive.replication.dump.repl_dump_description import SealedDump, open_sealed, seal
from twinhive.replication.notification_log.dump_checksums import change_manager_root
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.interop.hive_dump.bootstrap_writing import write_bootstrap
from twinhive.statements.interop.hive_dump.dump_conversion import acknowledge, convert
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_dump_reading import HiveDump
from twinhive.statements.interop.hive_dump.hive_layout import hive_directory
from twinhive.statements.interop.hive_dump.incremental_writing import write_incremental
from twinhive.statements.language import Scope, scope_text
from twinhive.statements.steps.repl_dump_options import Dumped, DumpOrder
from twinhive.statements.steps.repl_objects import consolidated, described


def written_for_hive(ports: DumpPorts, order: DumpOrder, report: Report) -> Dumped:
    """Write a finished dump once more in Hive's layout, and remove our own; return where it is now.

    Raises ActNow, and leaves nothing, for what Hive's layout cannot say.
    """
    policy, files = order.policy, ports.dump_files
    sealed, dump = open_sealed(files, policy.dumps)
    directory = hive_directory(policy.dump_root, sealed.database, base_name(policy.dumps))
    cmroot = change_manager_root(ports.source, ports.source_files.root) or ""
    terms = Terms(
        policy, cmroot, function_files(ports.source_files, policy, cmroot), scope_changed=bool(order.replaces)
    )
    try:
        if dump.manifest.kind is DumpKind.INCREMENTAL:
            written = write_incremental(files, files, ports.source_files, dump, directory, terms)
            report(f"{written.events} events for Hive")
            left_out = written.left_out
        else:
            left_out = write_bootstrap(files, files, ports.source_files, dump, directory, terms)
        for entry in left_out:
            report(f"left out: {entry.name}: {entry.reason}")
    finally:
        if (ours := own_dumps_of(files, policy)) is not None:
            ours.discard()
    return Dumped(directory, sealed.last_event)


def source_of(place: StatementPlace, dump: HiveDump) -> str:
    """Return the cluster that Hive dumped: the policy's source, or the one where its change manager is."""
    if place.settings is not None:
        return place.settings.source.cluster
    root = authority(dump.cmroot or dump.places.directory)
    names = [name for name in sorted(place.configuration.clusters) if place.file_system(name).root == root]
    if len(names) == 1:
        return names[0]
    raise InvalidSettings(
        f"it cannot be told which cluster Hive's dump {dump.places.directory} is of",
        found=f"a change manager on {root}, which is the file system of {' and '.join(names) or 'no cluster'}",
        expected="one cluster with this file system",
        next_step="run the statement under a policy, which names its source: --policy",
    )


def scope_of(dump: HiveDump) -> Scope:
    """Return the policy that Hive dumped by."""
    include = None if dump.include is None else (dump.include,)
    return Scope(dump.database, include, () if dump.exclude is None else (dump.exclude,))


def sealed_of(dump: HiveDump, cluster: str, key: str = "") -> SealedDump:
    """Describe a dump of Hive's as one of ours; data of its external tables is somebody else's."""
    return SealedDump(
        statement=f"REPL LOAD {dump.database} FROM '{dump.places.directory}'",
        cluster=cluster,
        database=dump.database,
        dump=key,
        last_event=dump.begin if dump.is_bootstrap else dump.end,
        made_at=int(time.time()),
        external_data=METADATA_ONLY,
    )


@dataclass(frozen=True)
class OfHive:
    """A dump that Hive has written, and the file system it is on."""

    dump: HiveDump
    files: FileWriter

    def taken_over(self, ports: SourcePorts, policy: Policy, report: Report) -> Dump:
        """Return it as one of ours in the policy's dump directory; one that was taken over before is kept.

        One that is not whole any more, or of another version, is made anew: Hive's dump is there to make it of.

        A bootstrap during which the source changed is consolidated with the source's log: Hive's own replica would
        show states that never were until its first incremental load.
        """
        if there := _taken_over_before(ports, policy):
            return there
        hive, log = self.dump, ports.source
        dump = convert(self.files, ports.dump_files, hive, policy, log.log_id(), partial(position_at, log))
        if dump.manifest.kind is DumpKind.BOOTSTRAP:
            dump = consolidated(ports, policy, dump, report)
        replaces = ANY_SCOPE if hive.description.scope_changed else ""
        dump = described(ports.dump_files, dump, StatementSaid(scope_text(scope_of(hive)), replaces))
        seal(ports.dump_files, policy.dumps, sealed_of(hive, policy.source.cluster, dump.layout.name))
        report(f"taken over from Hive: {dump.key}")
        for entry in dump.manifest.left_out:
            report(f"left out: {entry.name}: {entry.reason}")
        return dump

    def say_loaded(self) -> None:
        """Mark it as Hive's REPL LOAD does: Hive dumps nothing new before that."""
        acknowledge(self.files, self.dump)


def _taken_over_before(ports: SourcePorts, policy: Policy) -> Dump | None:
    """Return what an earlier try has taken over; what is there of one that cannot be opened is removed first."""
    try:
        return open_sealed(ports.dump_files, policy.dumps)[1]
    except (Refused, Unexplained):
        raise
    except ActNow:
        if ours := own_staging(ports.dump_files, policy):
            ours.discard(policy.dumps)
        return None


def taken_over_in(staging: str) -> str:
    """Return the parent of what loads that work in a staging directory have taken over from Hive."""
    return join(staging, "hive-dumps")


def directory_of(staging: str, hive: HiveDump) -> str:
    """Return where a dump of Hive's is taken over to, on the replica."""
    return join(taken_over_in(staging), short_hash(hive.places.directory))
