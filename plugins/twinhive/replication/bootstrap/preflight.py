"""Check everything a bootstrap needs before it starts, and say all that is wrong at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from twinhive.core.directory_marks.staging import claim_staging, foreign_staging
from twinhive.core.model.errors import InvalidSettings, Missing, Refused, SafeMode, TryAgain, TwinhiveError, together
from twinhive.core.model.files import LEASING, RENAMING, Usage, authority, join
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import FORMAT, FORMAT_NOW, PHASE, Phase, ReplicaState
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import RETRIES, STAGING_ROOT, correct
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import FileReader, WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Detail, Work
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.bootstrap.function_check import report_functions
from twinhive.replication.bootstrap.measured_sizes import write_sizes
from twinhive.replication.bootstrap.source_database import find_source_database
from twinhive.replication.dump.dump_ownership import claim_dumps, foreign_dumps
from twinhive.replication.dump.passes.external_entries import Entry, entries_of, topmost
from twinhive.replication.external_tables.check_base import base_problems, claim_base
from twinhive.replication.notification_log.log_access_check import report_replica, source_problems
from twinhive.replication.notification_log.server_settings import check_address, restarted, wrong_in_answers
from twinhive.replication.replica.replica_state import (
    already_published,
    is_of_other_format,
    refuse_promoted,
    refuse_taken_over,
    shown_state,
    state_now,
    state_of,
)
from twinhive.replication.replica.root_directories import check_roots
from twinhive.replication.replica.source_scope import (
    SourceScope,
    readable_scope,
    table_usage,
    usable_scope,
    usage_or_nothing,
)
from twinhive.replication.replica.unusable_tables import UnusableTables

_THREADS = 8


@dataclass(frozen=True)
class Checked:
    """What the checks found: files and bytes to copy, bytes free, or that nothing is left to do."""

    files_to_copy: int = 0
    bytes_to_copy: int = 0
    bytes_free: int = 0
    already: str | None = None


@dataclass(frozen=True)
class Preflight:
    """Check both clusters; then mark the source so that its change manager keeps files.

    With `again` a published replica counts as one that is being loaded: it stays readable as it is until the new load
    begins.
    """

    work: Work
    again: bool = False

    def run(self, ports: WritePorts) -> Checked:
        """Return the sizes. Raises one error that holds every problem; nothing is changed then."""
        policy = self.work.policy
        with suppress(TryAgain):  # of a replica that does not answer the checks tell
            refuse_taken_over(ports.replica.database(policy.replica.database), policy)
        problems = self.problems(ports)
        if problems:
            raise together(problems, f"policy {self.work.policy.name} cannot start: {len(problems)} problems")
        return self.start(ports)

    def problems(self, ports: WritePorts) -> list[TwinhiveError]:
        """Return all that is wrong; nothing is changed."""
        return [problem for check in _CHECKS for problem in _problems(check, self, ports)]

    def start(self, ports: WritePorts) -> Checked:
        """Mark both clusters, of which nothing is wrong; return the sizes. Raises Refused without room."""
        policy = self.work.policy
        claim_staging(ports.replica_files, policy)
        claim_dumps(ports.dump_files, policy)
        if self.again:
            self._begin_again(ports)
        already = already_published(state_now(ports, policy))
        if already:
            self.work.report(already)
            return Checked(already=already)
        unusable = UnusableTables(policy)
        scope = usable_scope(ports.source, ports.source_files.root, policy, unusable)
        unusable.refuse()
        sizes = _sizes(ports.source_files, scope.managed)
        checked = self._check_space(ports, scope, sizes)
        claim_base(ports, policy, scope.external)
        write_sizes(ports.replica_files, policy, sizes)
        ports.source_marker.mark(policy.source.database, policy.name)
        self.work.report(f"source database {policy.source} is marked: its change manager keeps removed files")
        return checked

    def _begin_again(self, ports: WritePorts) -> None:
        policy = self.work.policy
        with hold_lease(ports, self.work, LeaseKind.LOAD):
            database = ports.replica.database(policy.replica.database)
            state = _state_before(database, policy, ports.source.log_id())
            if database is None or not (state.phase is Phase.FOLLOWING or is_of_other_format(state)):
                return
            begun = {**database.parameters, PHASE: Phase.LOADING.value, FORMAT: FORMAT_NOW}
            ports.replica.set_database_parameters(database.name, begun)
            self.work.report(f"the replica was at event {state.position.event_id}; it is built again")

    def _check_space(self, ports: WritePorts, scope: SourceScope, sizes: Mapping[TableName, Usage]) -> Checked:
        policy = self.work.policy
        managed = _sum(sizes.values())
        # What an earlier try has staged takes no room again, as far as it is still wanted.
        staged = usage_or_nothing(ports.replica_files, join(policy.staging, "base"))
        copied = topmost(entry for table in scope.external for entry in _entry(table, policy))
        external = _used(ports.source_files, [entry.location for entry in copied])
        synced = _used(ports.replica_files, [policy.external.place(entry.location, entry.key) for entry in copied])
        needed = max(0, managed.length - staged.length) + max(0, external.length - synced.length)
        files = max(0, managed.files - staged.files) + max(0, external.files - synced.files)
        names = files + len(sizes) + managed.directories + max(0, external.directories - synced.directories)
        space = ports.replica_files.space(policy.staging, policy.staging_root)
        free = min(space.free_bytes, _unless_none(space.quota_bytes_left))
        if needed > free or names > _unless_none(space.quota_names_left):
            raise Refused(
                f"there is not enough room below {policy.staging_root} for policy {policy.name}",
                found=f"{free} bytes free; names left by quota: {space.quota_names_left}",
                expected=f"{needed} bytes, {names} names: {files} files and their directories",
                next_step="free space, raise the quota (hdfs dfsadmin -setSpaceQuota), or narrow tables.include; then "
                + Clear("the task preflight"),
            )
        self.work.report(f"{files} files with {needed} bytes to copy, {free} bytes free on the replica")
        return Checked(files, needed, free)


def _entry(table: Table, policy: Policy) -> Iterator[Entry]:
    return entries_of(table.name, table.location or "", (), policy.external)


def _sizes(files: FileReader, tables: Sequence[Table]) -> dict[TableName, Usage]:
    """Return what is below tables, several at a time."""
    usages = in_threads(lambda table: table_usage(files, table), tables, _THREADS)
    return {table.name: usage for table, usage in zip(tables, usages, strict=True)}


def _used(files: FileReader, locations: Iterable[str | None]) -> Usage:
    """Add up what is below some directories, several at a time."""
    return _sum(in_threads(lambda location: usage_or_nothing(files, location), locations, _THREADS))


def _sum(every: Iterable[Usage]) -> Usage:
    usages = list(every)
    return Usage(
        length=sum(usage.length for usage in usages),
        files=sum(usage.files for usage in usages),
        directories=sum(usage.directories for usage in usages),
    )


def _unless_none(limit: int | None) -> int:
    return 2**63 if limit is None else limit


Check = Callable[[Preflight, WritePorts], Iterator[TwinhiveError]]


def _problems(check: Check, step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Return what a check yields, and what it stumbles over."""
    try:
        yield from check(step, ports)
    except TwinhiveError as problem:
        yield problem


