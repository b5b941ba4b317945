"""What a dry run and an outcome say, and that a dry run changes nothing."""

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import Attributes
from twinhive.transfer.tree.report import PlanRow, outcome_text
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_dry_run import dry_run


@pytest.fixture
def trees() -> Trees:
    """The target has a file of every kind."""
    trees = Trees(equal=b"equal", other=b"1234", shorter=b"line 1\nline 2\n", rewritten=b"line 1\nline 2\n", new=b"12")
    trees.put("d/e/f", b"123")
    trees.put_there("equal", b"equal")
    trees.put_there("other", b"4321")
    trees.put_there("shorter", b"line 1\n")
    trees.put_there("rewritten", b"linE 1\n")
    trees.put_there("gone", b"1")
    trees.put_there("gone too/f", b"1")
    return trees


def rows(trees: Trees, **options: object) -> dict[str, PlanRow]:
    request = SyncRequest((SOURCE,), TARGET, SyncOptions.of({"append": True, "delete": "trash", **options}))
    return {row.what: row for row in dry_run(request, trees.source, trees.target)}


def test_a_dry_run_says_what_a_run_would_do_contents_compared(trees: Trees) -> None:
    found = rows(trees)
    assert {what: (row.tally.files, row.tally.bytes, row.paths) for what, row in found.items()} == {
        "new directories": (0, 0, ["d", "d/e"]),
        "copy, new": (2, 5, ["new", "d/e/f"]),
        "copy, other content": (2, 18, ["other", "rewritten"]),
        "append": (1, 14, ["shorter"]),
        "skip, equal": (1, 5, ["equal"]),
        "delete": (1, 1, ["gone", "gone too"]),
    }
    outcome = trees.sync(append=True, delete="trash")
    assert (outcome.copied.files, outcome.skipped.files, outcome.deleted.files) == (5, 1, 2)


def test_a_dry_run_changes_nothing(trees: Trees) -> None:
    before = {files.root: {path: node.status for path, node in files._nodes.items()} for files in both(trees)}

    def change(*given: object, **named: object) -> None:
        raise AssertionError("a change")

    names = ("write", "create_from", "append_from", "rename", "replace", "delete", "make_directories", "set_attributes")
    names += ("create_snapshot", "delete_snapshot", "allow_snapshots", "concatenate")
    target = Changed(trees.target, **dict.fromkeys(names, change))
    source = Changed(trees.source, **dict.fromkeys(names, change))
    dry_run(SyncRequest((SOURCE,), TARGET, SyncOptions.of({"snapshots": True, "delete": "trash"})), source, target)
    assert before == {files.root: {path: node.status for path, node in files._nodes.items()} for files in both(trees)}


def both(trees: Trees) -> tuple[InMemoryFiles, InMemoryFiles]:
    return trees.source, trees.target


def test_a_dry_run_looks_at_attributes_that_no_listing_tells(trees: Trees) -> None:
    trees.sync(preserve="px")
    assert set(rows(trees, preserve="px", delete="no")) == {"skip, equal"}
    trees.source.set_attribute(f"{SOURCE}/new", "user.k", "v")
    trees.source.set_attributes(f"{SOURCE}/d", Attributes(permission=0o700))
    found = rows(trees, preserve="px", delete="no")["set attributes"]
    assert (found.tally.files, found.tally.directories, found.paths) == (1, 1, ["new", "d"])


def test_a_dry_run_shows_what_would_stop_a_run(trees: Trees) -> None:
    trees.put_there("d", b"a file")
    trees.source.link(f"{SOURCE}/link")
    trees.put("closed/f")
    trees.source.unreadable.add(f"{SOURCE}/closed")
    trees.source.unreadable.add(f"{SOURCE}/other")
    found = rows(trees)
    assert found["conflict"].tally.files == 2
    assert "d" in found["conflict"].paths[0]
    assert (found["unreadable"].tally.directories, found["unreadable"].tally.files) == (1, 1)


def test_a_dry_run_refuses_bad_input(trees: Trees) -> None:
    with pytest.raises(Missing):
        dry_run(SyncRequest((f"{SOURCE}/none",), TARGET), trees.source, trees.target)


def test_the_cells_of_a_row() -> None:
    row = PlanRow("copy, new")
    for number in range(5):
        row.add(f"f{number}", 1000)
    assert row.cells() == ("copy, new", "5 files", "5.0 kB", "f0, f1, f2, and 2 more")


def test_the_text_of_an_outcome(trees: Trees) -> None:
    trees.put("refused")
    trees.source.unreadable.add(f"{SOURCE}/refused")
    lines = outcome_text(trees.sync(append=True, delete="trash", on_unreadable="skip", exclude=["d/.*"])).splitlines()
    assert lines[:6] == [
        "copied    4 files, 1 directory, 27 B",
        "skipped   1 file, 1 directory, 5 B, equal",
        "deleted   0 files, 0 B",
        "failed    0 files, 0 B",
        "left out  1 file, 1 B, which the source does not let us read",
        "excluded  1 path, by the filters",
    ]
    assert "compared  5 by checksum" in lines
    assert "2 paths were not deleted, because the source could not be read in full" in lines
    assert f"  refused: {SOURCE}/refused: {SOURCE}/refused: hdfs://east refused: permission denied" in lines


def test_the_text_says_when_checksums_could_not_be_compared(trees: Trees) -> None:
    trees.target._has_checksums = False
    text = outcome_text(trees.sync())
    assert "1 by length and time, for want of a comparable checksum" in text
    assert "5 by length alone, for want of a comparable checksum" in text


def test_many_failures_are_counted_and_a_few_told() -> None:
    trees = Trees(**{f"f{number}": b"x" for number in range(30)})
    trees.source.unreadable.update(f"{SOURCE}/f{number}" for number in range(30))
    text = outcome_text(trees.sync())
    assert "failed    30 files, 30 B" in text
    assert text.endswith("and 25 more")
