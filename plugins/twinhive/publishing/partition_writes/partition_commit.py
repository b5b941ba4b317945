"""Show partitions that were written: by one call of the metastore for up to a thousand, and its events.

Every step may be done twice, and by two at once: a partition that lies in the job's directory is shown; an event may be
logged again, which replicas take for what they have; a file that is where it is to be was moved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from twinhive.core.model.errors import ActNow, AlreadyThere, TryAgain
from twinhive.core.model.files import ChecksumForm, base_name, is_below, join
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Parameters, Partition
from twinhive.core.model.thrift_objects import partition_like, serde_of, storage_of
from twinhive.core.ports import FileWriter, if_there
from twinhive.core.ports.table_writers import LoggedInsert, TableWriter
from twinhive.core.threads.parallel_map import in_threads
from twinhive.publishing.partition_writes.job_directory import JobDirectory, WrittenPartition
from twinhive.publishing.partition_writes.used_locations import PlacesInUse
from twinhive.publishing.partition_writes.write_request import WriteMode
from twinhive.publishing.partition_writes.write_target import WriteTarget
from twinhive.transfer.staged.listing import list_files

A_CALL = 1_000
"""Partitions that one call shows."""
_THREADS = 8
_TIMES = 5
_STATISTICS = (
    "numFiles",
    "totalSize",
    "numRows",
    "rawDataSize",
    "numFilesErasureCoded",
    "COLUMN_STATS_ACCURATE",
    "transient_lastDdlTime",
)
"""Parameters that tell of the rows before."""


_Gone = dict[tuple[str, ...], list[str]]
"""Which files are gone, by the partition's values."""


@dataclass(frozen=True)
class Shown:
    """How many partitions were new, replaced and appended to, by all tries together."""

    new: int = 0
    replaced: int = 0
    appended: int = 0

    def __add__(self, other: "Shown") -> "Shown":
        return Shown(self.new + other.new, self.replaced + other.replaced, self.appended + other.appended)


