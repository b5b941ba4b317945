"""Hold the fake and the real file system to the same behaviour."""

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import AlreadyThere, Missing, Refused, SafeMode, TwinhiveError, Unreachable
from twinhive.core.model.files import Attributes, ChecksumForm, Creation, Usage, join
from twinhive.core.ports import FileWriter, TreeWriter
from twinhive.hive.adapters.hdfs.hadoop_errors import is_unknown_call
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.jvm.java_vm import java_class

AWKWARD = ("p=a b", "100%41", "a#b", "k=v=w", "Zoë 日本 \U0001f600", "[x]", "{a,b}", "*?", "back\\slash", "+&~'\"")


def _has_attributes(files: FileWriter) -> bool:
    return files.root != "file://"


def test_what_is_not_there(files: FileWriter, place: str) -> None:
    assert files.status(place) is None
    assert files.delete(place) is False
    assert list(files.list_directories([place])) == [(place, None)]
    for call in (
        lambda: files.read(place),
        lambda: files.open(place),
        lambda: files.usage(place),
        lambda: files.checksum(place, ChecksumForm.IDENTITY),
    ):
        with pytest.raises(Missing, match=place):
            call()


def test_write_makes_parents_and_replaces(files: FileWriter, place: str) -> None:
    path = f"{place}/a/b/f"
    files.write(path, b"one")
    files.write(path, b"three")
    assert files.read(path) == b"three"
    [(_, children)] = files.list_directories([f"{place}/a/b"])
    assert [child.path for child in children or []] == [path], "nothing temporary is left"


def test_status_of_a_file_and_of_a_directory(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"12345")
    file, directory = files.status(f"{place}/f"), files.status(place)
    assert file and directory
    assert (file.path, file.length, file.is_directory) == (f"{place}/f", 5, False)
    assert (directory.path, directory.length, directory.is_directory) == (place, 0, True)
    assert file.modified_ms > 1_600_000_000_000
    if files.root != "file://":
        assert file.file_id > 0 and file.file_id != directory.file_id
        assert file.permission == 0o644


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "x" * 223])
def test_a_file_with_the_longest_name_is_written(files: FileWriter, place: str, name: str) -> None:
    files.write(f"{place}/{name}", b"one")
    files.write(f"{place}/{name}", b"two")
    assert files.read(f"{place}/{name}") == b"two"


@pytest.mark.parametrize("odd", ["a/../b", "..", "./b", "a/.", "b\x00"])
def test_nothing_is_changed_at_a_path_that_is_another_place_than_it_says(
    files: FileWriter, place: str, odd: str
) -> None:
    files.write(f"{place}/a/b", b"one")
    files.write(f"{place}/b", b"two")
    path = f"{place}/{odd}"
    for call in (
        lambda: files.write(path, b"evil"),
        lambda: files.create_from(files.open(f"{place}/b"), path),
        lambda: files.append_from(files.open(f"{place}/b"), path),
        lambda: files.make_directories(path),
        lambda: files.make_private(path),
        lambda: files.rename(f"{place}/b", path),
        lambda: files.rename(path, f"{place}/c"),
        lambda: files.replace(f"{place}/b", path),
        lambda: files.replace(path, f"{place}/c"),
        lambda: files.delete(path),
        lambda: files.delete_file(path),
        lambda: files.to_trash(path),
        lambda: files.set_attribute(path, "user.x", "evil"),
    ):
        with pytest.raises(Refused, match="another place than it says"):
            call()
    assert (files.read(f"{place}/a/b"), files.read(f"{place}/b")) == (b"one", b"two")


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names_survive(files: FileWriter, place: str, name: str) -> None:
    path = f"{place}/{name}/{name}"
    files.write(path, b"x")
    [(listed, children)] = files.list_directories([f"{place}/{name}"])
    assert listed == f"{place}/{name}"
    assert [child.path for child in children or []] == [path]
    assert files.read(path) == b"x"
    assert files.rename(path, f"{path} 2") and files.status(f"{path} 2")


