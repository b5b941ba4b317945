"""Let REPL statements reach two clusters in memory instead of servers."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.worlds.fake_world import World
from twinhive.core.model.endpoints import FileSystemEndpoint, MetastoreEndpoint
from twinhive.core.ports import WritePorts
from twinhive.core.ports.proved_writes import unproved
from twinhive.runtime.wiring.policy_wiring import Servers
from twinhive.statements.execution import dumping, loader_replicas, repl_loading, statement_runner, table_files


def let_statements_reach(world: Callable[[], World], patch: pytest.MonkeyPatch) -> None:
    """Make the clusters east and west of a configuration those of a world."""

    def files(endpoint: FileSystemEndpoint) -> InMemoryFiles:
        known = {one.root: one for one in (world().source_files, world().replica_files)}
        return known[endpoint.root]

    def metastore(endpoint: MetastoreEndpoint) -> InMemoryMetastore:
        return world().source if endpoint.cluster == "east" else world().replica

    def ports_between(source: Servers, replica: Servers, dumps: FileSystemEndpoint) -> WritePorts:
        ports = world().ports()
        at_source, at_replica = source.with_one_name(ports.source), replica.with_one_name(unproved(ports.replica))
        return replace(ports, source=at_source, replica=at_replica, dump_files=files(dumps))

    for cluster in ("east", "west"):
        hdfs, thrift = {"uri": f"hdfs://{cluster}"}, f"{cluster}-metastore"
        patch.setenv(f"AIRFLOW_CONN_{cluster.upper()}_HDFS", json.dumps({"conn_type": "hdfs", "extra": hdfs}))
        patch.setenv(f"AIRFLOW_CONN_{cluster.upper()}_METASTORE", json.dumps({"host": thrift, "port": 9083}))
    patch.setattr(dumping, "files", files)
    patch.setattr(dumping, "metastore", metastore)
    patch.setattr(repl_loading, "files", files)
    patch.setattr(repl_loading, "ports_between", ports_between)
    patch.setattr(statement_runner, "metastore", metastore)
    patch.setattr(table_files, "files", files)
    patch.setattr(table_files, "table_writer", metastore)
    patch.setattr(loader_replicas, "metastore", metastore)
    patch.setattr(loader_replicas, "lease_keeper", lambda endpoint, settle_seconds: world().lease)
    patch.setattr(table_files, "lease_keeper", lambda endpoint, settle_seconds: world().lease)
