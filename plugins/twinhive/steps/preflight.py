"""Check everything a bootstrap needs before it starts, and say all that is wrong at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from twinhive import __version__
from twinhive.domain.errors import ActNow, InvalidSettings, Missing, Refused, SafeMode, TryAgain, TwinhiveError
from twinhive.domain.files import authority
from twinhive.domain.policy import Policy
from twinhive.ports import MetastoreReader, WritePorts
from twinhive.steps.base import Work
from twinhive.steps.replica_state import already_published, read_state
from twinhive.steps.source_scope import read_scope, usage_or_nothing

_LISTENER = "org.apache.hive.hcatalog.listener.DbNotificationListener"
_THREADS = 8


@dataclass(frozen=True)
class Checked:
    """What the checks found: bytes to copy, bytes free, or that nothing is left to do."""

    bytes_to_copy: int = 0
    bytes_free: int = 0
    already: str | None = None


@dataclass(frozen=True)
class Preflight:
    """Check both clusters; then mark the source so that its change manager keeps files.

    `planned_version` is the version that planned this task (the scheduler's).
    """

    work: Work
    planned_version: str = __version__

    def run(self, ports: WritePorts) -> Checked:
        """Return the sizes. Raises one error that holds every problem; nothing is changed then."""
        problems = [problem for check in _CHECKS for problem in _problems(check, self, ports)]
        if problems:
            raise _all_of(problems, self.work.policy)
        policy = self.work.policy
        already = already_published(read_state(ports.replica, policy, ports.source.log_id()))
        if already:
            self.work.report(already)
            return Checked(already=already)
        checked = self._check_space(ports)
        ports.source_marker.mark(policy.source.database, policy.name)
        self.work.report(f"source database {policy.source} is marked: its change manager keeps removed files")
        return checked

    def _check_space(self, ports: WritePorts) -> Checked:
        policy = self.work.policy
        locations = [table.location for table in read_scope(ports.source, policy).tables]
        with ThreadPoolExecutor(_THREADS) as pool:
            usages = list(pool.map(lambda location: usage_or_nothing(ports.source_files, location), locations))
        needed, files = sum(usage.length for usage in usages), sum(usage.files for usage in usages)
        space = ports.replica_files.space(policy.staging_root)
        free = min(space.free_bytes, _unless_none(space.quota_bytes_left))
        if needed > free or files > _unless_none(space.quota_names_left):
            raise Refused(
                f"there is not enough room below {policy.staging_root} for policy {policy.name}",
                found=f"{free} bytes free; names left by quota: {space.quota_names_left}",
                expected=f"{needed} bytes in {files} files",
                next_step="free space, raise the quota (hdfs dfsadmin -setSpaceQuota), or narrow tables.include; "
                "then clear the task preflight",
            )
        self.work.report(f"{files} files with {needed} bytes to copy, {free} bytes free on the replica")
        return Checked(needed, free)


def _unless_none(limit: int | None) -> int:
    return 2**63 if limit is None else limit


Check = Callable[[Preflight, WritePorts], None]


def _problems(check: Check, step: Preflight, ports: WritePorts) -> Iterator[TwinhiveError]:
    try:
        check(step, ports)
    except TwinhiveError as problem:
        yield problem


def _all_of(problems: list[TwinhiveError], policy: Policy) -> TwinhiveError:
    """Make one error of several; only if all of them may pass by themselves is a retry right."""
    if len(problems) == 1:
        return problems[0]
    family = TryAgain if all(isinstance(problem, TryAgain) for problem in problems) else ActNow
    text = "\n".join(f"{number}. {problem}" for number, problem in enumerate(problems, start=1))
    return family(f"policy {policy.name} cannot start: {len(problems)} problems\n{text}")


def check_versions(step: Preflight, ports: WritePorts) -> None:
    """Refuse to run when scheduler and worker have different versions of this package."""
    if step.planned_version != __version__:
        raise InvalidSettings(
            "the scheduler and this worker run different versions of twinhive",
            found=f"scheduler {step.planned_version}, worker {__version__}",
            expected="one version",
            next_step="deploy the same plugins folder to scheduler, workers and triggerer, then clear the task",
        )


def check_source(step: Preflight, ports: WritePorts) -> None:
    """Check that every address of the source metastore keeps a log and dropped files."""
    policy = step.work.policy
    for address in ports.source.addresses():
        _check_address(ports.source, address, policy)
    if ports.source.database(policy.source.database) is None:
        raise Missing(
            f"database {policy.source.database} does not exist on cluster {policy.source.cluster}",
            next_step="correct source.database in the policy file, or create the database; then clear the task",
        )


def _check_address(source: MetastoreReader, address: str, policy: Policy) -> None:
    listeners = source.configuration(address, "metastore.transactional.event.listeners")
    if _LISTENER not in listeners:
        raise Refused(
            f"the source metastore {address} of cluster {policy.source.cluster} keeps no notification log",
            found=f"metastore.transactional.event.listeners = {listeners.strip() or '(not set)'}",
            expected=_LISTENER,
            next_step=f"add it in that server's metastore-site.xml and restart it; then clear the task preflight "
            f"of {policy.name}",
        )
    if source.configuration(address, "metastore.repl.cm.enabled").strip().lower() != "true":
        raise Refused(
            f"the source metastore {address} of cluster {policy.source.cluster} keeps no dropped files",
            found="metastore.repl.cm.enabled is not true",
            expected="metastore.repl.cm.enabled = true, with metastore.repl.cmrootdir on its file system",
            next_step=f"set both in that server's metastore-site.xml and restart it; then clear the task preflight "
            f"of {policy.name}",
        )


def check_replica(step: Preflight, ports: WritePorts) -> None:
    """Check that the replica's metastore answers, and that its database is absent or ours."""
    ports.replica.database(step.work.policy.replica.database)
    try:
        source_log = ports.source.log_id()
    except TryAgain:
        return  # check_source says so already
    read_state(ports.replica, step.work.policy, source_log)


def check_file_systems(step: Preflight, ports: WritePorts) -> None:
    """Check that both file systems answer and that staged files can be renamed into place."""
    policy = step.work.policy
    ports.source_files.status(ports.source_files.root + "/")
    if ports.replica_files.in_safe_mode():
        raise SafeMode(
            f"the file system {ports.replica_files.root} of cluster {policy.replica.cluster} is in safe mode",
            expected="safe mode off",
            next_step="look at its NameNode (hdfs dfsadmin -safemode get); the task retries by itself",
        )
    warehouse = ports.replica.configuration(ports.replica.addresses()[0], "metastore.warehouse.dir")
    if authority(warehouse) != warehouse and authority(warehouse) != authority(policy.staging_root):
        raise InvalidSettings(
            f"staging_root of policy {policy.name} is on another file system than the replica's warehouse",
            found=policy.staging_root,
            expected=f"a directory on {authority(warehouse)} (the warehouse is {warehouse})",
            next_step="correct staging_root in the policy file: files are renamed from there, never copied twice",
        )


_CHECKS: tuple[Check, ...] = (check_versions, check_source, check_replica, check_file_systems)
