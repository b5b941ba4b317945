"""Hold the fake and the real file system to the same snapshots."""

from collections.abc import Callable

import pytest

from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.files import Attributes, ChangeKind, ChecksumForm, base_name
from twinhive.core.ports import TreeWriter

pytestmark = pytest.mark.parametrize("files", ["fake", pytest.param("hdfs", marks=pytest.mark.sandbox)], indirect=True)

CREATED, MODIFIED, DELETED, RENAMED = ChangeKind.CREATED, ChangeKind.MODIFIED, ChangeKind.DELETED, ChangeKind.RENAMED


@pytest.fixture
def kept(files: TreeWriter, place: str) -> str:
    """Give a directory with a few files, whose snapshots are taken away in the end."""
    for name in ("f", "g", "d/f", "d/g", "d/e/f", "Zo\u00eb %20/f"):
        files.write(f"{place}/{name}", name.encode())
    return place


@pytest.fixture(autouse=True)
def without_snapshots(files: TreeWriter, place: str):  # type: ignore[no-untyped-def]
    yield
    for name in (files.snapshots(place) or ()) if files.status(place) else ():
        files.delete_snapshot(place, name)


def changes(
    files: TreeWriter, path: str, since: str = "s1", until: str = ""
) -> set[tuple[ChangeKind, str, str | None]]:
    """Return what is reported: a directory is also modified when its children are, which is left out here."""
    found = list(files.snapshot_changes(path, since, until))
    assert len(found) == len(set(found)), "nothing is said twice"
    return {(change.kind, change.path, change.target) for change in found}


def test_a_directory_without_snapshots(files: TreeWriter, place: str) -> None:
    files.make_directories(place)
    assert files.snapshots(place) is None
    with pytest.raises(Refused, match=place):
        files.create_snapshot(place, "s1")
    with pytest.raises(Refused, match=place):
        list(files.snapshot_changes(place, "s1", ""))


