"""The directory of a job, below the table's: what was written, what it will be shown as, and how far that is.

`<table>/_tw/<hash of the job>/` holds `data` (what Spark wrote), `merged` (small files written again, with a list of
which), `plan.jsonl.gz` (the partitions with their files, once that is settled), `replaced.jsonl` of each call that
replaces, `marked-...` of a set that it has marked, `table.json` (which table it is that the job writes into), and
`done`, which says under which clearing of its task. Its name begins with `_`, so readers of the table pass it over; the
partitions shown lie in it for good.

An external table that is dropped leaves it where it is. In another table at the same place the job is another write,
with a directory of its own; what is in the earlier one may be a partition's again, and is left alone. A job that had
come to its end and was cleared by a person is another write too.
"""

import gzip
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from twinhive.core.directory_marks.directories import Mark, Owned, Purpose, claim
from twinhive.core.model.files import FileStatus, base_name, is_below, join, relative_to, short_hash
from twinhive.core.model.names import unescape_path_name
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.ports import FileWriter, if_there
from twinhive.publishing.partition_writes.write_request import PartitionWrite
from twinhive.publishing.partition_writes.write_target import WriteTarget

WRITES = "_tw"
_TABLE = "table.json"
_DONE = "done"
_MERGED_FILES = "_merged-files.json.gz"


@dataclass(frozen=True)
class WrittenPartition:
    """A partition that a job has written: its values, its directory, and the names and lengths of its files."""

    values: tuple[str, ...]
    directory: str
    files: tuple[tuple[str, int], ...]

    @property
    def length(self) -> int:
        """How many bytes its files have."""
        return sum(length for _, length in self.files)

    def is_in(self, other: "WrittenPartition") -> bool:
        """True for one that lies where another lies, which has all of its files."""
        return self.directory == other.directory and {*self.files} <= {*other.files}


