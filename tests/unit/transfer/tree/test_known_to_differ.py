"""A copy that was compared and is not equal is never put in place: not by the next run either, however it compares."""

from typing import Any

import pytest

from tests.unit.transfer.tree.trees import TARGET, Changed, Trees
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.exit_codes import ExitCode
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.tree.tree_outcome import SyncOutcome


def corrupting(trees: Trees) -> Any:
    """Return the target's file system, whose disks spoil what is written of one file."""

    def create_from(stream: Any, path: str, **how: Any) -> Any:
        written = trees.target.create_from(stream, path, **how)
        if trees.target._nodes[path].content == b"right":
            trees.target._nodes[path].content = b"wrong"
        return written

    return Changed(trees.target, create_from=create_from)


def spoiled(trees: Trees, target: Any = None, **options: Any) -> SyncOutcome:
    outcome = trees.sync(target=target or corrupting(trees), **options)
    assert outcome.exit_code is ExitCode.TRY_AGAIN
    assert [failure.kind for failure in outcome.failures] == [FailureKind.DIFFERS]
    assert "d/x" not in trees.at_target()
    return outcome


def built(trees: Trees) -> list[bytes]:
    return [node.content for path, node in trees.target._nodes.items() if "/tree/" in path and path.endswith("/d/x")]


@pytest.mark.parametrize("options", [{}, {"compare": "time"}, {"compare": "time", "preserve": "t"}])
@pytest.mark.parametrize("exists", [False, True], ids=["a new target", "a target that exists"])
def test_a_copy_that_differs_is_deleted_and_the_next_run_copies_it(exists: bool, options: dict[str, Any]) -> None:
    trees = Trees(d__x=b"right")
    if exists:
        trees.put_there("z", b"z")
        trees.put("z", b"z")
    spoiled(trees, **options)
    assert built(trees) == []

    outcome = trees.sync(**options)
    assert outcome.exit_code is ExitCode.DONE
    assert trees.at_target()["d/x"] == b"right"
    trees.assert_twin()


@pytest.mark.parametrize("exists", [False, True], ids=["a new target", "a target that exists"])
def test_one_that_could_not_be_deleted_is_compared_by_the_next_run(exists: bool) -> None:
    trees = Trees(d__x=b"right")
    if exists:
        trees.target.make_directories(TARGET)

    def delete(path: str) -> bool:
        if path.endswith("/d/x"):
            raise Unreachable("no answer", found="x", expected="y", next_step="z")
        return trees.target.delete(path)

    spoiled(trees, Changed(corrupting(trees), delete=delete), compare="time")
    assert built(trees) == [b"wrong"]

    assert trees.sync(compare="time").copied.files == 1
    trees.assert_twin()


def test_what_a_killed_run_has_built_is_not_copied_again_when_it_is_equal() -> None:
    trees = Trees(d__x=b"right", d__y=b"other")

    class Killed(BaseException):
        pass

    def rename(path: str, place: str) -> bool:
        raise Killed

    with pytest.raises(Killed):
        trees.sync(compare="time", target=Changed(trees.target, rename=rename))
    outcome = trees.sync(compare="time")
    assert (outcome.copied.files, outcome.skipped.files) == (0, 2)
    trees.assert_twin()


def test_where_the_source_has_no_checksums_a_copy_that_differs_is_not_taken_for_equal_by_its_time() -> None:
    trees = Trees(d__x=b"right")
    trees.source._has_checksums = False
    spoiled(trees)
    trees.sync()
    assert trees.at_target()["d/x"] == b"right"
