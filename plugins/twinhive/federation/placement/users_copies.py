"""Take copies over that users have made (seed 000: by distcp): files that equal their originals become staged ones.

The next run of the placement finds them staged, and copies nothing of them again. It looks at the originals once more,
as after any copying, puts the copies in their places and marks them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.directory_marks.directories import mark_of
from twinhive.core.directory_marks.staging import claim_staging
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import FileStatus, authority, base_name, join, parent
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, ReadPorts, WritePorts
from twinhive.core.ports.same_content import have_same_content
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.core.threads.parallel_map import in_threads
from twinhive.federation.placement.copied_objects import CopyObject
from twinhive.federation.placement.copy_freshness import look_at_table
from twinhive.federation.placement.copy_lists import listed_files
from twinhive.federation.placement.marking_copies import in_pieces
from twinhive.federation.placement.placement_events import CopyNews
from twinhive.federation.placement.placement_layout import taken_path
from twinhive.hive.events.reader import position_at
from twinhive.replication.dump.json_files import write_json
from twinhive.replication.replica.root_directories import check_copies_root, partitions_around
from twinhive.transfer.staged.listing import files_below
from twinhive.transfer.staged.staged_files import CopyItem

_EXAMPLES = 3
_ASIDE = ".twinhive-take."
"""Begins the name of a file that is being taken: no reader sees it, and nobody else writes it."""


@dataclass(frozen=True)
class TakeCopies:
    """Take the copy of a table over that lies in a directory: of a partition in `<directory>/<key>=<value>`.

    An object is taken whole or not at all: its directory has the original's files, all of them and no others, with the
    same content. What differs stays where it is, and is said.
    """

    policy: Policy
    name: TableName
    directory: str
    holder: Mapping[str, str] = field(default_factory=dict)

    def plan(self, ports: ReadPorts) -> list[str]:
        """Compare, and say what would be done. Raises ActNow for a table without anything to copy."""
        self._refuse_what_is_in_use(ports)
        return [one.said("would be taken over") for one in self._compared(ports)]

    def run(self, ports: WritePorts) -> list[str]:
        """Compare and take over; say what was done. Run again after a kill, it goes on. Raises ActNow, LeaseHeld."""
        lines = []
        with hold_lease(ports, Work(self.policy, holder=dict(self.holder)), LeaseKind.PLACEMENT) as lease:
            claim_staging(ports.replica_files, self.policy)
            self._refuse_what_is_in_use(ports)
            # A run that has listed before does not know of what is taken, and leaves it in staging.
            write_json(ports.replica_files, taken_path(self.policy), {"table": str(self.name)})
            self._put_back(ports, lease)
            for one in self._compared(ports):
                changed = "" if one.why_not else self._take(ports, lease, one)
                lines.append(replace(one, why_not=one.why_not or changed).said("is taken over"))
        return lines

    def _take(self, ports: WritePorts, lease: Lease, one: "_Compared") -> str:
        """Move the files that were compared; return which is another one by now, '' for none. That one stays.

        Each waits beside its place until it was looked at: in staging is what was compared, whenever a kill comes.
        """
        files = ports.replica_files
        for their, item in one.theirs:
            lease.confirm()
            staged, aside = item.staged_path(self.policy.staging), _aside(their.path)
            files.make_directories(parent(staged))
            if not _is_same(their, files.status(their.path)) or not files.rename(their.path, aside):
                return f"{item.relative} has changed since it was compared"
            is_same = _is_same(their, files.status(aside))
            # What is staged already is the same file: a run has copied it.
            if not is_same or not files.rename(aside, staged):
                files.rename(aside, their.path)
            if not is_same:
                return f"{item.relative} has changed since it was compared"
        return ""

    def _put_back(self, ports: WritePorts, lease: Lease) -> None:
        """Give files that a kill has left aside their names back. Raises LeaseLost."""
        files, waiting, found = ports.replica_files, [self.directory], list[str]()
        while waiting:
            children = [child for _, page in files.list_pages(waiting) for child in page or ()]
            waiting = [child.path for child in children if child.is_directory]
            found += [child.path for child in children if base_name(child.path).startswith(_ASIDE)]
        for path in found:
            lease.confirm()
            files.rename(path, join(parent(path), base_name(path).removeprefix(_ASIDE)))

    def _compared(self, ports: ReadPorts) -> Iterator["_Compared"]:
        """Yield what needs a copy, with what of it lies in the directory. Raises ActNow where nothing needs one."""
        here = position_at(ports.source, ports.source.current_event_id())
        news = CopyNews.nothing(self.policy, ports.source.log_id(), here)
        found = look_at_table(ports, self.policy, self.name, news)
        if not found.needed:
            raise ActNow(
                f"nothing of {self.name} needs a copy on {self.policy.replica.cluster}",
                found="; ".join(f"{what}: {why}" for what, why in found.left_out.items())
                or f"{len(found.fresh)} copies, each of them fresh",
                expected=f"a table that placement {self.policy.name} copies, and has not copied yet",
                next_step="look at what is said above, and at: " + command("twinhive", "copies", self.policy.name),
            )
        for some in in_pieces(found.needed, self.policy.options.batch_objects):
            places = {one: join(self.directory, one.partition) if one.partition else self.directory for one in some}
            theirs = files_below(ports.replica_files, places)
            originals = listed_files(ports.source_files, some)
            pairs = [(one, originals[one], theirs[one]) for one in some]
            yield from in_threads(lambda pair: self._compare(ports, *pair), pairs, self.policy.options.copy_threads)

    def _refuse_what_is_in_use(self, ports: ReadPorts) -> None:
        """Raise ActNow for a directory of a table, of a database, or of our own: its files are not to be moved."""
        found = [str(problem.words.found) for problem in check_copies_root(ports, self.directory)]
        found += partitions_around(ports.source, ports.source_files.root, self.directory)
        for around in _with_all_above(self.directory):
            if mark := mark_of(ports.replica_files, around):
                found.append(f"{around}, which bears the mark {mark}")
        if found:
            raise ActNow(
                f"{self.directory} is no copy that a user has made for himself",
                found="; ".join(found),
                expected="a directory that no table, database or warehouse uses, and that twinhive has not made",
                next_step="copy the table to a directory of its own, and name that one",
            )

    def _compare(
        self, ports: ReadPorts, one: CopyObject, items: Sequence[CopyItem], theirs: dict[str, FileStatus]
    ) -> "_Compared":
        """Compare the files of an object; those that an earlier run has taken are in staging already."""
        taken, differs = list[tuple[FileStatus, CopyItem]](), list[str]()
        for item in items:
            their = theirs.pop(item.relative, None)
            if their is None:
                staged = ports.replica_files.status(item.staged_path(self.policy.staging))
                if staged is None or staged.length != item.length:
                    differs.append(f"no {item.relative}")
            elif their.length != item.length or not have_same_content(
                ports.source_files, item.path, ports.replica_files, their.path
            ):
                differs.append(f"{item.relative} is another file")
            else:
                taken.append((their, item))
        differs += [f"{relative}, which the original has not" for relative in theirs]
        return _Compared(str(one), tuple(taken), ", ".join(first_of(differs, _EXAMPLES)))


def _aside(path: str) -> str:
    return join(parent(path), f"{_ASIDE}{base_name(path)}")


def _with_all_above(directory: str) -> Iterator[str]:
    while directory != authority(directory):
        yield directory
        directory = parent(directory)


def _is_same(one: FileStatus, other: FileStatus | None) -> bool:
    """True for a file that nobody has replaced or written since it was looked at, wherever it lies now."""
    return other is not None and replace(other, path=one.path, accessed_ms=one.accessed_ms) == one


@dataclass(frozen=True)
class _Compared:
    """An object, which files of a directory are its files, and what differs, '' for nothing."""

    what: str
    theirs: tuple[tuple[FileStatus, CopyItem], ...]
    why_not: str

    def said(self, done: str) -> str:
        """Return what people are told of it."""
        if self.why_not:
            return f"{self.what} stays to be copied: {self.why_not}"
        return f"{self.what} {done}: {len(self.theirs)} files"