def test_snapshots_are_made_and_deleted(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.allow_snapshots(kept)
    assert files.snapshots(kept) == []
    files.create_snapshot(kept, "s2")
    files.create_snapshot(kept, "s1")
    assert files.snapshots(kept) == ["s1", "s2"]
    with pytest.raises(AlreadyThere, match="s1"):
        files.create_snapshot(kept, "s1")
    files.delete_snapshot(kept, "s1")
    files.delete_snapshot(kept, "s1")
    assert files.snapshots(kept) == ["s2"]


def test_what_has_snapshots_stays(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    with pytest.raises(Refused):
        files.delete(kept)
    with pytest.raises(Refused):
        files.rename(kept, f"{kept}2")


def test_a_snapshot_is_read_like_any_directory(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    before = files.status(f"{kept}/d/f")
    form = ChecksumForm.COMPARISON
    checksum = files.checksum(f"{kept}/d/f", form)
    files.write(f"{kept}/d/f", b"changed")
    files.delete(f"{kept}/d/e")
    old = f"{kept}/.snapshot/s1"
    there = files.status(f"{old}/d/f")
    assert before and there
    assert (there.path, there.length, there.modified_ms) == (f"{old}/d/f", 3, before.modified_ms)
    assert there.file_id == before.file_id
    assert files.read(f"{old}/d/f") == b"d/f" and files.checksum(f"{old}/d/f", form) == checksum
    [(_, top), (_, below), (_, none)] = files.list_pages([old, f"{old}/d", f"{old}/none"])
    assert [base_name(child.path) for child in top or ()] == ["Zo\u00eb %20", "d", "f", "g"]
    assert [child.path for child in below or ()] == [f"{old}/d/e", f"{old}/d/f", f"{old}/d/g"]
    assert none is None
    [(_, present)] = files.list_pages([kept])
    assert ".snapshot" not in [base_name(child.path) for child in present or ()]
    files.create_from(files.open(f"{old}/d/e/f"), f"{kept}/back")
    assert files.read(f"{kept}/back") == b"d/e/f"


def test_a_snapshot_cannot_be_written(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    with pytest.raises(Refused):
        files.write(f"{kept}/.snapshot/s1/new", b"")


def test_nothing_has_changed(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    assert changes(files, kept) == set()
    files.create_snapshot(kept, "s2")
    assert changes(files, kept, "s1", "s2") == set()


def test_a_time_alone_is_no_change(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    files.set_attributes(f"{kept}/f", Attributes(modified_ms=1_500_000_000_000))
    assert changes(files, kept) == set()


def test_without_the_snapshot_there_is_no_difference(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    for since, until in (("none", "s1"), ("s1", "none")):
        with pytest.raises(Missing, match="none"):
            list(files.snapshot_changes(kept, since, until))


Change = Callable[[TreeWriter, str], object]
REPORTS: list[tuple[str, Change, set[tuple[ChangeKind, str, str | None]]]] = [
    ("a new file", lambda f, d: f.write(f"{d}/d/new", b""), {(MODIFIED, "d", None), (CREATED, "d/new", None)}),
    (
        "a new directory: only itself",
        lambda f, d: f.write(f"{d}/new/below/f", b""),
        {(MODIFIED, "", None), (CREATED, "new", None)},
    ),
    ("a longer file", lambda f, d: f.append_from(f.open(f"{d}/g"), f"{d}/f"), {(MODIFIED, "f", None)}),
    (
        "a file with another permission",
        lambda f, d: f.set_attributes(f"{d}/f", Attributes(permission=0o600)),
        {(MODIFIED, "f", None)},
    ),
    (
        "a directory with another owner",
        lambda f, d: f.set_attributes(f"{d}/d", Attributes(owner="ann")),
        {(MODIFIED, "d", None)},
    ),
    (
        "a file with another ACL",
        lambda f, d: f.set_attributes(
            f"{d}/f", Attributes(acl=("user::rw-", "user:ann:r--", "group::r--", "mask::r--", "other::r--"))
        ),
        {(MODIFIED, "f", None)},
    ),
    (
        "a file written anew under its name is another one",
        lambda f, d: f.write(f"{d}/f", b"f"),
        {(MODIFIED, "", None), (CREATED, "f", None), (DELETED, "f", None)},
    ),
    ("a deleted file", lambda f, d: f.delete(f"{d}/d/e/f"), {(MODIFIED, "d/e", None), (DELETED, "d/e/f", None)}),
    ("a deleted directory: only itself", lambda f, d: f.delete(f"{d}/d"), {(MODIFIED, "", None), (DELETED, "d", None)}),
    (
        "a renamed file",
        lambda f, d: f.rename(f"{d}/f", f"{d}/d/moved"),
        {(MODIFIED, "", None), (MODIFIED, "d", None), (RENAMED, "f", "d/moved")},
    ),
    (
        "a renamed directory",
        lambda f, d: f.rename(f"{d}/d/e", f"{d}/e"),
        {(MODIFIED, "", None), (MODIFIED, "d", None), (RENAMED, "d/e", "e")},
    ),
    (
        "changes in a renamed directory have the old path",
        lambda f, d: (
            f.rename(f"{d}/d", f"{d}/D"),
            f.write(f"{d}/D/new", b""),
            f.delete(f"{d}/D/f"),
            f.rename(f"{d}/D/g", f"{d}/D/G"),
        ),
        {
            (MODIFIED, "", None),
            (MODIFIED, "d", None),
            (RENAMED, "d", "D"),
            (CREATED, "d/new", None),
            (DELETED, "d/f", None),
            (RENAMED, "d/g", "D/G"),
        },
    ),
    (
        "moved into a new directory",
        lambda f, d: (f.make_directories(f"{d}/new"), f.rename(f"{d}/f", f"{d}/new/f")),
        {(MODIFIED, "", None), (CREATED, "new", None), (RENAMED, "f", "new/f")},
    ),
    (
        "moved out of a directory that is gone: a new one",
        lambda f, d: (f.rename(f"{d}/d/f", f"{d}/moved"), f.delete(f"{d}/d")),
        {(MODIFIED, "", None), (DELETED, "d", None), (CREATED, "moved", None)},
    ),
    (
        "two that changed places",
        lambda f, d: (
            f.rename(f"{d}/f", f"{d}/t"),
            f.rename(f"{d}/g", f"{d}/f"),
            f.rename(f"{d}/t", f"{d}/g"),
        ),
        {(MODIFIED, "", None), (RENAMED, "f", "g"), (RENAMED, "g", "f")},
    ),
    (
        "an awkward name",
        lambda f, d: f.rename(f"{d}/Zo\u00eb %20/f", f"{d}/Zo\u00eb %20/p=a b"),
        {(MODIFIED, "Zo\u00eb %20", None), (RENAMED, "Zo\u00eb %20/f", "Zo\u00eb %20/p=a b")},
    ),
]


@pytest.mark.parametrize(("change", "reported"), [row[1:] for row in REPORTS], ids=[row[0] for row in REPORTS])
@pytest.mark.parametrize("until", ["", "s2"], ids=["to the present", "to a snapshot"])
def test_what_is_reported(
    files: TreeWriter, kept: str, change: Change, reported: set[tuple[ChangeKind, str, str | None]], until: str
) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    change(files, kept)
    if until:
        files.create_snapshot(kept, until)
    assert changes(files, kept, "s1", until) == reported


def test_what_went_there_and_back_again_was_not_renamed(files: TreeWriter, kept: str) -> None:
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    files.rename(f"{kept}/f", f"{kept}/t")
    files.rename(f"{kept}/t", f"{kept}/f")
    assert changes(files, kept) <= {(MODIFIED, "", None)}


@pytest.mark.parametrize("until", ["", "s2"], ids=["to the present", "to a snapshot"])
def test_a_long_report_is_whole(files: TreeWriter, kept: str, until: str) -> None:
    for number in range(1100):
        files.make_directories(f"{kept}/old/{number}")
    files.allow_snapshots(kept)
    files.create_snapshot(kept, "s1")
    files.make_directories(f"{kept}/new")
    for number in range(0, 1100, 2):
        files.rename(f"{kept}/old/{number}", f"{kept}/new/{number}")
    for number in range(1, 1100, 2):
        files.delete(f"{kept}/old/{number}")
        files.make_directories(f"{kept}/old/{number + 2000}")
    if until:
        files.create_snapshot(kept, until)
    found = changes(files, kept, "s1", until)
    assert len({path for kind, path, _ in found if kind is DELETED}) == 550
    assert len({path for kind, path, _ in found if kind is CREATED}) == 551
    assert {(path, target) for kind, path, target in found if kind is RENAMED} == {
        (f"old/{number}", f"new/{number}") for number in range(0, 1100, 2)
    }
