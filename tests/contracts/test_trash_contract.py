"""Hold the trash of the fake and of the real file systems to the same behaviour."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_trash import TRASH
from twinhive.core.model.errors import Refused, SafeMode
from twinhive.core.model.files import Attributes, base_name, parent
from twinhive.core.ports import FileWriter
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.jvm.java_vm import java_class

KEPT = {"fs.trash.interval": "60"}


@dataclass(frozen=True)
class Bin:
    """A file system that keeps a trash, and where that is."""

    files: FileWriter
    directory: str
    place: str

    def of(self, path: str) -> str:
        """Return where a path is in the trash."""
        return f"{self.directory}/Current{path.removeprefix(self.files.root)}"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Give Java another home, so that no trash comes into that of the developer."""
    java = java_class("java.lang.System")
    before = java.setProperty("user.home", str(tmp_path / "home"))
    yield tmp_path / "home"
    java.setProperty("user.home", before)


@pytest.fixture(params=["fake", "local", pytest.param("hdfs", marks=pytest.mark.sandbox)])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bin]:
    if request.param == "fake":
        fake = InMemoryFiles()
        fake.keeps_trash = True
        yield Bin(fake, f"{fake.root}{TRASH}", f"{fake.root}/data/place")
        return
    if request.param == "local":
        local = HadoopFiles("file://", KEPT)
        yield Bin(local, f"file://{request.getfixturevalue('home')}/.Trash", f"file://{tmp_path}/place")
        local.close()
        return
    cluster = request.getfixturevalue("sandbox").clusters["east"]
    hdfs = HadoopFiles(cluster.hdfs_uri, {**cluster.hadoop_properties, **KEPT}, cluster.user)
    found = Bin(hdfs, f"{hdfs.root}/user/{cluster.user}/.Trash", f"{hdfs.root}/tmp/trash-contract")
    yield found
    for directory in (found.directory, found.place):
        hdfs.delete(directory)
    hdfs.close()


def test_a_directory_goes_to_the_trash_as_a_whole(kept: Bin) -> None:
    files, path = kept.files, f"{kept.place}/sales.db/p=a%20b.12"
    files.write(f"{path}/sub/f", b"rows")
    assert files.to_trash(path)
    assert files.status(path) is None and files.status(parent(path))
    assert files.read(f"{kept.of(path)}/sub/f") == b"rows"


def test_a_file_goes_to_the_trash(kept: Bin) -> None:
    kept.files.write(f"{kept.place}/f", b"rows")
    assert kept.files.to_trash(f"{kept.place}/f")
    assert kept.files.read(kept.of(f"{kept.place}/f")) == b"rows"


def test_what_is_in_the_trash_under_the_same_name_stays_beside_it(kept: Bin) -> None:
    path = f"{kept.place}/d"
    for content in (b"one", b"two"):
        kept.files.write(f"{path}/f", content)
        assert kept.files.to_trash(path)
    ((_, children),) = kept.files.list_directories([parent(kept.of(path))])
    assert sorted(kept.files.read(f"{child.path}/f") for child in children or ()) == [b"one", b"two"]
    assert kept.files.read(f"{kept.of(path)}/f") == b"one"
    assert all(base_name(child.path).startswith("d") for child in children or ())


def test_nothing_comes_of_what_is_not_there(kept: Bin) -> None:
    assert kept.files.to_trash(f"{kept.place}/none") is False
    assert kept.files.status(kept.of(f"{kept.place}/none")) is None


def test_without_a_trash_everything_stays_where_it_is(files: FileWriter, place: str) -> None:
    files.write(f"{place}/d/f", b"rows")
    assert files.to_trash(f"{place}/d") is False
    assert files.read(f"{place}/d/f") == b"rows"


def test_the_trash_itself_and_what_is_in_it_is_refused(kept: Bin) -> None:
    kept.files.write(f"{kept.place}/f", b"rows")
    kept.files.to_trash(f"{kept.place}/f")
    for path in (kept.of(f"{kept.place}/f"), parent(kept.directory)):
        with pytest.raises(Refused, match=path):
            kept.files.to_trash(path)
    assert kept.files.read(kept.of(f"{kept.place}/f")) == b"rows"


