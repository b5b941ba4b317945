"""Count what copying small files costs the NameNodes, by their own metrics."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from benchmarks.copy.calls import namenode_calls
from twinhive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.model.files import FileStatus, join, parent
from twinhive.transfer.staged.engine import copy_items
from twinhive.transfer.staged.staged import CopyItem

pytestmark = pytest.mark.sandbox
FILES = 40
THREADS = 4
# NameNodes renew the metrics that they show every ten seconds.
LONGEST_WAIT = 15
RARE = "GetStoragePolicies"


class Watched:
    """A cluster whose calls are counted."""

    def __init__(self, box: Any, name: str) -> None:
        cluster = box.clusters[name]
        self.box = box
        self.name = name
        self.files = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
        self.directory = join(cluster.hdfs_uri, "tmp", f"calls-{uuid.uuid4().hex}")

    def calls(self) -> Counter[str]:
        return namenode_calls(self.box, self.name)


def calls_so_far(clusters: Iterable[Watched]) -> list[Counter[str]]:
    """Return the calls of each cluster so far: a rare one that is made now must be among them."""
    known = [each.calls()[RARE] for each in clusters]
    for each in clusters:
        each.files._client.java.getAllStoragePolicies()
    deadline = time.monotonic() + LONGEST_WAIT
    while any(count <= then for count, then in zip((each.calls()[RARE] for each in clusters), known, strict=True)):
        assert time.monotonic() < deadline, "the metrics are not renewed"
        time.sleep(0.2)
    return [each.calls() for each in clusters]


@pytest.fixture
def clusters(sandbox: Any) -> Iterator[tuple[Watched, Watched]]:
    found = Watched(sandbox, "east"), Watched(sandbox, "west")
    yield found
    for each in found:
        each.files.delete(each.directory)
        each.files.close()


def spent(clusters: tuple[Watched, Watched], work: Callable[[], object]) -> list[Counter[str]]:
    """Return the calls of each cluster that some work caused, single ones left out: they are not for each file."""
    before = calls_so_far(clusters)
    work()
    calls = [now - then for now, then in zip(calls_so_far(clusters), before, strict=True)]
    return [Counter({name: count for name, count in each.items() if count >= FILES / 2}) for each in calls]


def as_item(status: FileStatus) -> CopyItem:
    return CopyItem(status.path, status.length, status.modified_ms, status.file_id, status.block_size)


def test_what_a_small_staged_file_costs(clusters: tuple[Watched, Watched]) -> None:
    source, target = clusters
    for number in range(FILES):
        source.files.write(f"{source.directory}/{number}", bytes([number]) * 10_000)
    [(_, listed)] = source.files.list_directories([source.directory])
    items = [as_item(status) for status in listed or ()]

    for item in items:
        target.files.make_directories(parent(item.staged_path(target.directory)))

    def copy() -> None:
        outcome = copy_items(items, source.files, target.files, target.directory, THREADS, looks=False)
        assert (outcome.copied_files, outcome.unverified) == (FILES, 0)

    at_source, at_target = spent(clusters, copy)
    # By which kind of checksums the source guards its files is asked with the first file of a thread.
    locations = at_source.pop("GetBlockLocations")
    assert FILES < locations <= FILES + THREADS
    assert at_source == {"GetFileInfo": FILES}
    # A file is completed when its DataNodes have reported the block: to ask again takes one more call.
    completed = at_target.pop("Complete")
    assert FILES <= completed <= 3 * FILES
    assert at_target == {"Create": FILES, "AddBlock": FILES, "GetBlockLocations": FILES, "Rename2": FILES}
