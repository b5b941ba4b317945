"""Type `twinhive copy` between two real HDFS, as its users do."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from tests.contracts.test_copy_calls import Watched, calls_so_far
from tests.contracts.test_files_contract import AWKWARD
from tests.support.copy_terminal import CopyTerminal, contents, names, put, tree
from twinhive.core.model.files import Attributes, Creation, FileStatus, join
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles

pytestmark = pytest.mark.sandbox

MB = 1024 * 1024
LARGE = random.Random(1).randbytes(3 * MB + 5)
SMALL_BLOCKS = Creation(block_size=MB)
ACL = ("user::rwx", "user:ann:r-x", "group::r-x", "mask::r-x", "other::---")
DEFAULT_ACL = tuple(
    f"default:{entry}" for entry in ("user::rwx", "user:ann:rwx", "group::r-x", "mask::rwx", "other::---")
)
THEN = 1_500_000_000_000


@pytest.fixture
def terminal(sandbox: Sandbox, tmp_path: Path) -> Iterator[CopyTerminal]:
    made = CopyTerminal(sandbox, tmp_path)
    yield made
    made.close()


def carried(files: HadoopFiles, status: FileStatus) -> dict[str, Any]:
    """Return all that the letters of `--preserve` are about."""
    path = status.path
    own = {"u": status.owner, "g": status.group, "p": status.permission, "t": status.modified_ms}
    own |= {"a": sorted(files.acl(path)), "x": files.extended_attributes(path)}
    if not status.is_directory:
        own |= {"r": status.replication, "b": status.block_size, "c": files.checksum_type(path)}
    return own


def all_carried(files: HadoopFiles, root: str) -> dict[str, dict[str, Any]]:
    """Return it for a directory and all below it."""
    top = files.status(root)
    assert top
    return {name: carried(files, status) for name, status in {"": top, **tree(files, root)}.items()}


def test_names_contents_and_attributes_arrive_and_a_second_run_copies_nothing(terminal: CopyTerminal) -> None:
    east, source = terminal.east, terminal.source
    how = Creation(block_size=MB, replication=2, permission=0o640, checksum="CRC32/1024")
    put(east, f"{source}/parts/large", LARGE, how)
    for name in AWKWARD:
        put(east, f"{source}/{name}/{name}", name.encode(), how)
    put(east, f"{source}/empty file", b"")
    east.make_directories(f"{source}/empty directory")
    given = Attributes(owner="ann", group="staff", extended={"user.k": b"\0v", "trusted.t": b""})
    for number, status in enumerate(tree(east, source).values()):
        east.set_attributes(status.path, replace(given, modified_ms=THEN + number))
    east.set_attributes(f"{source}/{AWKWARD[0]}/{AWKWARD[0]}", Attributes(acl=ACL, modified_ms=THEN))
    for directory in (f"{source}/parts", source):
        east.set_attributes(directory, Attributes(permission=0o1775, owner="ann"))
        east.set_attributes(directory, Attributes(acl=(*ACL, *DEFAULT_ACL), modified_ms=THEN))
    expected = all_carried(east, source)
    east.set_attributes(f"{source}/parts/large", Attributes(accessed_ms=THEN - 5))

    first = terminal.copy("--preserve", "rbugpcaxt", "--split-above", "1")

    files = len(AWKWARD) + 2
    assert tree(terminal.west, terminal.target)["parts/large"].accessed_ms == THEN - 5
    assert all_carried(terminal.west, terminal.target) == expected
    terminal.assert_twin()
    assert (first.copied, first.log["compared"]) == (files, {"checksum": files})
    before = tree(terminal.west, terminal.target)

    again = terminal.copy("--preserve", "rbugpcaxt")
    rechecked = terminal.copy("--recheck")

    assert tree(terminal.west, terminal.target) == before
    assert (again.copied, again.skipped, again.log["attributes"]["files"]) == (0, files, 0)
    assert (rechecked.copied, rechecked.log["compared"]) == (0, {"checksum": files - 1}), "all but the empty file"
    assert terminal.copy().log["compared"] == {}, "what is known to be equal is not compared again"


def test_the_path_rule_also_within_one_cluster(terminal: CopyTerminal) -> None:
    east, source, target = terminal.east, terminal.source, terminal.source.replace("/s", "/other")
    for name in ("a/f", "b/deep/g", "h"):
        east.write(join(source, name), name.encode())
    for _ in ("a new target", "a target that exists"):
        terminal.type(f"{source}/b", f"{target}/tree")
        assert contents(east, f"{target}/tree") == {"deep": None, "deep/g": b"b/deep/g"}
    terminal.type(f"{source}/h", f"{target}/tree")
    terminal.type(f"{source}/h", f"{target}/new/name")
    terminal.type(f"{source}/a", f"{source}/h", f"{target}/several")
    assert contents(east, f"{target}/tree") == {"deep": None, "deep/g": b"b/deep/g", "h": b"h"}
    assert contents(east, f"{target}/new") == {"name": b"h"}
    assert contents(east, f"{target}/several") == {"a": None, "a/f": b"a/f", "h": b"h"}


@pytest.fixture
def differing(terminal: CopyTerminal) -> CopyTerminal:
    """A target that differs from its source in every way that an update knows."""
    sides = ((terminal.east, terminal.source), (terminal.west, terminal.target))
    differing = {
        "same length": (b"new", b"old"),
        "grown": (b"line\n" * 900, b"line\n" * 800),
        "longer": (b"y" * 1004, b"z" * 1000),
        "shorter": (b"x" * 10, b"x" * 20),
        "kept.log": (b"log", b"another log"),
        "equal": (b"equal", b"equal"),
    }
    for name, pair in differing.items():
        for (files, root), content in zip(sides, pair, strict=True):
            files.write(f"{root}/{name}", content)
    put(terminal.east, f"{terminal.source}/other blocks", LARGE, SMALL_BLOCKS)
    put(terminal.west, f"{terminal.target}/other blocks", LARGE, Creation(block_size=2 * MB))
    terminal.east.write(f"{terminal.source}/new/directory/f", b"f")
    for name in ("gone", "gone directory/f", "only here.log"):
        terminal.west.write(f"{terminal.target}/{name}", b"gone")
    return terminal


def test_an_update_does_what_its_dry_run_says_and_no_more(differing: CopyTerminal) -> None:
    west, target = differing.west, differing.target
    before, left_alone = tree(west, target), ("equal", "other blocks", "kept.log", "only here.log")
    options = ("--append", "--delete", "trash", "--exclude", ".*[.]log")

    planned = differing.copy(*options, "--dry-run").said

    counts = {"copy, new": 1, "copy, other content": 3, "append": 1, "skip, equal": 2, "delete": 1}
    for what, count in counts.items():
        [line] = [line for line in planned.splitlines() if line.startswith(f"│ {what} ")]
        assert f"│ {count} file" in line, planned
    assert "gone directory" in planned
    assert tree(west, target) == before and ".twinhive" not in names(west, target)

    done = differing.copy(*options)

    after = tree(west, target)
    assert (done.copied, done.skipped, done.log["excluded"]) == (5, 2, 1)
    assert (done.log["deleted"]["files"], done.log["deleted"]["directories"]) == (2, 1)
    assert {name: after[name] for name in left_alone} == {name: before[name] for name in left_alone}
    assert after["grown"].file_id == before["grown"].file_id, "its new bytes were put behind the old ones"
    assert after["longer"].file_id != before["longer"].file_id
    for name in ("same length", "grown", "longer", "shorter", "new/directory/f"):
        assert west.read(f"{target}/{name}") == differing.east.read(f"{differing.source}/{name}")
    [stamp] = names(west, f"{target}/.twinhive/trash")
    trash = {"gone": b"gone", "gone directory": None, "gone directory/f": b"gone"}
    assert contents(west, f"{target}/.twinhive/trash/{stamp}") == trash

    differing.copy("--delete", "permanently")

    differing.assert_twin()
    assert names(west, f"{target}/.twinhive/trash") == [stamp], "what was deleted for good is in no trash"
    before = tree(west, target)
    assert differing.copy("--overwrite").copied == 8
    after = tree(west, target)
    assert not [name for name, file in after.items() if file.length and file.file_id == before[name].file_id]
    differing.assert_twin()


@pytest.mark.thorough
def test_to_and_from_this_machine_where_lengths_and_times_are_compared(terminal: CopyTerminal) -> None:
    terminal.east.write(f"{terminal.source}/Zoë 日本/f", b"content")
    local = f"file://{terminal.directory}/local"
    assert terminal.type(terminal.source, local).copied == 1
    assert (terminal.directory / "local/Zoë 日本/f").read_bytes() == b"content"
    again = terminal.type(terminal.source, local)
    assert (again.copied, again.log["compared"]) == (0, {"length and time": 1})
    assert "by length and time, for want of a comparable checksum" in again.said
    assert terminal.type(local, terminal.target).copied == 1
    assert terminal.type(local, terminal.target).copied == 0
    terminal.assert_twin()


@pytest.mark.thorough
def test_with_snapshots_only_what_changed_is_copied(terminal: CopyTerminal) -> None:
    east, source, west, target = terminal.east, terminal.source, terminal.west, terminal.target
    for name in ("a/one", "a/two", "b/changed", "b/gone", "c"):
        east.write(f"{source}/{name}", name.encode())
    options = ("--snapshots", "--delete", "permanently")
    assert "everything was compared: the target is new" in terminal.copy(*options).said
    kept = tree(west, target)["a/one"].file_id

    unchanged = terminal.copy(*options)

    assert "copied what changed since" in unchanged.said and unchanged.copied == 0
    assert east.snapshots(source) == west.snapshots(target) != []

    east.rename(f"{source}/a", f"{source}/moved")
    east.write(f"{source}/moved/two", b"changed where it is now")
    east.write(f"{source}/b/changed", b"changed")
    east.delete(f"{source}/b/gone")
    east.write(f"{source}/new/deep/f", b"new")
    changed = terminal.copy(*options)

    assert "copied what changed since" in changed.said and changed.copied == 3
    assert tree(west, target)["moved/one"].file_id == kept, "it came by a rename"
    terminal.assert_twin()

    west.write(f"{target}/c", b"not ours")
    repaired = terminal.copy(*options)

    assert "everything was compared: the target was changed since" in repaired.said and repaired.copied == 1
    terminal.assert_twin()
    assert len(east.snapshots(source) or ()) == len(west.snapshots(target) or ()) == 1


class TestCalls:
    """What the NameNodes are asked, by their own metrics."""

    @pytest.fixture
    def watched(self, sandbox: Sandbox) -> Iterator[tuple[Watched, Watched]]:
        clusters = Watched(sandbox, "east"), Watched(sandbox, "west")
        yield clusters
        for each in clusters:
            each.files.close()

    def spent(self, watched: tuple[Watched, Watched], terminal: CopyTerminal, *options: str) -> list[Counter[str]]:
        before = calls_so_far(watched)
        terminal.copy(*options)
        return [now - then for now, then in zip(calls_so_far(watched), before, strict=True)]

    def test_a_small_new_file_costs_four_calls_at_the_target_and_one_at_the_source(
        self, watched: tuple[Watched, Watched], terminal: CopyTerminal
    ) -> None:
        files = 40
        for number in range(files):
            put(terminal.east, f"{terminal.source}/{number % 2}/{number}", bytes([number]) * 1000)
        at_source, at_target = (
            {name: round(count / files) for name, count in each.items() if count > files / 2}
            for each in self.spent(watched, terminal, "--preserve", "t")
        )
        assert at_source == {"GetBlockLocations": 1}
        # It is asked again until the DataNodes have reported the block.
        assert 1 <= at_target.pop("Complete") <= 3
        assert at_target == {"Create": 1, "AddBlock": 1, "GetBlockLocations": 1, "SetTimes": 1}

    def test_with_snapshots_a_run_without_changes_costs_the_same_for_any_number_of_files(
        self, watched: tuple[Watched, Watched], terminal: CopyTerminal
    ) -> None:
        spent = []
        for few_or_many in (range(5), range(5, 150)):
            for number in few_or_many:
                put(terminal.east, f"{terminal.source}/{number % 30}/{number}", b"x")
            for _ in ("the files", "a lease", "a lease to be deleted"):
                terminal.copy("--snapshots")
            spent.append(self.spent(watched, terminal, "--snapshots"))
            for each in spent[-1]:
                del each["Complete"]  # asked again until the DataNode has reported the block
        few, many = spent
        assert many == few