@pytest.mark.sandbox
class TestOnHdfs:
    """What has users, rights and a server that decides."""

    @pytest.fixture
    def east(self, sandbox: Sandbox) -> Iterator[HadoopFiles]:
        cluster = sandbox.clusters["east"]
        files = HadoopFiles(cluster.hdfs_uri, {**cluster.hadoop_properties, **KEPT}, cluster.user)
        yield files
        for path in ("/tmp/trash-contract", "/user/stranger", "/user/other", f"/user/{cluster.user}/.Trash"):
            files.delete(f"{files.root}{path}")
        files.close()

    @pytest.fixture
    def stranger(self, sandbox: Sandbox) -> Iterator[HadoopFiles]:
        cluster = sandbox.clusters["east"]
        files = HadoopFiles(cluster.hdfs_uri, {**cluster.hadoop_properties, **KEPT}, "stranger")
        yield files
        files.close()

    def test_what_lies_in_the_home_of_another_user_goes_to_the_trash_of_our_own(
        self, sandbox: Sandbox, east: HadoopFiles
    ) -> None:
        path = f"{east.root}/user/other/d"
        east.write(f"{path}/f", b"rows")
        assert east.to_trash(path)
        mine = f"{east.root}/user/{sandbox.clusters['east'].user}/.Trash/Current"
        assert east.read(f"{mine}/user/other/d/f") == b"rows"

    def test_a_user_without_a_home_is_told_where_a_right_is_missing(
        self, east: HadoopFiles, stranger: HadoopFiles, capfd: Any
    ) -> None:
        path = f"{east.root}/tmp/trash-contract/own"
        stranger.write(f"{path}/f", b"rows")
        with pytest.raises(Refused, match=path) as refused:
            stranger.to_trash(path)
        assert 'user=stranger, access=WRITE, inode="/user"' in str(refused.value)
        assert stranger.read(f"{path}/f") == b"rows"
        assert "TrashPolicy" not in capfd.readouterr().err, "what is an error of ours is not logged by Java too"

    def test_what_is_not_ours_stays(self, sandbox: Sandbox, east: HadoopFiles, stranger: HadoopFiles) -> None:
        path = f"{east.root}/tmp/trash-contract/d"
        east.write(f"{path}/f", b"rows")
        east.make_directories(f"{east.root}/user/stranger")
        east.set_attributes(f"{east.root}/user/stranger", Attributes(owner="stranger"))
        east.set_attributes(parent(path), Attributes(permission=0o755))
        with pytest.raises(Refused, match="permission denied"):
            stranger.to_trash(path)
        assert east.read(f"{path}/f") == b"rows"

    def test_safe_mode(self, east: HadoopFiles) -> None:
        path = f"{east.root}/tmp/trash-contract/d"
        east.write(f"{path}/f", b"rows")
        actions = java_class("org.apache.hadoop.fs.SafeModeAction")
        east._client.java.setSafeMode(actions.ENTER)
        try:
            with pytest.raises(SafeMode, match=path):
                east.to_trash(path)
        finally:
            east._client.java.setSafeMode(actions.LEAVE)

    def test_the_server_decides_whether_a_trash_is_kept(self, sandbox: Sandbox) -> None:
        cluster = sandbox.clusters["west"]
        sandbox.stop("west-namenode")
        sandbox.start("west-namenode", KEPT)
        files = HadoopFiles(cluster.hdfs_uri, {**cluster.hadoop_properties, "fs.trash.interval": "0"}, cluster.user)
        path, trash = f"{files.root}/tmp/trash-contract/d", f"{files.root}/user/{cluster.user}/.Trash"
        try:
            files.make_directories(f"{path}/sub")
            assert files.to_trash(path)
            assert files.status(f"{trash}/Current/tmp/trash-contract/d/sub")
        finally:
            for directory in (parent(path), trash):
                files.delete(directory)
            files.close()
            sandbox.stop("west-namenode")
            sandbox.start("west-namenode")