def check_source(step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Find addresses of the source that keep no log, or no dropped files, or hide the log; and a missing database."""
    policy = step.work.policy
    for address in ports.source.addresses():
        yield from check_address(ports.source, address, policy)
    yield from source_problems(ports.source, step.work.report)
    found = find_source_database(ports.source, policy)
    if isinstance(found, TwinhiveError):
        yield found


def check_replica(step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Find a replica database that is not ours, and a metastore that answers of others; report who we are to it."""
    policy = step.work.policy
    database = ports.replica.database(policy.replica.database)
    for address in ports.replica.addresses():
        yield from wrong_in_answers(ports.replica, address, policy.replica.cluster, restarted(policy))
    report_replica(ports.replica, step.work.report)
    try:
        source_log = ports.source.log_id()
    except TryAgain:
        return  # check_source says so already
    (_state_before if step.again else state_of)(database, policy, source_log)


def _state_before(database: Database | None, policy: Policy, source_log: str) -> ReplicaState:
    """Return what a replica says that is to be built again, whatever version has made it. Raises Foreign, Promoted."""
    state = shown_state(database, policy, source_log)
    refuse_promoted(state, policy)
    return state


def check_file_systems(step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Find file systems that do not answer, or that staged files cannot be renamed on."""
    policy, replica = step.work.policy, ports.replica_files
    ports.source_files.status(ports.source_files.root + "/")
    if replica.root.partition("://")[0] not in RENAMING & LEASING:
        yield InvalidSettings(
            f"the file system of the replica cluster {policy.replica.cluster} is no HDFS",
            found=replica.root,
            expected="hdfs://..., whose renames and leases the load rests on",
            next_step="name an HDFS in clusters.yaml, then " + Clear("the task"),
        )
    elif replica.in_safe_mode():
        yield SafeMode(
            f"the file system {replica.root} of cluster {policy.replica.cluster} is in safe mode",
            found="safe mode on",
            expected="safe mode off",
            next_step="look at its NameNode (hdfs dfsadmin -safemode get); " + RETRIES,
        )
    warehouse = ports.replica.configuration(ports.replica.addresses()[0], "metastore.warehouse.dir")
    for place in {authority(warehouse), replica.root} - {warehouse}:
        if place != authority(policy.staging_root):
            yield InvalidSettings(
                STAGING_ROOT + f" of policy {policy.name} is on another file system than the replica's warehouse",
                found=policy.staging_root,
                expected=f"a directory on {place} (the warehouse is {warehouse})",
                next_step=correct(STAGING_ROOT) + ": files are renamed from there, never copied twice",
            )


def check_own_directories(step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Find directories for dumps and staged files that are somebody else's, or not apart from somebody's data."""
    policy = step.work.policy
    on_replica = authority(policy.staging_root) == ports.replica_files.root
    staging = foreign_staging(ports.replica_files, policy) if on_replica else None
    found = (staging, foreign_dumps(ports.dump_files, policy))
    yield from (problem for problem in found if problem is not None)
    try:
        yield from check_roots(ports, policy, step.work.report)
    except TryAgain:
        return  # the checks of the clusters say so already


def check_tables(step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Find tables that cannot be copied as they are, or whose data is where the policy says nothing of.

    Where the policy leaves out what cannot be copied it is reported.
    """
    policy, unusable = step.work.policy, UnusableTables(step.work.policy)
    try:
        scope = usable_scope(ports.source, ports.source_files.root, policy, unusable)
        yield from _unusable(step, unusable)
        yield from _external_problems(ports, policy, scope.external)
    except (TryAgain, Missing):
        return  # the checks of the clusters say so already


def _unusable(step: Preflight, unusable: UnusableTables) -> Iterator[TwinhiveError]:
    yield from unusable.refused()
    for left in unusable.left_out() if not unusable.refused() else ():
        step.work.report(Detail("What is left out", f"left out: {left.name}: {left.reason}"))


def check_external_tables(step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Find what is wrong with the places of the external tables that can be read."""
    policy = step.work.policy
    try:
        tables = readable_scope(ports.source, policy, UnusableTables(policy)).external
        yield from _external_problems(ports, policy, tables)
    except (TryAgain, Missing):
        return  # the checks of the clusters say so already


def _external_problems(ports: WritePorts, policy: Policy, tables: Sequence[Table]) -> Iterator[TwinhiveError]:
    """Find what is wrong with the base directory, and tables whose data is where the policy says nothing of."""
    problems = list(base_problems(ports, policy, tables))
    yield from problems
    for table in tables if not problems else ():
        try:
            list(_entry(table, policy))
        except InvalidSettings as problem:
            yield problem


def check_functions(step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    """Find functions that cannot be read; report those that will be left out, and keep nothing else from coming."""
    unusable = UnusableTables(step.work.policy)
    unusable.add_functions(report_functions(step.work, ports))
    yield from _unusable(step, unusable)


_CHECKS: tuple[Check, ...] = (
    check_source,
    check_replica,
    check_file_systems,
    check_own_directories,
    check_tables,
    check_functions,
)
