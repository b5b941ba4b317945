"""What goes wrong while files are copied is reported by file, the other files are copied, and the next run heals."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees
from twinhive.core.model.errors import LeaseLost, Refused, Unreachable
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.tree.report import outcome_text
from twinhive.transfer.tree.tree_outcome import SyncOutcome


@pytest.fixture(params=["new", "old"])
def trees(request: pytest.FixtureRequest) -> Trees:
    """Three files and a directory; the target is new, or exists with another version of one of them."""
    trees = Trees(a=b"aaaa", b=b"bbbbb", d__c=b"cccccc")
    if request.param == "old":
        trees.put_there("b", b"before")
    return trees


def opening(trees: Trees, name: str, event: Callable[[], object]) -> Changed:
    """Return the source, where something happens when a file is opened for the first time."""
    happened: list[str] = []

    def open_file(opened: str, **named: Any) -> Any:
        stream = trees.source.open(opened, **named)
        if opened.endswith(name) and not happened:
            happened.append(opened)
            event()
        return stream

    return Changed(trees.source, open=open_file)


def assert_failed(outcome: SyncOutcome, path: str, kind: FailureKind) -> None:
    assert [(failure.path, failure.kind) for failure in outcome.failures] == [(path, kind)]
    assert (outcome.failed.files, outcome.copied.files) == (1, 2)


def assert_the_next_run_heals(trees: Trees) -> None:
    written = trees.target.calls["create_from"]
    assert trees.sync().exit_code is ExitCode.DONE
    trees.assert_twin()
    assert trees.target.calls["create_from"] <= written + 1, "what was copied is not copied again"


def test_a_source_file_that_is_gone_when_it_is_opened(trees: Trees) -> None:
    def open_file(path: str, **named: Any) -> Any:
        if path == f"{SOURCE}/b":
            trees.source.delete(path)
        return trees.source.open(path, **named)

    outcome = trees.sync(source=Changed(trees.source, open=open_file))
    assert_failed(outcome, f"{SOURCE}/b", FailureKind.GONE)
    assert "vanished  1 of the failed file" in outcome_text(outcome)
    assert outcome.exit_code is ExitCode.TRY_AGAIN
    trees.sync(delete="permanently")
    trees.assert_twin()


def test_a_source_file_that_is_longer_when_it_is_opened(trees: Trees) -> None:
    def open_file(path: str, **named: Any) -> Any:
        if path == f"{SOURCE}/b" and len(trees.source._node(path).content) == 5:
            trees.put("b", b"longer than listed")
        return trees.source.open(path, **named)

    outcome = trees.sync(source=Changed(trees.source, open=open_file))
    assert_failed(outcome, f"{SOURCE}/b", FailureKind.CHANGED)
    assert "snapshots" in outcome.failures[0].reason
    assert_the_next_run_heals(trees)


def test_a_source_file_that_changes_while_it_is_read_is_copied_as_it_was(trees: Trees) -> None:
    trees.source.changes_when_opened.add(f"{SOURCE}/b")
    assert trees.sync().exit_code is ExitCode.DONE
    assert trees.at_target()["b"] == b"bbbbb"
    assert_the_next_run_heals(trees)


def test_a_quota_of_the_target(trees: Trees) -> None:
    def create_from(stream: Any, path: str, **named: Any) -> Any:
        if stream.content == b"bbbbb":
            raise Refused(f"{path}: a quota is used up")
        return trees.target.create_from(stream, path, **named)

    outcome = trees.sync(target=Changed(trees.target, create_from=create_from))
    assert_failed(outcome, f"{SOURCE}/b", FailureKind.REFUSED)
    assert outcome.exit_code is ExitCode.ACT_NOW
    assert_the_next_run_heals(trees)


def test_what_was_copied_is_told_also_where_it_cannot_be_remembered(trees: Trees) -> None:
    def write(path: str, content: bytes) -> None:
        if "/verified/" in path:
            raise Refused(f"{path}: a quota is used up")
        trees.target.write(path, content)

    outcome = trees.sync(target=Changed(trees.target, write=write))
    assert (outcome.copied.files, outcome.failed.files, outcome.exit_code) == (3, 1, ExitCode.ACT_NOW)
    assert "/verified/" in outcome.failures[0].path
    assert trees.at_target() == trees.at_source()


def test_a_target_beside_which_nothing_may_be_written() -> None:
    trees = Trees(a=b"aaaa")
    trees.put_there("b")

    def delete(path: str) -> bool:
        if not path.startswith(f"{TARGET}/"):
            raise Refused(f"{path}: permission denied")
        return trees.target.delete(path)

    assert trees.sync(target=Changed(trees.target, delete=delete)).exit_code is ExitCode.DONE
    trees.assert_clean()


def test_permission_denied_at_the_target_for_everything(trees: Trees) -> None:
    trees.target.forbidden.add("hdfs://west/copies")
    with pytest.raises(Refused, match="permission"):
        trees.sync(preserve="u")
    trees.target.forbidden.clear()
    trees.sync()
    trees.assert_twin()


def test_attributes_that_may_not_be_set(trees: Trees) -> None:
    node = trees.source._node(f"{SOURCE}/b")
    node.status = replace(node.status, owner="root")
    path: list[str] = []

    def set_attributes(named: str, attributes: Any) -> None:
        if attributes.owner == "root" and not path:
            path.append(named)
            raise Refused(f"{named}: only a superuser may")
        trees.target.set_attributes(named, attributes)

    outcome = trees.sync(preserve="u", target=Changed(trees.target, set_attributes=set_attributes))
    assert_failed(outcome, f"{SOURCE}/b", FailureKind.REFUSED)
    assert trees.target.calls["create_from"] == 3
    trees.sync(preserve="u")
    trees.assert_twin()
    assert trees.target.calls["create_from"] == 3, "its bytes had been copied and verified"


def test_an_unreadable_file_fails_by_default(trees: Trees) -> None:
    trees.source.unreadable.add(f"{SOURCE}/b")
    outcome = trees.sync()
    assert_failed(outcome, f"{SOURCE}/b", FailureKind.REFUSED)
    assert outcome.exit_code is ExitCode.ACT_NOW
    trees.source.unreadable.clear()
    assert_the_next_run_heals(trees)


def test_an_unreadable_file_may_be_left_out_which_is_said(trees: Trees) -> None:
    trees.source.unreadable.add(f"{SOURCE}/b")
    before = trees.at_target().get("b")
    outcome = trees.sync(on_unreadable="skip")
    assert (outcome.unreadable.files, outcome.failed.files, outcome.copied.files) == (1, 0, 2)
    assert outcome.exit_code is ExitCode.DONE
    assert [failure.path for failure in outcome.failures] == [f"{SOURCE}/b"]
    assert trees.at_target().get("b") == before
    trees.source.unreadable.clear()
    assert_the_next_run_heals(trees)


def test_of_a_file_that_is_left_out_nothing_is_put_in_place(trees: Trees) -> None:
    def extended_attributes(path: str) -> dict[str, bytes]:
        if path == f"{SOURCE}/b":
            raise Refused(f"{path}: permission denied")
        return trees.source.extended_attributes(path)

    before = trees.at_target().get("b")
    source = Changed(trees.source, extended_attributes=extended_attributes)
    outcome = trees.sync(on_unreadable="skip", preserve="x", source=source)
    assert (outcome.unreadable.files, outcome.copied.files) == (1, 2)
    assert trees.at_target().get("b") == before


def test_a_refusal_of_the_target_is_not_taken_for_an_unreadable_source(trees: Trees) -> None:
    def create_from(stream: Any, path: str, **named: Any) -> Any:
        raise Refused(f"{path}: a quota is used up")

    outcome = trees.sync(on_unreadable="skip", target=Changed(trees.target, create_from=create_from))
    assert (outcome.failed.files, outcome.unreadable.files) == (3, 0)


@pytest.mark.parametrize("split_above", [2**30, 4])
def test_a_corrupt_replica_of_a_block_is_read_from_another(trees: Trees, split_above: int) -> None:
    trees.source.corrupt_replicas.add(f"{SOURCE}/b")
    assert trees.sync(split_above=split_above).exit_code is ExitCode.DONE
    trees.assert_twin()


@pytest.mark.parametrize("split_above", [2**30, 4])
def test_a_file_without_a_good_replica_is_reported_and_never_put_in_place(trees: Trees, split_above: int) -> None:
    trees.source.corrupt.add(f"{SOURCE}/b")
    before = trees.at_target().get("b")
    outcome = trees.sync(split_above=split_above)
    assert_failed(outcome, f"{SOURCE}/b", FailureKind.UNREACHABLE)
    assert trees.at_target().get("b") == before
    trees.source.corrupt.clear()
    assert trees.sync(split_above=split_above).exit_code is ExitCode.DONE
    trees.assert_twin()


def test_a_copy_that_comes_out_wrong_is_made_again(trees: Trees) -> None:
    trees.target.corrupt_next_copies = 1
    assert trees.sync(threads=1).exit_code is ExitCode.DONE
    trees.assert_twin()


def test_a_server_that_goes_down_in_the_middle(trees: Trees) -> None:
    source = opening(trees, "/d/c", lambda: setattr(trees.target, "down", True))
    with pytest.raises(Unreachable):
        trees.sync(source=source, threads=1)
    trees.target.down = False
    assert trees.sync().exit_code is ExitCode.DONE
    trees.assert_twin()
    assert trees.target.calls["create_from"] <= 5


def test_a_few_answers_that_are_lost_change_nothing(trees: Trees) -> None:
    source = opening(trees, "/b", lambda: setattr(trees.target, "unanswered", 1))
    assert trees.sync(source=source, threads=1).exit_code is ExitCode.DONE
    trees.assert_twin()


def test_a_lost_answer_of_putting_a_file_in_place() -> None:
    trees = Trees(f=b"new")
    trees.put_there("f", b"old!")
    lost: list[str] = []

    def replace_file(source: str, target: str) -> None:
        trees.target.replace(source, target)
        if not lost:
            lost.append(target)
            raise Unreachable("no answer")

    outcome = trees.sync(target=Changed(trees.target, replace=replace_file))
    assert (lost, outcome.exit_code) == ([f"{TARGET}/f"], ExitCode.DONE)
    assert trees.target.calls["create_from"] == 1
    trees.assert_twin()


def test_a_lost_lease_is_told_and_leaves_the_snapshot_to_its_new_holder() -> None:
    trees = Trees(f=b"1")
    trees.put_there("f", b"0")

    def taken_over() -> None:
        with trees.leases.hold(f"{TARGET}/.twinhive/lease", {"run": "another"}, LeaseKind.COPY):
            pass

    with pytest.raises(LeaseLost):
        trees.sync(source=opening(trees, "/f", taken_over), snapshots=True)
    assert trees.source.snapshots(SOURCE)
    trees.sync(snapshots=True)
    assert trees.source.snapshots(SOURCE) == trees.target.snapshots(TARGET)