@dataclass(frozen=True)
class JobDirectory:
    """The directory of one job, made and marked as ours. What is renamed into place was whole before."""

    files: FileWriter
    owned: Owned
    keys: tuple[str, ...]
    name: str
    """The job's, with a number where it has written before."""
    clearing: int

    @classmethod
    def of(cls, files: FileWriter, target: WriteTarget, request: PartitionWrite) -> "JobDirectory":
        """Make the directory, or find it as an earlier try has left it. Raises Foreign."""
        identity = TableIdentity.of(target.table)
        mark = Mark(Purpose.PARTITION_WRITE, request.job)
        claimed = ((name, claim(files, path, mark, for_others=True)) for name, path in _places(target, request))
        name, owned = next(
            (name, one)
            for name, one in claimed
            if not _is_of_another(one, identity) and _done_under(one) in (None, request.clearing)
        )
        known = join(owned.directory, _TABLE)
        if files.status(known) is None:
            # A new one, or one of an earlier version, which is trusted to be of this table.
            files.write(known, identity.encode())
        return cls(files, owned, target.key_names, name, request.clearing)

    @property
    def path(self) -> str:
        """The directory itself."""
        return self.owned.directory

    @property
    def data(self) -> str:
        """What was written of the data frame."""
        return join(self.path, "data")

    @property
    def merged(self) -> str:
        """What has become of partitions with small files."""
        return join(self.path, "merged")

    def attempt(self) -> str:
        """Return a new name for what is being written: two that do the same do not meet."""
        return join(self.path, f"_attempt-{uuid.uuid4().hex}")

    def settle(self, attempt: str, final: str) -> None:
        """Give what was written its final name; where another has done the same before, his stays."""
        if not self.files.rename(attempt, final):
            self.owned.discard(attempt)

    def is_there(self, final: str) -> bool:
        """Tell whether something has its final name."""
        return self.files.status(final) is not None

    def written(self, base: str) -> dict[tuple[str, ...], list[FileStatus]]:
        """Return the files below a directory of partitions, by the partition's values."""
        level: dict[tuple[str, ...], str] = {(): base}
        for _ in self.keys:
            level = {
                (*values, unescape_path_name(base_name(child.path).partition("=")[2])): child.path
                for values, children in self._listed(level)
                for child in children
                if child.is_directory and "=" in base_name(child.path)
            }
        return {
            values: [child for child in children if not child.is_directory and base_name(child.path)[:1] not in "._"]
            for values, children in self._listed(level)
        }

    def keep_merged_files(self, attempt: str, paths: Iterable[str]) -> None:
        """Write down in what will be `merged` which files of `data` it stands for: the two get their name at once."""
        names = sorted(relative_to(path, self.data) for path in paths)
        self.files.write(join(attempt, _MERGED_FILES), gzip.compress(json.dumps(names).encode(), mtime=0))

    def merged_files(self) -> frozenset[str] | None:
        """Return which files of `data` `merged` stands for; None where an earlier version has made it."""
        path = join(self.merged, _MERGED_FILES)
        if self.files.status(path) is None:
            return None
        return frozenset(join(self.data, name) for name in json.loads(gzip.decompress(self.files.read(path))))

    def plan(self) -> list[WrittenPartition] | None:
        """Return what is to be shown, in a fixed order; None until that is settled."""
        path = self._plan
        if self.files.status(path) is None:
            return None
        lines = gzip.decompress(self.files.read(path)).decode().splitlines()
        return [
            WrittenPartition(tuple(values), directory, tuple((name, length) for name, length in files))
            for values, directory, files in map(json.loads, lines)
        ]

    def keep_plan(self, partitions: Iterable[WrittenPartition]) -> None:
        """Settle what is to be shown."""
        lines = [json.dumps([one.values, one.directory, one.files]) for one in sorted(partitions, key=_values)]
        attempt = self.attempt()
        self.files.write(attempt, gzip.compress("\n".join(lines).encode(), mtime=0))
        self.settle(attempt, self._plan)

    def keep_replaced(self, call: int, places: Sequence[tuple[tuple[str, ...], str]]) -> None:
        """Write down which directories a call is about to replace: afterwards nobody knows them."""
        if places:
            self.files.write(join(self.path, f"replaced-{call}.json"), json.dumps(places).encode())

    def replaced(self, call: int) -> list[tuple[tuple[str, ...], str]]:
        """Return the directories that a call has replaced, or was about to."""
        path = join(self.path, f"replaced-{call}.json")
        if self.files.status(path) is None:
            return []
        return [(tuple(values), place) for values, place in json.loads(self.files.read(path))]

    def has_shown(self, call: int) -> bool:
        """Tell whether a call and what belongs to it was done."""
        return self.is_there(join(self.path, f"shown-{call}"))

    def keep_shown(self, call: int) -> None:
        """Write down that a call and what belongs to it is done."""
        self.files.write(join(self.path, f"shown-{call}"), b"")

    def has_marked(self, spec: str) -> bool:
        """Tell whether the job has marked this set: it does so once, also when others have unmarked it since."""
        return self.is_there(self._marked(spec))

    def keep_marked(self, spec: str) -> None:
        """Write down that the job has marked this set."""
        self.files.write(self._marked(spec), spec.encode())

    @property
    def is_done(self) -> bool:
        """Whether the whole job has come to its end."""
        return _done_under(self.owned) is not None

    def finish(self, partitions: Iterable[WrittenPartition]) -> None:
        """Remove what nobody reads, small files that were merged above all; write down that the job is done."""
        for one in partitions:
            if is_below(one.directory, self.merged):
                self.owned.discard(join(self.data, relative_to(one.directory, self.merged)))
        self.files.write(join(self.path, _DONE), str(self.clearing).encode())
        ((_, children),) = self.files.list_directories([self.path])
        for child in children or ():
            if base_name(child.path).startswith(("_attempt-", "replaced-", "shown-")):
                self.owned.discard(child.path)

    @property
    def _plan(self) -> str:
        return join(self.path, "plan.jsonl.gz")

    def _marked(self, spec: str) -> str:
        return join(self.path, f"marked-{short_hash(spec)}")

    def _listed(self, level: dict[tuple[str, ...], str]) -> Iterable[tuple[tuple[str, ...], list[FileStatus]]]:
        values = {place: key for key, place in level.items()}
        for place, children in self.files.list_directories(list(values)):
            yield values[place], children or []


def _places(target: WriteTarget, request: PartitionWrite) -> Iterator[tuple[str, str]]:
    """Yield names of the job and where its directory may be: the first is the usual one, others for further writes."""
    yield request.job, join(target.location, WRITES, short_hash(request.job))
    for number in count(2):
        yield f"{request.job}#{number}", join(target.location, WRITES, short_hash(f"{request.job}\0{number}"))


def _is_of_another(owned: Owned, identity: TableIdentity) -> bool:
    """True for a directory of a job that has written into another table at the same place."""
    known = join(owned.directory, _TABLE)
    return owned.files.status(known) is not None and TableIdentity.decode(owned.files.read(known)).is_another(identity)


def _done_under(owned: Owned) -> int | None:
    """Return under which clearing of its task a job has come to its end, None where it has not."""
    said = if_there(owned.files.read, join(owned.directory, _DONE))
    return None if said is None else int(said or b"0")


def _values(partition: WrittenPartition) -> tuple[str, ...]:
    return partition.values
