"""What a gateway's errors are on real servers: of which class, and never 'none' of what is elsewhere."""

import json

import pytest
from hive_metastore import ttypes
from hmsclient import HMSClient  # type: ignore[import-untyped]
from thrift.Thrift import TApplicationException
from thrift.transport.TTransport import TTransportException

from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import free_ports
from tests.integration.remotes_desk import BOTH, Desk, desk
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.wire.wire_metastore import client_of
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import StatementPlace, run_statement

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]
__all__ = ["desk"]


def test_no_answer_is_no_word_of_locks_and_no_partitions_of_a_stub_are_an_error(
    desk: Desk, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.say(BOTH)
    in_west = StatementPlace(load_configuration(desk.config), resolve_from_environment, "west")
    kept = "CREATE REMOTE TABLE {sales}.stub CONNECTED TO {sales}.parts WITH TBLPROPERTIES ({uris})"
    run_statement(desk.meant(kept), in_west, {}, desk.lines.append)
    cluster = sandbox.clusters["east"]
    proxy = CuttingProxy((cluster.metastore_host, cluster.metastore_port))
    host, port = proxy.address
    connection = {"conn_type": "hive_metastore", "host": host, "port": port}
    monkeypatch.setenv("AIRFLOW_CONN_EAST_METASTORE", json.dumps(connection))
    (at,) = free_ports(1)
    with running_gateway(desk.config, at):
        with client_of(at) as client:
            for call in (
                lambda: client.get_partitions(desk.far, "stub", -1),
                lambda: client.get_partitions_pspec(desk.far, "stub", -1),
                lambda: client.get_partition_by_name(desk.far, "stub", "day=2026-01-01"),
            ):
                with pytest.raises(ttypes.MetaException, match="is itself a remote table"):
                    call()
            assert len(client.get_partition_names(desk.far, "parts", -1)) == 10
            assert client.get_partition_names(desk.far, "orders", -1) == []
            bought = client.get_table_req(ttypes.GetTableRequest(dbName=desk.shop, tblName="bought")).table
            with pytest.raises(ttypes.AlreadyExistsException, match="already exists"):
                client.create_table(bought)
        old = HMSClient(host="127.0.0.1", port=at)
        old.open()
        with pytest.raises(TApplicationException, match="UnknownDBException: Could not find database"):
            old.get_table_objects_by_name("nothing_such", ["t"])
        with pytest.raises(TApplicationException, match="is itself a remote table"):
            old.get_partition_names(desk.far, "stub", -1)
        old.close()
        proxy.cuts = True
        proxy.close()
        for method, request in (
            ("heartbeat", ttypes.HeartbeatRequest(lockid=7)),
            ("unlock", ttypes.UnlockRequest(7)),
            ("commit_txn", ttypes.CommitTxnRequest(7)),
        ):
            with client_of(at) as client, pytest.raises(TTransportException):
                getattr(client, method)(request)
        with client_of(at) as client, pytest.raises(ttypes.MetaException, match="local metastore"):
            client.get_all_databases()
