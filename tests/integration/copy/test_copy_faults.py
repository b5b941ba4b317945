"""Let go wrong what can, while `twinhive copy` runs between two real HDFS; the next run always heals."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.support.copy_terminal import LONGEST_WAIT, CopyTerminal, contents, names, put, tree, wait_until
from twinhive.core.model.files import Attributes, Creation, FileStatus, join, parent
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.surfaces.cli import copy_command

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]

MB = 1024 * 1024
TRY_AGAIN, ACT_NOW = 3, 4
FILES, LENGTH = 30, 100_000
# A second for the first megabyte is free.
SLOWLY = ("--bandwidth", "1", "--threads", "2")


@pytest.fixture
def terminal(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CopyTerminal]:
    # Nothing of a run before is under way any more when these tests run the next one.
    monkeypatch.setattr(copy_command, "SETTLE_SECONDS", 0.1)
    made = CopyTerminal(sandbox, tmp_path)
    yield made
    made.close()


@pytest.fixture
def many(terminal: CopyTerminal) -> CopyTerminal:
    """Three seconds' worth of files."""
    for number in range(FILES):
        put(terminal.east, join(terminal.source, f"d{number % 3}", f"f{number}"), bytes([number]) * LENGTH)
    return terminal


@pytest.fixture
def updated(many: CopyTerminal) -> CopyTerminal:
    """A target that has the directories, so that each file appears in it by itself."""
    for number in range(3):
        many.west.make_directories(join(many.target, f"d{number}"))
    return many


def finished(files: HadoopFiles, directory: str) -> dict[str, FileStatus]:
    """Return the files below a directory that are whole: one that a killed writer had not closed is not."""
    long = {name: status for name, status in tree(files, directory).items() if status.length == LENGTH}
    return {name: each for name, each in long.items() if files._client.java.isFileClosed(files._path(each.path))}


def work_beside(terminal: CopyTerminal) -> str:
    """Return where a target that does not exist yet is built."""
    [found] = [name for name in names(terminal.west, parent(terminal.target)) if name != "t"] or ["none"]
    return join(parent(terminal.target), found, "tree")


def assert_the_next_run_copies_only_what_is_missing(terminal: CopyTerminal, done: dict[str, FileStatus]) -> None:
    """Run it again; what was whole before is the same file afterwards, under its own name."""
    healed = terminal.copy()
    terminal.assert_twin()
    now = tree(terminal.west, terminal.target)
    assert {name: now[name].file_id for name in done} == {name: status.file_id for name, status in done.items()}
    assert healed.copied == FILES - len(done) and healed.skipped == len(done)


def test_files_that_change_or_go_while_others_are_copied(terminal: CopyTerminal) -> None:
    east, source, west, target = terminal.east, terminal.source, terminal.west, terminal.target
    put(east, f"{source}/large, so it comes first", bytes(3 * MB))
    for name in ("as it was", "grows", "is replaced", "goes"):
        put(east, f"{source}/{name}", b"content")
    put(west, f"{target}/grows", b"old")
    with terminal.copying("--bandwidth", "1", "--threads", "1") as ended:
        wait_until(lambda: names(west, f"{target}/.twinhive/work/files"))
        for name in ("grows", "is replaced", "goes"):
            east.delete(f"{source}/{name}")
        east.write(f"{source}/grows", b"content and more")
        east.write(f"{source}/is replaced", b"another")
    [run] = ended

    assert run.code == TRY_AGAIN, run.said
    assert run.failed == {"grows": "changed", "goes": "gone"}
    assert names(west, target) == [".twinhive", "as it was", "grows", "is replaced", "large, so it comes first"]
    assert west.read(f"{target}/grows") == b"old"
    assert west.read(f"{target}/is replaced") == b"another", "it was read after it was replaced"
    assert terminal.copy().copied == 1
    terminal.assert_twin()


A_NAMENODE = pytest.mark.nightly(
    "tests/integration/copy/test_copy_faults.py::test_a_server_of_the_target_that_is_killed_and_comes_back"
)


@pytest.mark.parametrize("server", ["datanode", pytest.param("namenode", marks=A_NAMENODE)])
def test_a_server_of_the_target_that_is_killed_and_comes_back(updated: CopyTerminal, server: str) -> None:
    west, target, box = updated.west, updated.target, updated.box
    with updated.copying(*SLOWLY) as ended:
        wait_until(lambda: len(finished(west, target)) > FILES / 4)
        box.kill(f"west-{server}")
        box.start(f"west-{server}")
    [run] = ended

    assert run.code in (0, TRY_AGAIN), run.said
    assert run.code == 0 or "next:" in run.said
    done = finished(west, target)
    assert done
    assert_the_next_run_copies_only_what_is_missing(updated, done)


