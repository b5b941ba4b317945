"""Count what copying small files costs the NameNodes, by their own metrics."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from benchmarks.copy.calls import namenode_calls
from twinhive.core.model.files import FileStatus, join, parent
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.staged_files import CopyItem

pytestmark = pytest.mark.sandbox
FILES = 40
THREADS = 4
LONGEST_WAIT = 60
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
    """Return the calls of each cluster so far.

    A handler of a NameNode counts a call after it has answered: on a busy machine that can be after the next call,
    of another handler, was counted. So they are looked at until two renewals of the metrics say the same.
    """
    deadline = time.monotonic() + LONGEST_WAIT
    before = renewed_calls(clusters, deadline)
    while (now := renewed_calls(clusters, deadline)) != before:
        before = now
    return now


def renewed_calls(clusters: Iterable[Watched], deadline: float) -> list[Counter[str]]:
    """Return the calls of each cluster once a rare one that is made now is among them; it is left out."""
    known = [each.calls()[RARE] for each in clusters]
    for each in clusters:
        each.files._client.java.getAllStoragePolicies()
    while any(found[RARE] <= then for found, then in zip(all_calls(clusters), known, strict=True)):
        assert time.monotonic() < deadline, "the metrics are not renewed, or somebody else is calling all the time"
        time.sleep(0.2)
    return [Counter({name: n for name, n in calls.items() if name != RARE}) for calls in all_calls(clusters)]


def all_calls(clusters: Iterable[Watched]) -> list[Counter[str]]:
    return [each.calls() for each in clusters]


@pytest.fixture
def clusters(sandbox: Any) -> Iterator[tuple[Watched, Watched]]:
    found = Watched(sandbox, "east"), Watched(sandbox, "west")
    yield found
    for each in found:
        each.files.delete(each.directory)
        each.files.close()


def spent_for_each_file(clusters: tuple[Watched, Watched], work: Callable[[], object]) -> list[dict[str, int]]:
    """Return the calls of each cluster that some work caused for each of FILES; single ones are not for each file."""
    before = calls_so_far(clusters)
    work()
    calls = [now - then for now, then in zip(calls_so_far(clusters), before, strict=True)]
    return [{name: round(count / FILES) for name, count in each.items() if count > FILES / 2} for each in calls]


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

    at_source, at_target = spent_for_each_file(clusters, copy)
    assert at_source == {"GetBlockLocations": 1, "GetFileInfo": 1}
    # A file is completed when its DataNodes have reported the block: to ask again takes one more call.
    assert 1 <= at_target.pop("Complete") <= 3
    assert at_target == {"Create": 1, "AddBlock": 1, "GetBlockLocations": 1, "Rename2": 1}
