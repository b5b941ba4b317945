"""Give the contract tests a fake and a real metastore or file system."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive.contract_metastores import KNOWN_KEY, SourceCluster, a_database_on, drop_database
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.messages.running_broker import RunningBroker
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from twinhive.core.ports import MetastoreWriter, TreeWriter
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles

BOTH = ["fake", pytest.param("real", marks=pytest.mark.sandbox)]


@pytest.fixture(params=BOTH)
def metastore(request: pytest.FixtureRequest) -> Iterator[MetastoreWriter]:
    if request.param == "fake":
        fake = InMemoryMetastore()
        fake.configurations[fake.addresses()[0]][KNOWN_KEY] = "true"
        yield fake
    else:
        yield request.getfixturevalue("real")


@pytest.fixture
def real(sandbox: Any) -> Iterator[ThriftSource]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource(
        [(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user, file_system=cluster.hdfs_uri
    )
    yield metastore
    metastore.close()


@pytest.fixture(params=BOTH)
def cluster(request: pytest.FixtureRequest) -> Iterator[SourceCluster]:
    if request.param == "fake":
        files = InMemoryFiles("hdfs://east")
        yield SourceCluster(InMemoryMetastore(files=files), files, "hdfs://east/cmroot")
        return
    east = request.getfixturevalue("sandbox").clusters["east"]
    adapter = HadoopFiles(east.hdfs_uri, east.hadoop_properties, east.user)
    yield SourceCluster(request.getfixturevalue("real"), adapter, east.cmroot)
    adapter.close()


@pytest.fixture
def writer(cluster: SourceCluster) -> Iterator[SourceWriter]:
    """Give the writer of a database that is a source of replication."""
    name = f"contract_{uuid.uuid4().hex[:12]}"
    yield SourceWriter.with_database(cluster.metastore, cluster.files, name)
    drop_database(cluster.metastore, name)


@pytest.fixture
def database(metastore: MetastoreWriter) -> Iterator[str]:
    with a_database_on(metastore) as name:
        yield name


@pytest.fixture
def real_database(real: ThriftSource) -> Iterator[str]:
    with a_database_on(real) as name:
        yield name


@pytest.fixture(params=["fake", "local", pytest.param("hdfs", marks=pytest.mark.sandbox)])
def files(request: pytest.FixtureRequest) -> Iterator[TreeWriter]:
    if request.param == "fake":
        yield InMemoryFiles()
        return
    if request.param == "local":
        adapter = HadoopFiles("file://", {})
    else:
        cluster = request.getfixturevalue("sandbox").clusters["east"]
        adapter = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
    yield adapter
    adapter.close()


@pytest.fixture
def place(files: TreeWriter, tmp_path: Any) -> Iterator[str]:
    """Give each test a directory of its own, as a URI that does not exist yet."""
    name = f"{tmp_path}/files" if files.root == "file://" else f"/tmp/contract-{uuid.uuid4().hex}"
    yield f"{files.root}{name}"
    files.delete(f"{files.root}{name}")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """Run a broker for the tests of a module."""
    broker = RunningBroker(tmp_path_factory.mktemp("broker"))
    broker.start()
    yield broker
    broker.kill()
