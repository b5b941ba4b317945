"""Files that are copied into one directory at the same time, each by a run of its own, do not disturb each other."""

from typing import Any

import pytest

from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees, below
from twinhive.core.model.errors import LeaseLost, Refused, Unreachable
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.files import join
from twinhive.transfer.tree.work_directories import HIDDEN


def landing(**files: bytes) -> Trees:
    trees = Trees(**files)
    trees.put_there("here", b"here")
    return trees


def copy(trees: Trees, name: str, **more: Any) -> Any:
    return trees.sync(sources=(join(SOURCE, name),), **more)


def test_two_at_the_same_time_both_come() -> None:
    trees = landing(a=b"1", b=b"2")
    begun: list[str] = []

    def open_file(path: str, **named: Any) -> Any:
        if not begun:
            begun.append(path)
            assert copy(trees, "b").exit_code is ExitCode.DONE
        return trees.source.open(path, **named)

    assert copy(trees, "a", source=Changed(trees.source, open=open_file)).exit_code is ExitCode.DONE
    assert trees.at_target() == {"a": b"1", "b": b"2", "here": b"here"}
    trees.assert_clean()


def test_the_newer_of_two_runs_for_the_same_file_takes_over() -> None:
    trees = landing(a=b"1")
    begun: list[str] = []

    def open_file(path: str, **named: Any) -> Any:
        if not begun:
            begun.append(path)
            copy(trees, "a", mode="overwrite")
        return trees.source.open(path, **named)

    with pytest.raises(LeaseLost):
        copy(trees, "a", source=Changed(trees.source, open=open_file))
    assert trees.at_target()["a"] == b"1"
    trees.put("a", b"another")
    copy(trees, "a")
    assert trees.at_target() == {"a": b"another", "here": b"here"}


def test_a_directory_that_is_somebody_elses_is_no_obstacle() -> None:
    """In /tmp everybody may write, and `.twinhive` belongs to who came first."""
    trees = landing(a=b"1")

    def refused(path: str) -> None:
        if path.startswith(f"{TARGET}/{HIDDEN}/"):
            raise Refused(f"{path}: permission denied")

    def write(path: str, content: bytes) -> None:
        refused(path)
        trees.target.write(path, content)

    def make_directories(path: str) -> None:
        refused(path)
        trees.target.make_directories(path)

    target = Changed(trees.target, write=write, make_directories=make_directories)
    assert copy(trees, "a", target=target, preserve="p").exit_code is ExitCode.DONE
    assert trees.at_target()["a"] == b"1"


def test_what_a_killed_run_has_written_is_found_by_the_next_one_for_the_file() -> None:
    trees = landing(a=b"1", b=b"2")

    def replace(source: str, target: str) -> None:
        raise Unreachable("the network is gone")

    assert copy(trees, "a", target=Changed(trees.target, replace=replace)).exit_code is ExitCode.TRY_AGAIN
    copy(trees, "b")
    trees.target.calls.clear()
    copy(trees, "a")
    assert trees.target.calls["create_from"] == 0
    trees.assert_clean()


def test_a_copy_of_the_directory_neither_copies_nor_deletes_what_they_work_in() -> None:
    trees = landing(a=b"1")

    def replace(source: str, target: str) -> None:
        raise Unreachable("the network is gone")

    copy(trees, "a", target=Changed(trees.target, replace=replace))
    left = {path for path in below(trees.target, TARGET) if path.startswith(f"{HIDDEN}-a-")}
    trees.sync(delete="permanently")
    assert left and left <= below(trees.target, TARGET).keys()