@dataclass(frozen=True)
class Showing:
    """Shows the partitions of one job."""

    target: WriteTarget
    mode: WriteMode
    metastore: TableWriter
    files: FileWriter
    job: JobDirectory

    def refuse_those_there(self, written: Sequence[WrittenPartition]) -> None:
        """Raise ActNow when a mode that only adds meets a partition of others, before anything more is shown."""
        has_shown = False
        for at in range(0, len(written), A_CALL) if self.mode is WriteMode.ADD else ():
            there = self._there(written[at : at + A_CALL])
            has_shown = has_shown or any(one.ours for one in there.values())
            self._refuse(there, has_shown=has_shown)

    def show(self, written: Sequence[WrittenPartition]) -> Shown:
        """Show all partitions, as far as an earlier try has not. Raises ActNow, TryAgain."""
        calls = [written[at : at + A_CALL] for at in range(0, len(written), A_CALL)]
        return sum((self._call(number, call) for number, call in enumerate(calls)), Shown())

    def _call(self, number: int, written: Sequence[WrittenPartition]) -> Shown:
        there = self._there(written)
        new = [one for one in written if one.values not in there]
        replaced, appended = self._told_apart(number, written, there)
        shown = Shown(len(written) - len(replaced) - len(appended), len(replaced), len(appended))
        if self.job.has_shown(number):
            return shown
        moved = {one.values for one in appended}
        if gone := self._lacking([one for one in written if one.values not in moved]):
            self._end_what_has_begun(number, replaced, appended, there, gone)
            raise self._is_gone(gone)
        if new:
            self._add(new)
            # One that an earlier try has switched may have been dropped since: it is there again now.
            there |= self._there(new)
        self._replace(number, replaced, there)
        self._append(appended, there)
        self.job.keep_shown(number)
        return shown

    def _told_apart(
        self, number: int, written: Sequence[WrittenPartition], there: dict[tuple[str, ...], "_There"]
    ) -> tuple[list[WrittenPartition], list[WrittenPartition]]:
        """Return which partitions are replaced and which appended to, also those that an earlier try has switched."""
        match self.mode:
            case WriteMode.APPEND:
                return [], [one for one in written if _is_of_others(there.get(one.values))]
            case WriteMode.OVERWRITE:
                before = dict(self.job.replaced(number))
                return [one for one in written if one.values in before or _is_of_others(there.get(one.values))], []
            case WriteMode.ADD:
                self._refuse(there, has_shown=number > 0 or any(one.ours for one in there.values()))
                return [], []
            case _:
                assert_never(self.mode)

    def _lacking(self, written: Sequence[WrittenPartition]) -> _Gone:
        """Return which files are not where the job has written them: shown or not, others may have replaced them."""
        by_place = {one.directory: one for one in written if one.files}
        gone: dict[tuple[str, ...], list[str]] = {}
        for place, children in self.files.list_directories(list(by_place)):
            there = {base_name(child.path): child.length for child in children or ()}
            one = by_place[place]
            if paths := [join(place, name) for name, length in one.files if there.get(name) != length]:
                gone[one.values] = paths
        return gone

    def _end_what_has_begun(
        self,
        number: int,
        replaced: Sequence[WrittenPartition],
        appended: Sequence[WrittenPartition],
        there: dict[tuple[str, ...], "_There"],
        gone: _Gone,
    ) -> None:
        """Tell of partitions that an earlier try has changed already, and are whole; nothing more is shown."""
        ours = {values for values, one in there.items() if one.ours} - gone.keys()
        switched = [one for one in replaced if one.values in ours]
        self._replace(number, switched, there)
        moved = self._lacking(appended)
        self._append([one for one in appended if one.values in moved], there)

    def _is_gone(self, gone: _Gone) -> ActNow:
        names = [self._name(values) for values in gone]
        paths = [path for some in gone.values() for path in some]
        first = f"{', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
        return ActNow(
            f"{first} of {self.target.table.name} is not shown: what this job has written is gone",
            found=f"{len(paths)} files of {len(names)} partitions that are not there any more, or have another length; "
            f"the first is {paths[0]}",
            expected="the files as the job has written them",
            next_step="look who has changed the partition meanwhile, its rows are left as they are; "
            f"then write the rows of {first}, and no others, with another job: what this one has shown stays",
        )

    def _add(self, new: Sequence[WrittenPartition]) -> None:
        table = self.target.table
        made = [partition_like(table, one.values, one.directory, _statistics(one)) for one in new]
        try:
            self.metastore.add_partitions(made)
        except AlreadyThere as error:
            raise TryAgain(
                f"partitions of {table.name} were added by somebody else meanwhile",
                found=error.what,
                expected="partitions that are not there yet",
                next_step="repeat the job: it goes on, and sees them",
            ) from error

    def _replace(
        self, number: int, replaced: Sequence[WrittenPartition], there: dict[tuple[str, ...], "_There"]
    ) -> None:
        if not replaced:
            return
        before = dict(self.job.replaced(number))
        before |= {one.values: place for one in replaced if (place := there[one.values].place_of_others)}
        self.job.keep_replaced(number, list(before.items()))
        switched = [self._switched(there[one.values].partition, one) for one in replaced if not there[one.values].ours]
        if switched:
            self.metastore.alter_partitions(switched)
        self._tell(replaced, replaces=True)
        if left := [before[one.values] for one in replaced if one.values in before]:
            # As it is now: others may have been given these places meanwhile, under any name.
            used = PlacesInUse.read(self.metastore, self.target.table)
            for place in left:
                if not used.hold(place):
                    self._clear(place)

    def _switched(self, partition: Partition, written: WrittenPartition) -> Partition:
        kept = {key: value for key, value in partition.parameters.items() if key not in _STATISTICS}
        parameters = {**kept, **_statistics(written)}
        return partition_like(self.target.table, written.values, written.directory, parameters, partition)

    def _append(self, appended: Sequence[WrittenPartition], there: dict[tuple[str, ...], "_There"]) -> None:
        if not appended:
            return
        self._refuse_other_formats([there[one.values].partition for one in appended])
        moved = [self._moved(one, there[one.values].partition) for one in appended]
        self._tell(moved, replaces=False)
        for one in appended:
            self.job.owned.discard(one.directory)  # it is empty now, and no partition's

    def _refuse_other_formats(self, partitions: Sequence[Partition]) -> None:
        wanted = storage_of(self.target.table).serde
        if others := [one for one in partitions if serde_of(one) != wanted]:
            raise ActNow(
                f"{len(others)} partitions of {self.target.table.name} cannot be appended to",
                found=f"{self._name(others[0].values)} is of {serde_of(others[0])}",
                expected=f"partitions of {wanted}, as the table is",
                next_step="write with mode 'overwrite', or write these partitions anew first",
            )

    def _moved(self, written: WrittenPartition, partition: Partition) -> WrittenPartition:
        assert partition.location is not None, "a partition of a table with files has a location"
        for name, length in written.files:
            goal = join(partition.location, name)
            if self.files.rename(join(written.directory, name), goal):
                continue
            found = self.files.status(goal)
            if found is None or found.length != length:
                raise ActNow(
                    f"{goal} cannot be appended to {self._name(written.values)}",
                    found="nothing at either place" if found is None else f"a file of {found.length} bytes",
                    expected=f"the file of {length} bytes that this job has written",
                    next_step="look who has changed the partition meanwhile; then write its rows, and no others, with "
                    "another job: what this one has shown stays",
                )
        return WrittenPartition(written.values, partition.location, written.files)

    def _tell(self, written: Sequence[WrittenPartition], *, replaces: bool) -> None:
        """Tell the log which files came, as far as they are there still: others may change a partition at any moment.

        What they have changed until the event was written is told as it is, in the place of what was told before.
        """
        checksums = self._checksums(written)
        there = self._as_they_are(written)
        wanted = [one for one in written if one.values in there and one.is_in(there[one.values])]
        for _ in range(_TIMES):
            if not wanted:
                return
            inserts = (
                LoggedInsert(one.values, tuple((path, checksums[path]) for path in self._paths(one)), replaces)
                for one in wanted
            )
            self.metastore.fire_inserts(self.target.table.name, list(inserts))
            there = self._as_they_are(wanted)
            now = ((one, there[one.values]) for one in wanted if one.values in there)
            wanted = [new for one, new in now if not (one.is_in(new) and (not replaces or new.is_in(one)))]
            checksums, replaces = self._checksums(wanted), True
        raise TryAgain(
            f"{self._name(wanted[0].values)} of {self.target.table.name} is changed by others all the time",
            found=f"other files than were told, after each of {_TIMES} events",
            expected="files that are the same before and after the event that tells of them",
            next_step="repeat the job: it goes on with its other partitions",
        )

    def _checksums(self, written: Sequence[WrittenPartition]) -> dict[str, str | None]:
        paths = [path for one in written for path in self._paths(one)]
        found = in_threads(lambda path: if_there(self.files.checksum, path, ChecksumForm.IDENTITY), paths, _THREADS)
        return dict(zip(paths, found, strict=True))

    def _as_they_are(self, written: Sequence[WrittenPartition]) -> dict[tuple[str, ...], WrittenPartition]:
        """Read partitions again, with the files that readers find; those that are gone are left out."""
        places = {values: one.partition.location or "" for values, one in self._there(written).items()}
        files: dict[tuple[str, ...], list[tuple[str, int]]] = {values: [] for values in places}
        for values, name, status in list_files(self.files, list(places.items())):
            files[values].append((name, status.length))
        return {values: WrittenPartition(values, place, tuple(files[values])) for values, place in places.items()}

    def _paths(self, one: WrittenPartition) -> list[str]:
        return [join(one.directory, name) for name, _ in one.files]

    def _clear(self, place: str) -> None:
        """Take the files away that a partition had before, as INSERT OVERWRITE does; no partition lies there any more.

        They go to the change manager, else to the trash. Left alone is a directory that is not below the table's, or
        that holds this job: whose files these are is not ours to say.
        """
        inside = is_below(place, self.target.location) and not is_below(self.job.path, place)
        if not inside or self.files.status(place) is None:
            return
        self.metastore.recycle(place)
        ((_, children),) = self.files.list_directories([place])
        for child in children or ():
            if not child.is_directory and not self.files.to_trash(child.path):
                self.files.delete_file(child.path)
        ((_, children),) = self.files.list_directories([place])
        if children == []:
            self.files.delete_file(place)

    def _there(self, written: Sequence[WrittenPartition]) -> dict[tuple[str, ...], "_There"]:
        names = [self._name(one.values) for one in written]
        found = self.metastore.partitions(self.target.table.name, names)
        places = {one.values: one.directory for one in written}
        return {one.values: _There(one, one.location == places[one.values]) for one in found}

    def _name(self, values: tuple[str, ...]) -> str:
        return partition_name(self.target.key_names, values)

    def _refuse(self, there: Mapping[tuple[str, ...], "_There"], *, has_shown: bool) -> None:
        """Raise ActNow where partitions that are to be added are others' already."""
        others = sorted(values for values, one in there.items() if not one.ours)
        if not others:
            return
        first = ", ".join(self._name(values) for values in others[:3])
        raise ActNow(
            f"{len(others)} partitions of {self.target.table.name} are there already",
            found=f"{first}{', ...' if len(others) > 3 else ''}",
            expected="none of them: the mode is 'add'",
            next_step="write with mode 'overwrite' or 'append', or without these rows; "
            + ("what this job has shown before stays" if has_shown else "nothing was shown"),
        )


@dataclass(frozen=True)
class _There:
    """A partition that the metastore knows; `ours`: it lies where this job has written it."""

    partition: Partition
    ours: bool

    @property
    def place_of_others(self) -> str | None:
        return None if self.ours else self.partition.location


def _is_of_others(there: _There | None) -> bool:
    return there is not None and not there.ours


def _statistics(written: WrittenPartition) -> Parameters:
    return {"numFiles": str(len(written.files)), "totalSize": str(written.length)}
