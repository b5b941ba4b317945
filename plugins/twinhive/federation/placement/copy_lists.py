"""The list of what one run copies: objects and files, batch by batch, on the file system of the copies."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain

from twinhive.core.model.batches import Batch
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import FileStatus, base_name, copying_weight, join, short_hash
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import FileReader, FileWriter, children
from twinhive.federation.placement.copied_objects import CopyObject, line_of
from twinhive.federation.placement.placement_layout import list_directory, lists_directory
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.dump.shards import pack_lines, unpack_lines
from twinhive.transfer.staged.listing import list_each, list_files
from twinhive.transfer.staged.staged_files import CopyItem

ListedCopies = Mapping[CopyObject, Iterable[CopyItem]]
"""Objects with their files, which may be gone through as often as one likes."""


@dataclass(frozen=True)
class CopyListBatch:
    """Some objects of a list, with what their files add up to."""

    name: str
    label: str
    objects: int
    files: int
    bytes: int


@dataclass(frozen=True)
class CopyList:
    """A list: what is in it is as it was after an event.

    name   of its directory: the event, and a hash of the objects
    token  a hash of all its files: directories of copies bear it, so that none is taken for another's
    time, digest   which event it is; 0 and '' of lists of earlier versions, and where the log had no event
    """

    name: str
    log_id: str
    event_id: int
    token: str
    batches: tuple[CopyListBatch, ...]
    time: int = 0
    digest: str = ""

    @property
    def position(self) -> Position:
        """The event after which it was made."""
        return Position(self.event_id, self.time, self.digest)

    @property
    def copies(self) -> str:
        """What stands behind a table's name in the directory of its copies."""
        return f"{self.event_id}-{self.token}"

    def batch(self, name: str) -> CopyListBatch:
        """Return a batch by its name."""
        return next(batch for batch in self.batches if batch.name == name)

    def for_tasks(self) -> tuple[Batch, ...]:
        """Return what tasks are mapped over."""
        return tuple(Batch(batch.name, batch.label, ()) for batch in self.batches)


def list_name(event_id: int, objects: Iterable[CopyObject]) -> str:
    """Return the name of a list: the same objects, in the same state, give the same one."""
    return f"{event_id:012d}-{short_hash(json.dumps([one.fields() for one in objects]), 8)}"


def files_path(policy: Policy, name: str, batch: str) -> str:
    """Return the file that lists what is copied by a batch."""
    return join(list_directory(policy, name), f"{batch}.files.jsonl.gz")


def result_path(policy: Policy, name: str, batch: str) -> str:
    """Return where a copy leaves its result."""
    return join(list_directory(policy, name), f"{batch}.result.json")


def _objects_path(policy: Policy, name: str, batch: str) -> str:
    return join(list_directory(policy, name), f"{batch}.objects.jsonl.gz")


def _manifest_path(policy: Policy, name: str) -> str:
    return join(list_directory(policy, name), "list.json")


def listed_files(files: FileReader, objects: Sequence[CopyObject]) -> dict[CopyObject, list[CopyItem]]:
    """List the files of some objects, as readers see them."""
    found: dict[CopyObject, list[CopyItem]] = {one: [] for one in objects}
    for one, relative, status in list_files(files, [(one, one.location) for one in objects]):
        found[one].append(_item(one, relative, status))
    return found


def content_of(items: Iterable[CopyItem]) -> str:
    """Return a digest of an object's files, in any order: which they are, how long, of which time."""
    return _digest(sum(number_of(item.to_line()) for item in items))


def contents_of(files: FileReader, objects: Sequence[CopyObject]) -> dict[CopyObject, str]:
    """Return the digests of the files that readers see in some objects; none of the files is held."""
    found = dict.fromkeys(objects, 0)
    for one, relative, status in list_files(files, [(one, one.location) for one in objects]):
        found[one] += number_of(_item(one, relative, status).to_line())
    return {one: _digest(total) for one, total in found.items()}


def number_of(line: str) -> int:
    """Return a number for a line: the sum of many tells which lines they are, in any order."""
    return int.from_bytes(hashlib.sha256(line.encode("utf-8", "surrogatepass")).digest()[:16], "big")


def _digest(total: int) -> str:
    return f"{total % 2**128:032x}"


def _item(one: CopyObject, relative: str, status: FileStatus) -> CopyItem:
    return CopyItem.of(SourceFile.of_listing(status, relative), one.table, one.partition)


