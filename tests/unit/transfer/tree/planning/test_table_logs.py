"""Delta's and Hudi's logs beside the files that they name: no reader of the target sees a version without its files.

A version is a file in the log that names files of the table; here its content is their names.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees, below
from twinhive.core.model.errors import Refused
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.files import join

LOG = "_delta_log"


class Delta:
    """A table in a directory of the source, as its writer writes it: files first, then a version that names them."""

    def __init__(self, trees: Trees, table: str = "t") -> None:
        self.trees, self.table, self.version = trees, table, 0
        self.live: list[str] = []

    def commit(self, *names: str, removes: tuple[str, ...] = ()) -> None:
        """Add files, and a version without those that it `removes`, which stay until `vacuum`."""
        for name in names:
            self.trees.put(join(self.table, name), name.encode())
        self.live = [name for name in (*self.live, *names) if name not in removes]
        self.trees.put(f"{self.table}/{LOG}/{self.version:020d}.json", " ".join(self.live).encode())
        self.version += 1

    def vacuum(self) -> None:
        """Delete files that the newest version does not name, and, after a checkpoint of it, the versions before."""
        newest = f"{self.version - 1:020d}"
        self.trees.put(f"{self.table}/{LOG}/{newest}.checkpoint.parquet", " ".join(self.live).encode())
        directory = join(SOURCE, self.table)
        for path, content in below(self.trees.source, directory).items():
            if content is not None and path not in self.live and newest not in path:
                self.trees.source.delete(join(directory, path))


def assert_readable(files: InMemoryFiles, directory: str) -> None:
    """Read the newest version as Delta does: its files are there, and so are all versions since a checkpoint."""
    content = below(files, directory)
    log = [path.removeprefix(f"{LOG}/") for path in content if path.startswith(f"{LOG}/")]
    checkpoint = max((int(name.split(".")[0]) for name in log if "checkpoint.parquet" in name), default=-1)
    later = sorted(int(name.split(".")[0]) for name in log if name.endswith(".json"))
    later = [number for number in later if number > checkpoint]
    assert later == list(range(checkpoint + 1, checkpoint + 1 + len(later))), (checkpoint, later)
    newest = f"{later[-1]:020d}.json" if later else f"{checkpoint:020d}.checkpoint.parquet"
    for name in (content.get(f"{LOG}/{newest}") or b"").decode().split():
        assert content.get(name) == name.encode(), f"{newest} names {name}, which is not there"


class Watched:
    """A target on which somebody reads the table after each change."""

    def __init__(self, files: InMemoryFiles, directory: str) -> None:
        self._files, self._directory = files, directory
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._files, name)
        if name not in ("replace", "rename", "delete", "write", "concatenate"):
            return found

        def call(*given: Any, **named: Any) -> Any:
            answer = found(*given, **named)
            with self._files._lock:
                self.looks += 1
                assert_readable(self._files, self._directory)
            return answer

        return call


def watched_sync(trees: Trees, **given: Any) -> Any:
    """Copy while somebody reads the table at the target all the time."""
    watched = Watched(trees.target, f"{TARGET}/t")
    outcome = trees.sync(target=watched, busy=True, delete="permanently", **given)
    assert watched.looks
    return outcome


def replicated() -> tuple[Trees, Delta]:
    """Return a table of two versions that the target has."""
    trees = Trees()
    delta = Delta(trees)
    delta.commit("part-0", "p=1/part-1")
    delta.commit("part-2")
    watched_sync(trees)
    trees.assert_twin()
    return trees, delta


def test_versions_become_visible_one_after_the_other_when_their_files_are_there() -> None:
    trees, delta = replicated()
    delta.commit("part-3", "p=1/part-4", "p=2/q=1/part-5")
    delta.commit("part-6", removes=("part-0",))
    for number in range(7, 20):
        delta.commit(f"part-{number}", removes=(f"part-{number - 1}",))
    watched_sync(trees)
    trees.assert_twin()


def test_files_that_no_version_names_any_more_go_after_the_versions_that_named_them() -> None:
    trees, delta = replicated()
    delta.commit("part-3", removes=("part-0", "part-2", "p=1/part-1"))
    delta.vacuum()
    watched_sync(trees)
    trees.assert_twin()


def test_a_log_that_is_new_beside_files_that_are_there_appears_after_the_others() -> None:
    trees = Trees(t__old=b"old")
    trees.sync()
    delta = Delta(trees)
    delta.commit("part-0", "p=1/part-1")
    watched_sync(trees)
    trees.assert_twin()


def at_listing(trees: Trees, of: str, event: Callable[[], object], *, after: bool = True) -> Changed:
    """Return the source, where something happens once, right after a directory was listed (or before)."""
    waiting = [event]

    def list_pages(paths: Any) -> Any:
        for path, page in trees.source.list_pages(paths):
            if not after and path == join(SOURCE, of) and waiting:
                waiting.pop()()
            yield path, page
            if after and path == join(SOURCE, of) and waiting:
                waiting.pop()()

    return Changed(trees.source, list_pages=list_pages)


@pytest.mark.parametrize("of", ["", "t", "t/p=1", f"t/{LOG}"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_version_that_is_written_while_the_table_is_listed_waits_for_the_next_copy(of: str, is_there: bool) -> None:
    trees = Trees()
    delta = Delta(trees)
    delta.commit("part-0", "p=1/part-1")
    if is_there:
        trees.sync()
        delta.commit("part-2")
    source = at_listing(trees, of, lambda: delta.commit("part-9", "p=1/part-8", removes=("part-0",)))
    watched_sync(trees, source=source)
    assert_readable(trees.target, f"{TARGET}/t")
    watched_sync(trees)
    trees.assert_twin()


def test_where_a_file_has_vanished_no_version_is_shown_and_nothing_is_deleted() -> None:
    """The file may be one that the newest version which was listed still names."""
    trees, delta = replicated()
    delta.commit("part-3", removes=("part-0",))

    def open_file(path: str, **named: Any) -> Any:
        if path.endswith("/part-3"):
            delta.commit("part-4", removes=("part-3",))
            delta.vacuum()
        return trees.source.open(path, **named)

    before = below(trees.target, f"{TARGET}/t/{LOG}")
    trees.source.delete(f"{SOURCE}/t/part-0")
    outcome = watched_sync(trees, source=Changed(trees.source, open=open_file))
    assert (outcome.exit_code, outcome.vanished.files) == (ExitCode.DONE, 1)
    assert below(trees.target, f"{TARGET}/t/{LOG}") == before
    assert "not deleted" in outcome.not_deleted
    watched_sync(trees)
    trees.assert_twin()


def test_a_file_of_the_log_that_was_replaced_is_not_taken_as_it_is_now() -> None:
    """`_last_checkpoint` would name one that was written after the listing."""
    trees, delta = replicated()
    hint = f"t/{LOG}/_last_checkpoint"
    trees.put(hint, b"1")
    trees.sync(busy=True)
    trees.put(hint, b"22")
    delta.commit("part-3")

    def open_file(path: str, **named: Any) -> Any:
        if path.endswith("_last_checkpoint"):
            trees.put(hint, b"333")
        return trees.source.open(path, **named)

    outcome = watched_sync(trees, source=Changed(trees.source, open=open_file))
    assert (outcome.exit_code, outcome.vanished.files) == (ExitCode.DONE, 1)
    assert trees.at_target()[hint] == b"1"
    watched_sync(trees)
    trees.assert_twin()


def test_after_a_version_that_cannot_be_written_none_is() -> None:
    trees, delta = replicated()
    delta.commit("part-3")
    delta.commit("part-4")

    def replace(path: str, final: str) -> None:
        if final.endswith("02.json"):
            raise Refused(f"{final}: permission denied")
        trees.target.replace(path, final)

    outcome = trees.sync(target=Changed(trees.target, replace=replace), busy=True)
    assert outcome.exit_code is not ExitCode.DONE
    assert f"t/{LOG}/{3:020d}.json" not in trees.at_target()
    assert_readable(trees.target, f"{TARGET}/t")
    watched_sync(trees)
    trees.assert_twin()


@pytest.mark.parametrize("seed", range(20))
def test_any_history_of_a_writer_is_read_whole_at_every_moment(seed: int) -> None:
    chance = random.Random(seed)
    trees = Trees()
    delta = Delta(trees)
    number = 0

    def write() -> None:
        nonlocal number
        names = [f"{chance.choice(['', 'p=1/', 'p=2/', 'q/r/'])}part-{number + each}" for each in range(3)]
        number += 3
        removed = [name for name in delta.live if chance.random() < 0.4]
        delta.commit(*names, removes=tuple(removed))
        if chance.random() < 0.3:
            delta.vacuum()

    write()
    for _ in range(6):
        if chance.random() < 0.7:
            write()
        of = chance.choice(["", "t", "t/p=1", f"t/{LOG}"])
        watched_sync(trees, source=at_listing(trees, of, write, after=chance.random() < 0.5))
    watched_sync(trees)
    trees.assert_twin()


def test_hudis_instants_come_in_the_order_in_which_they_were_written() -> None:
    """By their names a completed one would come before what it was asked for with."""
    trees = Trees()
    trees.put("t/.hoodie/hoodie.properties")
    trees.sync()
    order: list[str] = []
    for name in ("1.commit.requested", "1.inflight", "metadata/.hoodie/1.deltacommit", "1.commit"):
        trees.put(f"t/.hoodie/{name}")
    trees.target.make_directories(f"{TARGET}/t/.hoodie/metadata/.hoodie")

    def replace(path: str, final: str) -> None:
        order.append(final.rpartition("/t/.hoodie/")[2])
        trees.target.replace(path, final)

    trees.sync(target=Changed(trees.target, replace=replace), busy=True)
    assert order == ["1.commit.requested", "1.inflight", "metadata/.hoodie/1.deltacommit", "1.commit"]


def test_a_table_whose_log_has_nothing_new_is_listed_once() -> None:
    trees, _ = replicated()
    trees.put("t/note")
    listed: list[str] = []

    def list_pages(paths: Any) -> Any:
        listed.extend(paths)
        return trees.source.list_pages(paths)

    trees.sync(source=Changed(trees.source, list_pages=list_pages), busy=True)
    assert len(listed) == len(set(listed))


def test_versions_go_before_the_files_that_they_named() -> None:
    trees, delta = replicated()
    delta.commit("part-3", removes=tuple(delta.live))
    delta.vacuum()
    gone: list[str] = []

    def delete(path: str) -> bool:
        gone.append(path)
        return trees.target.delete(path)

    trees.sync(target=Changed(trees.target, delete=delete), busy=True, delete="permanently", threads=1)
    of_log = [f"/{LOG}/" in path for path in gone if path.startswith(f"{TARGET}/t/")]
    assert of_log == sorted(of_log, reverse=True)
    assert {*of_log} == {True, False}
