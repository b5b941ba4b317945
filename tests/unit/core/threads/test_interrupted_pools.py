"""Who is interrupted while a thread is started leaves nothing running behind: not in pools of their own either."""

import signal
import threading
import time
from typing import Any

import pytest

from tests.support.worlds.external_world import a_world_with_files
from tests.unit.transfer.tree.trees import SOURCE, Trees
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.files import Attributes
from twinhive.replication.replica.sync_records import write_synced


class Interrupted:
    """Interrupt the start of the first thread of a pool, when what it is to do has begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pool: str) -> None:
        self.begun, self.changes, self.threads = threading.Event(), list[float](), list[threading.Thread]()
        start = threading.Thread.start

        def interrupted(thread: threading.Thread) -> None:
            start(thread)
            if thread.name.startswith(f"{pool}_") and not self.threads:
                self.threads.append(thread)
                assert self.begun.wait(30)
                raise KeyboardInterrupt

        monkeypatch.setattr(threading.Thread, "start", interrupted)

    def first(self, question: Any) -> Any:
        """Return a method that says that what is to be done has begun."""

        def asked(*given: Any, **named: Any) -> Any:
            self.begun.set()
            return question(*given, **named)

        return asked

    def slow(self, change: Any) -> Any:
        """Return a method that takes a while, and notes when it was done."""

        def slowly(*given: Any, **named: Any) -> Any:
            time.sleep(0.1)
            done = change(*given, **named)
            self.changes.append(time.monotonic())
            return done

        return slowly

    def assert_nothing_follows(self) -> None:
        """Check that nothing is done after this moment, though a thread may live on."""
        done = len(self.changes)
        assert done
        for thread in self.threads:
            thread.join(30)
        assert len(self.changes) == done


def test_a_copy_of_an_external_directory_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world_with_files()
    for number in range(3):
        world.add_table(f"t{number}", f"hdfs://east/data/t{number}")
        world.put(f"/data/t{number}/f")
    world.cycle()
    for number in range(3):
        world.put(f"/data/t{number}/g")
    listed = world.listed()
    interrupted = Interrupted(monkeypatch, "external")
    metastore = world.world.replica
    # Of what is to be copied again that is written down first. No file follows: the copy is told to end.
    monkeypatch.setattr(
        "twinhive.replication.external_tables.sync_external.write_synced", interrupted.slow(write_synced)
    )
    # No more than a question: what starts threads of its own waits for the start of this one.
    monkeypatch.setattr(metastore, "database", interrupted.first(metastore.database))
    with pytest.raises(KeyboardInterrupt):
        world.sync(listed)
    interrupted.assert_nothing_follows()


def test_a_change_of_a_directory_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    trees = Trees(a=b"1", d__b=b"2", e__c=b"3")
    trees.sync()
    for name in ("d", "e"):
        trees.source.set_attributes(f"{SOURCE}/{name}", Attributes(permission=0o700))
    interrupted = Interrupted(monkeypatch, "directories")
    changed = interrupted.first(interrupted.slow(trees.target.set_attributes))
    monkeypatch.setattr(trees.target, "set_attributes", changed)
    with pytest.raises(KeyboardInterrupt):
        trees.sync(preserve="p")
    interrupted.assert_nothing_follows()


@pytest.mark.parametrize("files", [1, 2])
def test_who_is_interrupted_ends_the_files_of_a_tree_that_are_being_copied(
    monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    trees = Trees(**{f"f{number}": b"x" * 100 for number in range(files)})
    told, interrupted = list[str](), threading.Event()

    def endless(stream: Any, path: str, *, meter: Any, **how: Any) -> Any:
        if not interrupted.is_set():
            interrupted.set()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                meter(1)
            except Unreachable:
                told.append(path)
                raise
            time.sleep(0.01)
        raise AssertionError("nobody has ended it")

    monkeypatch.setattr(trees.target, "create_from", endless)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            trees.sync()
    finally:
        signal.signal(signal.SIGINT, before)
    assert told
    assert trees.at_target() == {}
