"""Hold the fake and the real file system to the same behaviour in what copies of whole trees need."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.contracts.test_files_contract import AWKWARD
from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import Missing, Refused, TwinhiveError
from twinhive.core.model.files import Attributes, ChecksumForm, Creation, base_name, name_order
from twinhive.core.ports import TreeWriter
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.hdfs.hadoop_statuses import to_statuses
from twinhive.hive.adapters.jvm.java_vm import java_class

ACL = ("user::rwx", "user:ann:r-x", "group::r-x", "mask::r-x", "other::---")
DEFAULT_ACL = (
    "default:user::rwx",
    "default:user:ann:rwx",
    "default:group::r-x",
    "default:mask::rwx",
    "default:other::---",
)
AFTER_1970 = 1_500_000_000_000


def is_local(files: TreeWriter) -> bool:
    return files.root == "file://"


def names(page: Any) -> list[str]:
    return [base_name(child.path) for child in page]


def test_pages_are_in_one_order_everywhere(files: TreeWriter, place: str) -> None:
    children = sorted([*AWKWARD, "Z", "a", "aa", "a.b", "ä", "-", "~", "\U0001f600x", "\uffee"])
    for name in children:
        files.write(f"{place}/{name}", b"")
    [(listed, page)] = files.list_pages([place])
    assert listed == place
    assert names(page) == sorted(children, key=name_order)
    assert names(page) != sorted(children), "the order is not that of characters"


def test_pages_of_many_directories(files: TreeWriter, place: str) -> None:
    for number in range(230):
        files.make_directories(f"{place}/d{number}")
    files.write(f"{place}/d7/f", b"")
    asked = [f"{place}/d{number}" for number in range(230)] + [f"{place}/none", f"{place}/d7", f"{place}/d7"]
    listed = list(files.list_pages(iter(asked)))
    assert [path for path, _ in listed] == asked
    assert [path for path, page in listed if page is None] == [f"{place}/none"]
    assert [path for path, page in listed if page] == [f"{place}/d7"] * 3


def test_a_large_directory_comes_in_pages(files: TreeWriter, place: str) -> None:
    if isinstance(files, InMemoryFiles):
        files.page_size = 500
    count = 20 if is_local(files) else 1200
    for number in range(count):
        files.make_directories(f"{place}/large/{number}")
    files.make_directories(f"{place}/small")
    listed = list(files.list_pages([f"{place}/large", f"{place}/small"]))
    assert [path for path, _ in listed[-2:]] == [f"{place}/large", f"{place}/small"]
    assert is_local(files) or len(listed) > 2
    found = [name for path, page in listed[:-1] for name in names(page)]
    assert found == sorted(map(str, range(count)), key=name_order)


def test_pages_before_what_cannot_be_listed_are_yielded(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/a/f", b"")
    listed = files.list_pages([f"{place}/a", f"{place}/a/f"])
    path, page = next(listed)
    assert (path, names(page)) == (f"{place}/a", ["f"])
    with pytest.raises(Refused, match=f"{place}/a/f"):
        next(listed)


def test_a_new_file_is_made_as_told(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"x" * 5000)
    how = Creation(block_size=1024 * 1024, replication=1, permission=0o666, checksum="CRC32C/1024")
    written = files.create_from(files.open(f"{place}/f"), f"{place}/g", how=how)
    status = files.status(f"{place}/g")
    assert status and written.length == 5000
    if is_local(files):
        assert (written.checksum, written.file_id) == (None, 0)
        return
    assert (status.permission, status.block_size, status.replication) == (0o666, 1024 * 1024, 1)
    assert written.file_id == status.file_id
    assert files.checksum_type(f"{place}/g") == "CRC32C/1024"


def test_a_permission_that_is_not_given_is_nobody_elses(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    files.create_from(files.open(f"{place}/f"), f"{place}/g")
    status = files.status(f"{place}/g")
    assert status and status.permission in (0, 0o644)


@pytest.mark.parametrize("checksum", ["", "CRC32/512"])
def test_the_checksum_of_what_was_written_is_the_one_that_comparisons_see(
    files: TreeWriter, place: str, checksum: str
) -> None:
    content = bytes(range(251)) * 9000
    files.write(f"{place}/f", content)
    written = files.create_from(files.open(f"{place}/f"), f"{place}/g", how=Creation(checksum=checksum))
    assert written.length == len(content)
    assert written.checksum == files.checksum(f"{place}/g", ChecksumForm.COMPARISON)
    assert (written.checksum is None) == is_local(files)


def test_a_range_of_a_file(files: TreeWriter, place: str) -> None:
    content = bytes(range(256)) * 10_000
    files.write(f"{place}/f", content)
    assert files.create_from(files.open(f"{place}/f", offset=100), f"{place}/g", length=1_200_000).length == 1_200_000
    assert files.read(f"{place}/g") == content[100:1_200_100]
    files.create_from(files.open(f"{place}/f", offset=2_000_000), f"{place}/h", length=len(content))
    assert files.read(f"{place}/h") == content[2_000_000:], "less where the file ends"


def test_an_unverified_read_gives_the_bytes(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"some rows")
    files.create_from(files.open(f"{place}/f", verified=False), f"{place}/g")
    assert files.read(f"{place}/g") == b"some rows"
    with pytest.raises(Missing, match=f"{place}/none"):
        files.open(f"{place}/none", verified=False)


def test_the_checksum_of_the_first_bytes(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"some rows and more")
    files.write(f"{place}/g", b"some rows")
    form = ChecksumForm.COMPARISON
    first, whole = (files.checksum(f"{place}/f", form, length=9), files.checksum(f"{place}/g", form))
    assert first == whole
    assert (first is None) == is_local(files)


def test_a_meter_sees_each_piece_before_it_is_written(files: TreeWriter, place: str) -> None:
    seen: list[int] = []
    files.write(f"{place}/f", b"x" * 2_500_000)
    files.create_from(files.open(f"{place}/f"), f"{place}/g", meter=seen.append)
    assert sum(seen) == 2_500_000 and len(seen) >= 3 and max(seen) <= 1024 * 1024

    def stop(count: int) -> None:
        raise Refused("enough")

    with pytest.raises(Refused, match="enough"):
        files.create_from(files.open(f"{place}/f"), f"{place}/h", meter=stop)
    status = files.status(f"{place}/h")
    assert status is None or status.length == 0


def test_append(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"one, two")
    files.write(f"{place}/g", b"one")
    before = files.status(f"{place}/g")
    seen: list[int] = []
    assert files.append_from(files.open(f"{place}/f", offset=3), f"{place}/g", meter=seen.append) == 5
    after = files.status(f"{place}/g")
    assert files.read(f"{place}/g") == b"one, two" and seen == [5]
    assert before and after and before.file_id == after.file_id
    with pytest.raises(Missing, match=f"{place}/none"):
        files.append_from(files.open(f"{place}/f"), f"{place}/none")


def test_concatenate(files: TreeWriter, place: str) -> None:
    if is_local(files):
        with pytest.raises(Refused, match="cannot put files together"):
            files.concatenate(f"{place}/f", ())
        return
    files.concatenate(f"{place}/f", ())
    contents = {"f": b"a" * 3000, "1": b"b" * 10, "2": b"c" * 2000}
    for name, content in contents.items():
        files.write(f"{place}/{name}", content)
    files.concatenate(f"{place}/f", [f"{place}/1", f"{place}/2"])
    assert files.read(f"{place}/f") == b"".join(contents.values())
    [(_, left)] = files.list_pages([place])
    assert names(left) == ["f"]
    files.write(f"{place}/elsewhere/3", b"d")
    with pytest.raises(Refused, match=f"{place}/f"):
        files.concatenate(f"{place}/f", [f"{place}/elsewhere/3"])
    with pytest.raises(TwinhiveError):
        files.concatenate(f"{place}/f", [f"{place}/none"])


def test_replace_puts_a_file_over_another(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/new", b"new")
    files.write(f"{place}/f", b"old")
    before = files.status(f"{place}/new")
    files.replace(f"{place}/new", f"{place}/f")
    after = files.status(f"{place}/f")
    assert files.read(f"{place}/f") == b"new" and files.status(f"{place}/new") is None
    assert before and after and before.file_id == after.file_id
    files.replace(f"{place}/f", f"{place}/g")
    assert files.read(f"{place}/g") == b"new", "nothing has to be there"


def test_replace_refuses_a_directory(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/new", b"new")
    files.make_directories(f"{place}/empty")
    files.write(f"{place}/full/f", b"")
    for there in ("empty", "full"):
        with pytest.raises(Refused, match=f"{place}/{there}"):
            files.replace(f"{place}/new", f"{place}/{there}")
    with pytest.raises(Missing):
        files.replace(f"{place}/none", f"{place}/f")
    assert files.read(f"{place}/new") == b"new"


def test_attributes_are_set_together_and_the_times_stay(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    if is_local(files):
        files.set_attributes(f"{place}/f", Attributes(permission=0o600, modified_ms=AFTER_1970))
        status = files.status(f"{place}/f")
        assert status and status.modified_ms == AFTER_1970
        return
    given = Attributes("ann", "staff", 0o640, 2, (), {"user.a": b"1", "user.b": b""}, AFTER_1970, AFTER_1970 + 1)
    files.set_attributes(f"{place}/f", given)
    status = files.status(f"{place}/f")
    assert status
    assert (status.owner, status.group, status.permission, status.replication) == ("ann", "staff", 0o640, 2)
    assert (status.modified_ms, status.accessed_ms) == (AFTER_1970, AFTER_1970 + 1)
    assert files.extended_attributes(f"{place}/f") == {"user.a": b"1", "user.b": b""}
    files.set_attributes(f"{place}/f", Attributes(group="others", extended={"user.b": b"2"}))
    again = files.status(f"{place}/f")
    assert again and (again.owner, again.group, again.permission) == ("ann", "others", 0o640)
    assert again.modified_ms == AFTER_1970
    assert files.extended_attributes(f"{place}/f") == {"user.b": b"2"}, "those not given are gone"


def test_a_directory_has_attributes_too(files: TreeWriter, place: str) -> None:
    files.make_directories(place)
    files.set_attributes(place, Attributes(permission=0o1770, modified_ms=AFTER_1970))
    status = files.status(place)
    assert status and status.modified_ms == AFTER_1970
    assert status.permission in (0, 0o1770)


def test_nothing_to_set_is_fine(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    before = files.status(f"{place}/f")
    files.set_attributes(f"{place}/f", Attributes())
    assert files.status(f"{place}/f") == before


def test_acls(files: TreeWriter, place: str) -> None:
    files.make_directories(f"{place}/d")
    assert files.acl(f"{place}/d") == ()
    if is_local(files):
        with pytest.raises(Refused, match="cannot do this"):
            files.set_attributes(f"{place}/d", Attributes(acl=ACL))
        return
    files.set_attributes(f"{place}/d", Attributes(acl=(*ACL, *DEFAULT_ACL)))
    assert set(files.acl(f"{place}/d")) == {*ACL, *DEFAULT_ACL}
    status = files.status(f"{place}/d")
    [(_, page)] = files.list_pages([place])
    assert status and status.has_acl and page and page[0].has_acl
    files.set_attributes(f"{place}/d", Attributes(acl=()))
    assert files.acl(f"{place}/d") == ()
    plain = files.status(f"{place}/d")
    assert plain and not plain.has_acl


def test_an_acl_of_one_path_can_be_given_to_another(files: TreeWriter, place: str) -> None:
    if is_local(files):
        return
    for name in ("a", "b"):
        files.write(f"{place}/{name}", b"")
    files.set_attributes(f"{place}/a", Attributes(acl=ACL))
    files.set_attributes(f"{place}/b", Attributes(acl=files.acl(f"{place}/a")))
    assert files.acl(f"{place}/b") == files.acl(f"{place}/a") != ()


def test_extended_attributes_where_there_are_none(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    assert files.extended_attributes(f"{place}/f") == {}
    if is_local(files):
        with pytest.raises(Refused, match="cannot do this"):
            files.set_attributes(f"{place}/f", Attributes(extended={"user.a": b"1"}))


def test_how_blocks_are_guarded(files: TreeWriter, place: str) -> None:
    files.write(f"{place}/f", b"x")
    files.write(f"{place}/empty", b"")
    assert files.checksum_type(f"{place}/f") == ("" if is_local(files) else "CRC32C/512")
    assert files.checksum_type(f"{place}/empty") == ""


@pytest.mark.parametrize(
    "call",
    [
        lambda files, path: files.acl(path),
        lambda files, path: files.extended_attributes(path),
        lambda files, path: files.checksum_type(path),
        lambda files, path: files.set_attributes(path, Attributes(modified_ms=AFTER_1970)),
        lambda files, path: files.snapshots(path),
    ],
    ids=["acl", "extended attributes", "checksum type", "set attributes", "snapshots"],
)
def test_attributes_of_what_is_not_there(
    files: TreeWriter, place: str, call: Callable[[TreeWriter, str], object]
) -> None:
    with pytest.raises(Missing, match=place):
        call(files, place)


def test_a_link_is_told_from_what_it_leads_to(tmp_path: Path) -> None:
    files = HadoopFiles("file://", {})
    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("f")
    [(_, page)] = files.list_pages([f"file://{tmp_path}"])
    assert {base_name(child.path): child.is_link for child in page or ()} == {"f": False, "link": True}
    status = files.status(f"file://{tmp_path}/link")
    assert status and status.is_link


def test_users_and_groups_may_hold_what_names_of_files_cannot() -> None:
    files = HadoopFiles("file://", {})
    files.status("file:///")
    status, path = java_class("org.apache.hadoop.fs.FileStatus"), java_class("org.apache.hadoop.fs.Path")
    listed = java_class("java.util.ArrayList")()
    for name, owner, group in (("f", "ann/h1@EAST", "a/b"), ("g", "bob", "staff")):
        listed.add(status(3, False, 1, 4, 5, 6, None, owner, group, path(f"hdfs://x/{name}")))
    client = SimpleNamespace(is_local=False, is_hdfs=False, root="hdfs://x")
    found = to_statuses(client, "hdfs://x", listed)
    assert [(one.path, one.owner, one.group, one.length) for one in found] == [
        ("hdfs://x/f", "ann/h1@EAST", "a/b", 3),
        ("hdfs://x/g", "bob", "staff", 3),
    ]
    files.close()


def test_a_local_file_system_has_no_snapshots(tmp_path: Path) -> None:
    files, path = HadoopFiles("file://", {}), f"file://{tmp_path}"
    assert files.snapshots(path) is None
    for call in (
        lambda: files.allow_snapshots(path),
        lambda: files.create_snapshot(path, "s1"),
        lambda: files.delete_snapshot(path, "s1"),
        lambda: list(files.snapshot_changes(path, "s1", "")),
    ):
        with pytest.raises(Refused, match=f"{path}.* snapshots"):
            call()
