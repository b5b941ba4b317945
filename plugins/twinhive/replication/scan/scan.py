"""Look for writes that left no event, bring them over or report them, and sweep what nobody uses any more."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import ActNow, TwinhiveError, together
from twinhive.core.model.files import Usage
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.marks import Phase
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.text import ResyncTable
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Detail, Work
from twinhive.replication.comparison.directory_fingerprints import LeafLook, LooksOfPages
from twinhive.replication.comparison.leaf_files import Difference, compare_leaves
from twinhive.replication.notification_log.touched_tables import TouchedTables
from twinhive.replication.operator_requests.request_files import is_paused
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.source_scope import readable_scope
from twinhive.replication.replica.unusable_tables import UnusableTables
from twinhive.replication.scan.scan_memory import Memories, Memory, shard_of
from twinhive.replication.scan.silent_differences import SilentDifferences
from twinhive.replication.scan.silent_writes import Size, leaves, size_of, sizes_of
from twinhive.replication.scan.sweep import sweep

_DEEP_EVERY_SECONDS = 24 * 3600
_NAMED = 10
_COMPARED_AT_ONCE = 256
# Differences of so many files wait for each other to settle, and are then brought over together.
_FILES_AT_ONCE = 100_000
_CHANGED = "What was changed without an event"


@dataclass(frozen=True)
class Scanned:
    """What a scan found: leaves looked at, differences brought over, reported or left for the next time.

    files, bytes   what it takes to bring over the differences that have settled
    """

    leaves: int = 0
    suspects: int = 0
    files: int = 0
    bytes: int = 0
    followed: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    swept: int = 0
    already: str | None = None

    def __add__(self, other: "Scanned") -> "Scanned":
        """Add what another part of the scan found."""
        return Scanned(
            self.leaves + other.leaves,
            self.suspects + other.suspects,
            self.files + other.files,
            self.bytes + other.bytes,
            self.followed + other.followed,
            self.reported + other.reported,
            self.waiting + other.waiting,
            self.swept + other.swept,
        )


def _nobody_asks(sizes: Mapping[str, Usage]) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Scan:
    """Compare what the source holds with what its log has said.

    tell_sizes   told by the way how large the tables are, by their names
    """

    work: Work
    deep: bool = False
    clock: Callable[[], float] = time.time
    wait: Callable[[float], None] = time.sleep
    tell_sizes: Callable[[Mapping[str, Usage]], None] = _nobody_asks

    def run(self, ports: WritePorts) -> Scanned:
        """Return what was found. Raises ActNow for silent writes when the policy says `fail`.

        The sweep comes first, and neither stops the other: what went wrong with both is raised at the end.
        """
        policy = self.work.policy
        state = state_now(ports, policy)
        if state.phase is not Phase.FOLLOWING or is_paused(ports.replica_files, policy):
            nothing = "nothing to scan: the replica does not follow, or is paused"
            self.work.report(nothing)
            return Scanned(already=nothing)
        problems: list[TwinhiveError] = []
        swept, scanned = 0, Scanned()
        try:
            swept = sweep(ports, self.work, self.wait)
        except TwinhiveError as error:
            problems.append(error)
        try:
            scanned = _Scanning(self, ports).run()
        except TwinhiveError as error:
            problems.append(error)
        if problems:
            raise together(problems, f"the scan of policy {policy.name} has met {len(problems)} problems")
        return replace(scanned, swept=swept)


@dataclass(frozen=True)
class _Looked:
    """What was seen of the tables of one file of the memory; `accepted` are the looks of what was compared."""

    shard: str
    accepted: Mapping[str, LeafLook]
    deep: float
    sizes: Mapping[str, Size]
    dump: str | None
    differences: Sequence[Difference]

    def memory(self, followed: Iterable[Difference]) -> Memory:
        """Return what is to be remembered: nothing of what differs still."""
        waiting = {one.leaf.location for one in self.differences} - {one.leaf.location for one in followed}
        accepted = {place: look for place, look in self.accepted.items() if place not in waiting}
        return Memory(accepted, self.deep, self.sizes, self.dump)


@dataclass
class _Scanning:
    """One scan under way: looks at some tables after the others, and brings over what differs by the way."""

    scan: Scan
    ports: WritePorts
    found: Scanned = field(default_factory=Scanned)
    problems: list[TwinhiveError] = field(default_factory=list)
    silent: list[TableName] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.policy = self.scan.work.policy
        self.report = self.scan.work.report
        self.memories = Memories(self.policy)
        self.files = self.ports.replica_files

    def run(self) -> Scanned:
        """Return what was found."""
        unusable = UnusableTables(self.policy)
        scope = readable_scope(self.ports.source, self.policy, unusable)
        frozen = self._frozen() if unusable.found else {}
        self.problems += [one for name, one in unusable.found.items() if name.table not in frozen]
        tables = [table for table in scope.tables if table.kind.has_comparable_files]
        sizes: dict[str, Usage] = {}
        for some in self._batches(tables, sizes):
            self._finish(*some)
        self.memories.keep_only(self.files, {shard_of(table.name) for table in tables})
        self.scan.tell_sizes(sizes)
        found = self.found
        differ = len(found.followed) + len(found.reported) + len(found.waiting)
        self.report(f"{found.leaves} directories looked at, {found.suspects} compared file by file, {differ} differ")
        if self.silent and self.policy.options.silent_writes == "fail":
            self.problems.append(_silent_writes(self.policy, self.silent[0], found.reported))
        if self.problems:
            raise together(self.problems, f"{len(self.problems)} tables or partitions cannot be brought over")
        return found

    def _frozen(self) -> dict[str, str]:
        database = self.ports.replica.database(self.policy.replica.database)
        return frozen_tables(database.parameters if database else {})

    def _batches(
        self, tables: Sequence[Table], sizes: dict[str, Usage]
    ) -> Iterator[tuple[SilentDifferences, list[_Looked]]]:
        """Look at all tables; yield what was seen, as soon as that is much."""
        alone = leaves(self.ports.source, self.ports.source_files.root, _whole(tables))
        whole = self._looks(leaf.location for leaf in alone)
        by_shard: dict[str, list[Table]] = defaultdict(list)
        for table in tables:
            by_shard[shard_of(table.name)].append(table)
        batch: list[_Looked] = []
        found, held = self._begin(), 0
        for shard in sorted(by_shard):
            looked = self._look(shard, by_shard[shard], whole, sizes, found.state.dump)
            if not looked.differences:
                self.memories.write(self.files, shard, looked.memory([]))
                continue
            batch.append(looked)
            held += sum(len(one.files) for one in looked.differences)
            if held > _FILES_AT_ONCE:
                yield found, batch
                batch, found, held = [], self._begin(), 0
        yield found, batch

    def _begin(self) -> SilentDifferences:
        """Note where the replica is, before anything is compared."""
        state = state_now(self.ports, self.policy)
        touched = TouchedTables(state.position)
        return SilentDifferences(self.scan.work, self.ports, state, touched, self.scan.wait)

    def _look(
        self,
        shard: str,
        tables: Sequence[Table],
        whole: Mapping[str, LeafLook],
        sizes: dict[str, Usage],
        dump: str | None,
    ) -> _Looked:
        memory = self.memories.read(self.files, shard, dump)
        deep = self.scan.deep or self.scan.clock() - memory.deep > _DEEP_EVERY_SECONDS
        found = {leaf.location: leaf for leaf in leaves(self.ports.source, self.ports.source_files.root, tables)}
        now = {place: whole[place] for place in found.keys() & whole.keys()}
        now |= self._looks(place for place, leaf in found.items() if leaf.name)
        known = {} if deep else {place: memory.looks[place] for place in memory.looks.keys() & memory.sizes.keys()}
        same = {place: look for place, look in now.items() if known.get(place) == look}
        suspects = [leaf for place, leaf in found.items() if place in now and place not in same]
        counted = {place: memory.sizes[place] for place in memory.sizes.keys() & found.keys()}
        differences: list[Difference] = []
        # What the replica does not have is an event's, and looked at again afterwards.
        for start in range(0, len(suspects), _COMPARED_AT_ONCE):
            compared = compare_leaves(self.ports, self.policy, suspects[start : start + _COMPARED_AT_ONCE])
            counted |= {place: size_of(files) for place, files in compared.files.items()}
            same |= {place: now[place] for place in compared.files}
            differences += compared.differences
        sizes |= sizes_of(found.values(), counted)
        self.found += Scanned(len(found), len(suspects))
        compared_at = self.scan.clock() if deep else memory.deep
        return _Looked(shard, same, compared_at, counted, memory.dump, differences)

    def _looks(self, locations: Iterable[str]) -> dict[str, LeafLook]:
        """Look at directories of the source, as they are at this moment."""
        return LooksOfPages(self.ports.source_files).of(list(locations))

    def _finish(self, found: SilentDifferences, batch: Sequence[_Looked]) -> None:
        differences = [one for looked in batch for one in looked.differences]
        settled = found.settled(differences)
        follows = self.policy.options.silent_writes == "follow"
        followed = found.brought_over(settled) if follows else []
        reported = [] if follows else settled
        for looked in batch:
            self.memories.write(self.files, looked.shard, looked.memory(followed))
        self.problems += found.refused
        self.silent += [one.leaf.table.name for one in reported]
        done = {one.leaf.location for one in (*followed, *reported)}
        waiting = [one for one in differences if one.leaf.location not in done]
        self._say("changed without an event, brought over", followed)
        self._say("changed without an event, not brought over", reported)
        self._say("not settled yet", waiting)
        wanted = [file for one in settled for file in one.wanted]
        self.found += Scanned(
            files=len(wanted),
            bytes=sum(file.length for file in wanted),
            followed=tuple(map(str, followed)),
            reported=tuple(map(str, reported)),
            waiting=tuple(map(str, waiting)),
        )

    def _say(self, what: str, some: Sequence[Difference]) -> None:
        for one in some:
            self.report(Detail(_CHANGED, f"{what}: {one}"))


def _whole(tables: Sequence[Table]) -> Iterator[Table]:
    return (table for table in tables if not table.partition_keys)


def _silent_writes(policy: Policy, first: TableName, reported: Sequence[str]) -> ActNow:
    return ActNow(
        f"tables of policy {policy.name} were changed without an event (silent_writes: fail)",
        found="; ".join(first_of(reported, _NAMED)),
        expected="changes that the notification log tells of",
        next_step="let their writers fire events (facts in docs/fine-print.md), then bring each table over with: "
        + ResyncTable(policy.name, first.table),
    )