def block_of(terminal: CopyTerminal, path: str) -> Path:
    """Return the file in which the source's DataNode keeps the first block of a file."""
    java = terminal.east._client
    [located, *_] = java.java.getClient().getLocatedBlocks(path.removeprefix(terminal.east.root), 0).getLocatedBlocks()
    storage = terminal.box.layout.storage("east-hdfs")
    [found] = storage.rglob(f"blk_{located.getBlock().getBlockId()}")
    return Path(found)


@pytest.mark.nightly(
    "tests/unit/transfer/tree/test_executing.py",
)
def test_a_corrupt_block_without_another_replica_is_reported_and_never_put_in_place(terminal: CopyTerminal) -> None:
    east, source, west, target = terminal.east, terminal.source, terminal.west, terminal.target
    put(east, f"{source}/small", bytes(MB))
    put(east, f"{source}/in parts", bytes(3 * MB), Creation(block_size=MB))
    put(east, f"{source}/good", bytes(3 * MB), Creation(block_size=MB))
    put(west, f"{target}/small", b"old")
    blocks = [block_of(terminal, f"{source}/{name}") for name in ("small", "in parts")]
    for block in blocks:
        block.write_bytes(b"\1" + bytes(MB - 1))
    options = ("--split-above", "1", "-D", "dfs.client.retry.window.base=10")

    run = terminal.copy(*options, code=TRY_AGAIN)

    assert run.failed == {"small": "unreachable", "in parts": "unreachable"} and run.copied == 1
    assert "gave no intact replica" in run.said
    assert contents(west, target) == {"small": b"old", "good": bytes(3 * MB)}
    for block in blocks:
        block.write_bytes(bytes(MB))
    assert terminal.copy(*options).copied == 2
    terminal.assert_twin()


def test_a_killed_copy_is_continued_and_copies_nothing_again_that_was_finished(many: CopyTerminal) -> None:
    with many.process(*SLOWLY) as process:
        wait_until(lambda: len(finished(many.west, work_beside(many))) > FILES / 4)
        process.kill()
        assert process.wait(LONGEST_WAIT) == -signal.SIGKILL
    assert many.west.status(many.target) is None, "nothing is seen before all of it is there"
    assert_the_next_run_copies_only_what_is_missing(many, finished(many.west, work_beside(many)))


def test_a_second_run_takes_over_from_one_that_still_runs(
    updated: CopyTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    with updated.process("--bandwidth", "0.1", "--threads", "1") as process:
        wait_until(lambda: len(finished(updated.west, updated.target)) > 0)
        second = updated.copy()
        said, _ = process.communicate(timeout=LONGEST_WAIT)
    assert process.returncode == TRY_AGAIN, said
    assert "the lease is not ours any more" in said and "Traceback" not in said
    assert second.copied + second.skipped == FILES
    updated.assert_twin()


@pytest.mark.parametrize("quota", ["names", "space"])
def test_a_quota_of_the_target(updated: CopyTerminal, quota: str) -> None:
    west, target = updated.west, updated.target
    unlimited = 2**63 - 1  # leaves a quota as it is
    limits = (FILES // 2, unlimited) if quota == "names" else (unlimited, FILES // 2 * LENGTH)
    java, path = west._client.java, west._path(target)
    java.setQuota(path, *limits)

    run = updated.copy("--threads", "1", "-D", f"dfs.blocksize={MB}", code=ACT_NOW)

    assert "a quota is used up" in run.said and "next:" in run.said and run.log, run.said
    done = finished(west, target)
    assert run.copied == len(done) and set(run.failed.values()) == {"refused"}
    java.setQuota(path, -1, -1)
    assert_the_next_run_copies_only_what_is_missing(updated, done)


def test_what_another_user_may_not_read_or_write(terminal: CopyTerminal) -> None:
    east, source, west, target = terminal.east, terminal.source, terminal.west, terminal.target
    for name in ("open", "closed", "closed directory/f"):
        put(east, f"{source}/{name}", name.encode())
    east.set_attributes(f"{source}/closed", Attributes(permission=0o600))
    east.set_attributes(f"{source}/closed directory", Attributes(permission=0o700))
    as_ann = ("--user", "ann")
    west.make_directories(target)

    denied = terminal.copy(*as_ann, code=ACT_NOW)

    assert "permission denied" in denied.said and contents(west, target) == {}
    west.set_attributes(target, Attributes(owner="ann"))
    unlisted = terminal.copy(*as_ann, code=ACT_NOW)
    assert "1 directories of the source cannot be listed" in unlisted.said and contents(west, target) == {}
    failed = terminal.copy(*as_ann, "--exclude", "closed directory", code=ACT_NOW)
    assert failed.failed == {"closed": "refused"} and contents(west, target) == {"open": b"open"}
    skipped = terminal.copy(*as_ann, "--skip-unreadable")
    assert "left out  1 file, 1 directory" in skipped.said
    assert (skipped.skipped, skipped.log["unreadable"]["files"], contents(west, target)) == (1, 1, {"open": b"open"})
