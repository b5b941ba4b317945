"""Look for writes that left no event, bring them over or report them, and sweep what nobody uses any more."""

import gzip
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from twinhive.applying.silent_change import SilentChange, apply_silent_change
from twinhive.copying.engine import copy_items
from twinhive.copying.items import item_of
from twinhive.domain.contents import SourceFile
from twinhive.domain.errors import ActNow, Missing
from twinhive.domain.files import Usage, join
from twinhive.domain.frozen import is_frozen
from twinhive.domain.marks import Phase, ReplicaState
from twinhive.domain.policy import Policy
from twinhive.ports import FileReader, WritePorts
from twinhive.steps.base import Detail, Work
from twinhive.steps.control import is_paused
from twinhive.steps.event_stream import touched_after
from twinhive.steps.open_target import open_target
from twinhive.steps.replica_state import read_state
from twinhive.steps.silent_writes import (
    Difference,
    Leaf,
    Look,
    Size,
    compare,
    contents,
    leaves,
    looks,
    replica_places,
    size_of,
    sizes_of,
    unfinished_below,
)
from twinhive.steps.sweep import sweep

_DEEP_EVERY_SECONDS = 24 * 3600
_NAMED = 10
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


@dataclass(frozen=True)
class Memory:
    """What the last scan accepted: the looks of directories, when all files were compared, what they held then."""

    looks: Mapping[str, Look] = field(default_factory=dict)
    deep: float = 0.0
    sizes: Mapping[str, Size] = field(default_factory=dict)

    @classmethod
    def read(cls, files: FileReader, policy: Policy) -> "Memory":
        """Read what was remembered; nothing before the first scan."""
        try:
            fields = json.loads(gzip.decompress(files.read(_memory_path(policy))))
        except (Missing, ValueError, OSError):
            return cls()
        sizes = {path: (size[0], size[1]) for path, size in fields.get("sizes", {}).items()}
        return cls({path: (look[0], look[1]) for path, look in fields["looks"].items()}, fields["deep"], sizes)

    def packed(self) -> bytes:
        """Return what is to be remembered."""
        fields = {"looks": self.looks, "deep": self.deep, "sizes": self.sizes}
        return gzip.compress(json.dumps(fields).encode(), mtime=0)


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
        """Return what was found. Raises ActNow for silent writes when the policy says `fail`."""
        policy, report = self.work.policy, self.work.report
        state = read_state(ports.replica, policy, ports.source.log_id())
        if state.phase is not Phase.FOLLOWING or is_paused(ports.replica_files, policy):
            report("nothing to scan: the replica does not follow, or is paused")
            return Scanned(already=state.phase.value)
        if holder := ports.lease.holder(join(policy.staging, "lease")):
            report(f"another task is changing the replica, or was killed while it did ({holder}); the next scan looks")
            return Scanned(already="busy")
        memory = Memory.read(ports.replica_files, policy)
        deep = self.deep or self.clock() - memory.deep > _DEEP_EVERY_SECONDS
        found = {leaf.location: leaf for leaf in leaves(ports.source, policy)}
        now = looks(ports.source_files, found)
        changed = {place for place, look in now.items() if deep or memory.looks.get(place) != look}
        suspects = [leaf for place, leaf in found.items() if place in changed]
        here = contents(ports.source_files, {leaf.location: leaf.location for leaf in suspects})
        known = {place: memory.sizes[place] for place in memory.sizes.keys() & found.keys()}
        sizes = known | {place: size_of(files) for place, files in here.items()}
        self.tell_sizes(sizes_of(found.values(), sizes))
        differences = self._differences(ports, suspects, here)
        settled = self._settled(ports, state, differences)
        followed, reported = self._act(ports, state, settled)
        waiting = {one.leaf.location for one in differences} - {one.leaf.location for one in followed}
        accepted = {place: look for place, look in now.items() if place not in waiting}
        remembered = Memory(accepted, self.clock() if deep else memory.deep, sizes)
        ports.replica_files.write(_memory_path(policy), remembered.packed())
        swept = sweep(ports, self.work, self.clock())
        self._say(len(found), suspects, followed, reported, differences)
        names = tuple(map(str, followed)), tuple(map(str, reported))
        left = tuple(str(one) for one in differences if one not in followed and one not in reported)
        if reported and policy.options.silent_writes == "fail":
            raise _silent_writes(policy, reported)
        wanted = [file for one in settled for file in one.wanted]
        to_copy = len(wanted), sum(file.length for file in wanted)
        return Scanned(len(found), len(suspects), *to_copy, *names, left, swept)

    def _differences(
        self, ports: WritePorts, suspects: list[Leaf], here: Mapping[str, Mapping[str, SourceFile]]
    ) -> list[Difference]:
        places = replica_places(ports, self.work.policy, suspects)
        there = contents(ports.replica_files, places)
        found = [
            compare(ports, leaf, here[leaf.location], there[leaf.location])
            for leaf in suspects
            if leaf.location in places
        ]
        return [one for one in found if one is not None]

    def _settled(self, ports: WritePorts, state: ReplicaState, differences: list[Difference]) -> list[Difference]:
        """Return the differences that are the same after a while, with no event of their table to come."""
        if not differences:
            return []
        self.wait(self.work.policy.options.settle_seconds)
        again = contents(ports.source_files, {one.leaf.location: one.leaf.location for one in differences})
        same = [one for one in differences if again[one.leaf.location] == one.files]
        quiet = [one for one in same if not unfinished_below(ports.source_files, one.leaf)]
        # Read last: whatever explains these files has had its time to be written.
        touched = touched_after(ports, self.work.policy, state.position)
        return [one for one in quiet if touched is not None and one.leaf.table.name not in touched]

    def _act(
        self, ports: WritePorts, state: ReplicaState, settled: list[Difference]
    ) -> tuple[list[Difference], list[Difference]]:
        if not settled or self.work.policy.options.silent_writes != "follow":
            return [], settled
        staging = join(self.work.policy.staging, "scan", "files")
        items = [item_of(file, one.leaf.table.name, one.leaf.name) for one in settled for file in one.wanted]
        options = self.work.policy.options
        outcome = copy_items(
            items,
            ports.source_files,
            ports.replica_files,
            staging,
            options.copy_threads,
            self.work.report,
            bytes_per_second=options.bytes_per_second,
        )
        failed = {failure.path for failure in outcome.failures}
        ready = [one for one in settled if not failed & {file.path for file in one.wanted}]
        followed = self._apply(ports, state, ready, staging)
        ports.replica_files.delete(staging)
        return followed, []

    def _apply(self, ports: WritePorts, state: ReplicaState, ready: list[Difference], staging: str) -> list[Difference]:
        policy, log_id = self.work.policy, ports.source.log_id()
        with ports.lease.hold(join(policy.staging, "lease"), self.work.holder) as lease:
            now = read_state(ports.replica, policy, log_id)
            if now.position != state.position:
                self.work.report("events were applied meanwhile; the differences are looked at again by the next scan")
                return []
            database = ports.replica.database(policy.replica.database)
            frozen = database.parameters if database else {}
            target = open_target(ports, policy, log_id, lease, staging)
            token = uuid.uuid4().hex[:8]
            return [
                one
                for one in ready
                if not is_frozen(frozen, one.leaf.table.name.table)
                and apply_silent_change(target, _change(one), state.position.event_id, token)
            ]

    def _say(
        self,
        count: int,
        suspects: list[Leaf],
        followed: list[Difference],
        reported: list[Difference],
        differences: list[Difference],
    ) -> None:
        report = self.work.report
        report(f"{count} directories looked at, {len(suspects)} compared file by file, {len(differences)} differ")
        for one in followed:
            report(Detail(_CHANGED, f"changed without an event, brought over: {one}"))
        for one in reported:
            report(Detail(_CHANGED, f"changed without an event, not brought over: {one}"))
        for one in differences:
            if one not in followed and one not in reported:
                report(Detail(_CHANGED, f"not settled yet: {one}"))


def _change(one: Difference) -> SilentChange:
    return SilentChange(one.leaf.table.name, one.leaf.name, one.wanted, replaces=not one.only_adds)


def _memory_path(policy: Policy) -> str:
    return join(policy.staging, "scan", "directories.json.gz")


def _silent_writes(policy: Policy, reported: list[Difference]) -> ActNow:
    names = "; ".join(map(str, reported[:_NAMED]))
    more = f"; and {len(reported) - _NAMED} more" if len(reported) > _NAMED else ""
    return ActNow(
        f"tables of policy {policy.name} were changed without an event (silent_writes: fail)",
        found=names + more,
        expected="changes that the notification log tells of",
        next_step="let their writers fire events (facts in docs/fine-print.md), then bring each table over with: "
        f"twinhive resync {policy.name} {reported[0].leaf.table.name.table}",
    )