def test_lists_many_directories_in_order(files: FileWriter, place: str) -> None:
    for number in range(0, 230, 2):
        files.make_directories(f"{place}/d{number}")
    files.write(f"{place}/d100/b", b"")
    files.write(f"{place}/d100/a", b"")
    asked = [f"{place}/d{number}" for number in reversed(range(230))] + [place, f"{place}/d100"]
    listed = list(files.list_directories(iter(asked)))
    assert [path for path, _ in listed] == asked
    assert [path for path, children in listed if children is None] == [
        f"{place}/d{number}" for number in range(229, 0, -2)
    ]
    found = dict(listed)
    assert [child.path for child in found[f"{place}/d100"] or []] == [f"{place}/d100/a", f"{place}/d100/b"]
    assert found[f"{place}/d2"] == []
    names = [child.path for child in found[place] or []]
    assert len(names) == 115 and names == sorted(names)


def test_a_file_cannot_be_listed(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    with pytest.raises(Refused, match=f"{place}/f"):
        list(files.list_directories([f"{place}/f"]))


def test_usage_counts_what_is_below(files: FileWriter, place: str) -> None:
    files.write(f"{place}/a/f", b"12")
    files.write(f"{place}/g", b"345")
    assert files.usage(place) == Usage(length=5, files=2, directories=1)


def test_space_of_a_path_that_does_not_exist(files: FileWriter, place: str) -> None:
    assert files.space(f"{place}/not/yet", place).free_bytes > 0


def test_create_from_copies_and_never_overwrites(files: FileWriter, place: str) -> None:
    content = bytes(range(256)) * 5000
    files.write(f"{place}/f", content)
    assert files.create_from(files.open(f"{place}/f"), f"{place}/new/g").length == len(content)
    assert files.read(f"{place}/new/g") == content
    with pytest.raises(AlreadyThere, match=f"{place}/f"):
        files.create_from(files.open(f"{place}/new/g"), f"{place}/f")


def test_an_empty_file_is_a_file(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    assert files.create_from(files.open(f"{place}/f"), f"{place}/g").length == 0
    status = files.status(f"{place}/g")
    assert status and status.length == 0


def test_checksums(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"a" * 5000)
    files.create_from(files.open(f"{place}/f"), f"{place}/g", how=Creation(block_size=1024))
    files.write(f"{place}/h", b"b" * 5000)
    identity = [files.checksum(f"{place}/{name}", ChecksumForm.IDENTITY) for name in "fgh"]
    comparison = [files.checksum(f"{place}/{name}", ChecksumForm.COMPARISON) for name in "fgh"]
    if files.root == "file://":
        assert identity == comparison == [None] * 3
        return
    assert len(set(identity)) == 3, "the identity depends on the block size"
    assert comparison[0] == comparison[1] != comparison[2]
    assert {len(text or "") for text in identity} == {56}, "as long as in the change manager's names"


def test_rename_never_overwrites_nor_moves_into(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"f")
    files.write(f"{place}/g", b"g")
    files.make_directories(f"{place}/d")
    assert not files.rename(f"{place}/f", f"{place}/g")
    assert not files.rename(f"{place}/f", f"{place}/d")
    assert not files.rename(f"{place}/none", f"{place}/new")
    assert files.rename(f"{place}/f", f"{place}/d/f")
    assert files.rename(f"{place}/d", f"{place}/e")
    assert files.read(f"{place}/e/f") == b"f" and files.read(f"{place}/g") == b"g"


def test_rename_does_not_make_directories(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    with pytest.raises(Missing, match=f"{place}/gone"):
        files.rename(f"{place}/f", f"{place}/gone/f")


def test_rename_keeps_time_and_file_id(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"f")
    before = files.status(f"{place}/f")
    assert files.rename(f"{place}/f", f"{place}/g")
    after = files.status(f"{place}/g")
    assert before and after
    assert (before.modified_ms, before.file_id) == (after.modified_ms, after.file_id)


def test_delete_takes_whole_directories(files: FileWriter, place: str) -> None:
    files.write(f"{place}/a/b/f", b"")
    assert files.delete(f"{place}/a")
    assert files.status(f"{place}/a/b/f") is None


def test_delete_file_takes_no_directory_with_something_in_it(files: FileWriter, place: str) -> None:
    files.write(f"{place}/a/f", b"")
    with pytest.raises(Refused):
        files.delete_file(f"{place}/a")
    assert files.delete_file(f"{place}/a/f") and not files.delete_file(f"{place}/a/f")
    assert files.delete_file(f"{place}/a") and not files.delete_file(f"{place}/a")


def test_only_its_owner_may_look_into_a_private_directory(files: FileWriter, place: str) -> None:
    files.make_private(f"{place}/a/mine")
    mine, around = files.status(f"{place}/a/mine"), files.status(f"{place}/a")
    assert mine and around and mine.is_directory
    has_permissions = files.root != "file://"
    assert not has_permissions or (mine.permission == 0o700 and around.permission & 0o055)
    files.write(f"{place}/a/mine/f", b"")
    files.make_private(f"{place}/a/mine")
    assert files.status(f"{place}/a/mine/f")
    files.make_directories(f"{place}/a/open")
    files.make_private(f"{place}/a/open")
    opened = files.status(f"{place}/a/open")
    assert opened and (not has_permissions or opened.permission & 0o055)


def test_where_its_owner_may_not_write_no_name_comes_or_goes(
    files: TreeWriter, place: str, request: pytest.FixtureRequest
) -> None:
    if files.root == "file://":
        pytest.skip("a local superuser writes anywhere")
    if isinstance(files, HadoopFiles):  # of the sandbox's superuser
        files.make_directories(place)
        files.set_attributes(place, Attributes(owner="ann"))
        files = HadoopFiles(files.root, request.getfixturevalue("sandbox").clusters["east"].hadoop_properties, "ann")
        request.addfinalizer(files.close)
    files.write(f"{place}/a/below/f", b"x")
    files.set_permission(f"{place}/a/below", 0o555)
    closed = files.status(f"{place}/a/below")
    assert closed and closed.permission == 0o555
    changes = {
        "a new file": lambda: files.write(f"{place}/a/below/g", b""),
        "a new directory": lambda: files.make_directories(f"{place}/a/below/d/e"),
        "a file away": lambda: files.delete_file(f"{place}/a/below/f"),
        "a file elsewhere": lambda: files.rename(f"{place}/a/below/f", f"{place}/a/f"),
        "all of it away": lambda: files.delete(f"{place}/a"),
    }
    for what, change in changes.items():
        with pytest.raises(Refused):
            change()
            raise AssertionError(what)
    assert files.read(f"{place}/a/below/f") == b"x"
    assert files.rename(f"{place}/a/below", f"{place}/b")  # the directory around it decides
    files.set_permission(f"{place}/b", 0o755)
    assert files.delete(f"{place}/b")


def test_make_directories_twice_and_over_a_file(files: FileWriter, place: str) -> None:
    files.make_directories(f"{place}/a/b")
    files.make_directories(f"{place}/a/b")
    files.write(f"{place}/f", b"")
    with pytest.raises(AlreadyThere):
        files.make_directories(f"{place}/f")


def test_attributes(files: FileWriter, place: str) -> None:
    files.write(f"{place}/f", b"")
    assert files.attribute(f"{place}/f", "user.twinhive") is None
    if not _has_attributes(files):
        with pytest.raises(Refused):
            files.set_attribute(f"{place}/f", "user.twinhive", "1")
        return
    files.set_attribute(f"{place}/f", "user.twinhive", "é")
    files.set_attribute(f"{place}/f", "user.twinhive", "ö")
    assert files.attribute(f"{place}/f", "user.twinhive") == "ö"
    with pytest.raises(Missing):
        files.set_attribute(f"{place}/none", "user.twinhive", "1")
    with pytest.raises(Missing):
        files.attribute(f"{place}/none", "user.twinhive")


def test_a_healthy_file_system_is_not_in_safe_mode(files: FileWriter) -> None:
    assert files.in_safe_mode() is False


@pytest.mark.sandbox
class TestOnlyTheRealOne:
    """What needs a real NameNode to be said."""

    @pytest.fixture
    def hdfs(self, sandbox: Any) -> Iterator[HadoopFiles]:
        cluster = sandbox.clusters["east"]
        adapter = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
        yield adapter
        adapter.close()

    @pytest.fixture
    def directory(self, hdfs: HadoopFiles) -> Iterator[str]:
        path = join(hdfs.root, "tmp", f"contract-{uuid.uuid4().hex}")
        hdfs.make_directories(path)
        yield path
        hdfs.delete(path)

    def test_two_clusters_and_two_users_in_one_process(self, sandbox: Any, hdfs: HadoopFiles, directory: str) -> None:
        east, west = sandbox.clusters["east"], sandbox.clusters["west"]
        stranger = HadoopFiles(east.hdfs_uri, east.hadoop_properties, "stranger")
        other = HadoopFiles(west.hdfs_uri, west.hadoop_properties, west.user)
        with pytest.raises(Refused, match=directory) as refused:
            stranger.write(f"{directory}/f", b"")
        assert "stranger" in str(refused.value) and "\tat " not in str(refused.value)
        hdfs.write(f"{directory}/f", b"east")
        copy = directory.replace(hdfs.root, other.root)
        assert other.create_from(hdfs.open(f"{directory}/f"), f"{copy}/f", how=Creation(block_size=4096)).length == 4
        form = ChecksumForm.COMPARISON
        assert other.checksum(f"{copy}/f", form) == hdfs.checksum(f"{directory}/f", form)
        other.delete(copy)

    def test_the_top_is_a_directory_that_may_be_made_and_is_never_deleted(self, hdfs: HadoopFiles) -> None:
        hdfs.make_directories(hdfs.root)
        top = hdfs.status(hdfs.root)
        assert top is not None and top.is_directory
        before = [child.path for _, page in hdfs.list_directories([f"{hdfs.root}/"]) for child in page or ()]
        for call in (hdfs.delete, hdfs.delete_file):
            with pytest.raises(Refused, match="cannot be used like this"):
                call(hdfs.root)
        with pytest.raises(Refused, match="cannot be used like this"):
            hdfs.rename(hdfs.root, f"{hdfs.root}/elsewhere")
        assert [child.path for _, page in hdfs.list_directories([f"{hdfs.root}/"]) for child in page or ()] == before

    def test_a_server_that_cannot_list_in_bulk(self, hdfs: HadoopFiles, directory: str) -> None:
        hdfs.write(f"{directory}/a/f", b"")
        asked = [f"{directory}/a", f"{directory}/none", directory]
        in_bulk = list(hdfs.list_directories(asked))
        hdfs._client.lists_in_bulk = False
        assert list(hdfs.list_directories(asked)) == in_bulk
        unknown = java_class("org.apache.hadoop.ipc.RpcNoSuchMethodException").class_.getName()
        assert is_unknown_call(java_class("org.apache.hadoop.ipc.RemoteException")(unknown, "getBatchedListing"))

    def test_a_block_without_an_intact_replica(self, sandbox: Any, hdfs: HadoopFiles, directory: str) -> None:
        content = b"some rows " * 1000
        hdfs.write(f"{directory}/f", content)
        java = hdfs._client.java
        blocks = java.getClient().getLocatedBlocks(hdfs._client.to_java(f"{directory}/f").toUri().getPath(), 0)
        [block] = sandbox.root.rglob(str(blocks.get(0).getBlock().getBlockName()))
        block.write_bytes(b"S" + content[1:])
        with pytest.raises(Unreachable, match="no intact replica"):
            hdfs.read(f"{directory}/f")
        with pytest.raises(Unreachable, match=f"{directory}/f: {hdfs.root} gave no intact replica"):
            hdfs.create_from(hdfs.open(f"{directory}/f"), f"{directory}/g")
        hdfs.create_from(hdfs.open(f"{directory}/f", verified=False), f"{directory}/h")
        assert hdfs.read(f"{directory}/h") == b"S" + content[1:]

    @pytest.mark.parametrize("kind", ["CRC32", "CRC32C"])
    def test_a_client_that_guards_blocks_otherwise(self, sandbox: Any, directory: str, kind: str) -> None:
        cluster = sandbox.clusters["east"]
        properties = {**cluster.hadoop_properties, "dfs.checksum.type": kind}
        files = HadoopFiles(cluster.hdfs_uri, properties, cluster.user)
        files.write(f"{directory}/f", b"some rows")
        written = files.create_from(files.open(f"{directory}/f"), f"{directory}/g")
        assert written.checksum == files.checksum(f"{directory}/g", ChecksumForm.COMPARISON)
        assert files.checksum_type(f"{directory}/g") == f"{kind}/512"
        files.close()

    def test_quotas(self, hdfs: HadoopFiles, directory: str) -> None:
        hdfs.make_directories(f"{directory}/a/b")
        java = hdfs._client
        java.java.setQuota(java.to_java(directory), 10, 1_000_000_000)
        java.java.setQuota(java.to_java(f"{directory}/a"), 5, 2_000_000_000)
        space = hdfs.space(f"{directory}/a/b/not/yet", directory)
        assert (space.quota_names_left, space.quota_bytes_left) == (3, 1_000_000_000)
        space = hdfs.space(f"{directory}/a/b/not/yet", f"{directory}/a")
        assert (space.quota_names_left, space.quota_bytes_left) == (3, 2_000_000_000)
        assert hdfs.space(f"{directory}/a/b/not/yet", f"{directory}/a/b/not").quota_names_left is None
        java.java.setQuota(java.to_java(directory), 3, 1_000_000_000)
        with pytest.raises(Refused, match="quota"):
            hdfs.write(f"{directory}/a/f", b"")

    def test_quotas_of_names_and_open_files(self, hdfs: HadoopFiles, directory: str) -> None:
        fake = InMemoryFiles(hdfs.root)
        for files in (hdfs, fake):
            files.make_directories(f"{directory}/a/b")
            files.write(f"{directory}/a/f", b"rows")
            assert files.name_quota(f"{directory}/a") is None
            files.set_name_quota(f"{directory}/a", 50)
            assert files.name_quota(f"{directory}/a") == 50
            files.set_name_quota(f"{directory}/a", 1)
            for change in (
                lambda files=files: files.write(f"{directory}/a/b/g", b"late"),
                lambda files=files: files.make_directories(f"{directory}/a/c"),
            ):
                with pytest.raises(Refused, match="quota"):
                    change()
            assert files.delete_file(f"{directory}/a/f")
            files.set_name_quota(f"{directory}/a", None)
            files.write(f"{directory}/a/b/g", b"rows")
            with pytest.raises(Missing):
                files.set_name_quota(f"{directory}/none", 1)
            assert files.open_files(directory, 5) == []
        client = hdfs._client
        stream = client.java.create(client.to_java(f"{directory}/a/open"))
        client.java.create(client.to_java(f"{directory}/ab")).close()
        try:
            stream.write(b"x")
            stream.hflush()
            assert hdfs.open_files(f"{directory}/a", 5) == [f"{directory}/a/open"]
            assert hdfs.open_files(f"{directory}/a/b", 5) == []
        finally:
            stream.close()

    def test_safe_mode(self, hdfs: HadoopFiles, directory: str) -> None:
        actions = java_class("org.apache.hadoop.fs.SafeModeAction")
        hdfs._client.java.setSafeMode(actions.ENTER)
        try:
            assert hdfs.in_safe_mode()
            with pytest.raises(SafeMode, match=directory):
                hdfs.write(f"{directory}/f", b"")
        finally:
            hdfs._client.java.setSafeMode(actions.LEAVE)
        assert not hdfs.in_safe_mode()

    @pytest.mark.thorough
    @pytest.mark.parametrize("server", ["west-namenode", "west-datanode"])
    def test_a_dead_server_is_unreachable_within_seconds(self, sandbox: Any, server: str) -> None:
        cluster = sandbox.clusters["west"]
        files = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
        path = f"{cluster.hdfs_uri}/tmp/contract-{uuid.uuid4().hex}"
        files.write(path, b"x")
        sandbox.stop(server)
        try:
            started = time.monotonic()
            with pytest.raises(Unreachable, match=path):
                files.write(f"{path}2", b"x")
            with pytest.raises(TwinhiveError) as caught:
                files.read(path)
            assert isinstance(caught.value, Unreachable)
            assert time.monotonic() - started < 60
        finally:
            sandbox.up(server)
        assert files.read(path) == b"x"
        files.delete(path)
        files.close()