def write_list(
    source: FileReader, target: FileWriter, policy: Policy, log_id: str, here: Position, objects: Sequence[CopyObject]
) -> CopyList:
    """List the files of objects, and write all down in batches.

    Memory holds one batch, with the object that would be too much for it; of an object that is more than a batch by
    itself, the packed list.
    """
    name = list_name(here.event_id, objects)
    token, batches = hashlib.sha256(), []
    files = length = 0

    def lines(items: Iterable[CopyItem]) -> Iterator[str]:
        nonlocal files, length
        files = length = 0
        for item in items:
            files, length = files + 1, length + item.length
            yield (line := item.to_line())
            token.update(f"{line}\n".encode("utf-8", "surrogatepass"))

    for number, (some, items) in enumerate(_batches(source, policy, objects), start=1):
        batch = f"b{number:04d}"
        target.write(files_path(policy, name, batch), pack_lines(lines(items)))
        target.write(_objects_path(policy, name, batch), pack_lines(line_of(one.fields()) for one in some))
        batches.append(CopyListBatch(batch, _label(some), len(some), files, length))
    made = CopyList(name, log_id, here.event_id, token.hexdigest()[:8], tuple(batches), here.time, here.digest)
    # Written last: its presence says that the list is complete.
    write_json(target, _manifest_path(policy, name), asdict(made))
    return made


def has_list(files: FileReader, policy: Policy, name: str) -> bool:
    """True when a list of that name is there, and complete."""
    return files.status(_manifest_path(policy, name)) is not None


def open_list(files: FileReader, policy: Policy, name: str) -> CopyList:
    """Read a list. Raises ActNow for one that is gone."""
    said = read_json(files, _manifest_path(policy, name))
    if said is None:
        raise ActNow(
            f"the list {name} of placement {policy.name} is gone",
            found="nothing",
            expected=_manifest_path(policy, name),
            next_step=Clear("the task list_copies with all tasks after it"),
        )
    batches = tuple(CopyListBatch(**batch) for batch in said.pop("batches"))
    return CopyList(**said, batches=batches)


def lists_there(files: FileReader, policy: Policy) -> list[CopyList]:
    """Return the lists that are complete, the newest first: by their events, then by when they were complete."""
    names = [base_name(child.path) for child in children(files, lists_directory(policy))]
    complete = [(name, found) for name in names if (found := files.status(_manifest_path(policy, name)))]
    lists = [(open_list(files, policy, name), found.modified_ms) for name, found in complete]
    lists.sort(key=lambda pair: (pair[0].event_id, pair[1]), reverse=True)
    return [listed for listed, _ in lists]


@dataclass(frozen=True)
class _PackedItems:
    """The files of an object that may be more than a batch: who goes through them holds one at a time."""

    packed: bytes

    def __iter__(self) -> Iterator[CopyItem]:
        return map(CopyItem.from_line, unpack_lines(self.packed))


def objects_of(files: FileReader, policy: Policy, name: str, batch: str) -> dict[CopyObject, Iterable[CopyItem]]:
    """Return what a batch of a list copies."""
    lines = unpack_lines(files.read(_objects_path(policy, name, batch)))
    objects = [CopyObject.of_fields(json.loads(line)) for line in lines]
    packed = _PackedItems(files.read(files_path(policy, name, batch)))
    if len(objects) == 1:
        return {objects[0]: packed}
    items: Mapping[tuple[str, str | None], list[CopyItem]] = defaultdict(list)
    for item in packed:
        items[item.table, item.partition].append(item)
    return {one: items[str(one.table), one.partition] for one in objects}


def _batches(
    source: FileReader, policy: Policy, objects: Sequence[CopyObject]
) -> Iterator[tuple[list[CopyObject], Iterator[CopyItem]]]:
    """Cut objects into batches: none is cut itself, because it is published as a whole.

    The files of one are to be taken before the next is asked for.
    """
    most, most_objects = policy.options.batch_bytes, policy.options.batch_objects
    some: list[CopyObject] = []
    held: list[CopyItem] = []
    weight = 0
    for one, files in list_each(source, [(one, one.location) for one in objects]):
        items = (_item(one, relative, status) for relative, status in files)
        own, own_weight = _first(items, most)
        if some and (weight + own_weight > most or len(some) >= most_objects):
            yield some, iter(held)
            some, held, weight = [], [], 0
        if own_weight > most:
            yield [one], chain(own, items)
        else:
            some.append(one)
            held += own
            weight += own_weight
    if some:
        yield some, iter(held)


def _first(items: Iterator[CopyItem], most: int) -> tuple[list[CopyItem], int]:
    """Return the first items, until they weigh more than a batch, and what they weigh."""
    found, weight = [], 0
    for item in items:
        found.append(item)
        weight += copying_weight(1, item.length)
        if weight > most:
            break
    return found, weight


def _label(objects: Sequence[CopyObject]) -> str:
    first, others = objects[0], len(objects) - 1
    return f"{first} +{others}" if others else str(first)
