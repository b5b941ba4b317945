"""A data connector is read as the metastore keeps it; one that is not there is none."""

from typing import Any

from hive_metastore import ttypes

from tests.support.hive.thrift_server import serving
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore

KEPT = {
    "west": ttypes.DataConnector("west", "twinhive", "thrift://west:9083", "the west", {"a": "b"}),
    "bare": ttypes.DataConnector("bare", "mysql"),
}


class OfConnectors:
    """Knows data connectors only."""

    def get_dataconnector_req(self, request: Any) -> Any:
        if request.connectorName not in KEPT:
            raise ttypes.NoSuchObjectException("Dataconnector does not exist")
        return KEPT[request.connectorName]


def test_a_connector_is_read() -> None:
    with serving(OfConnectors()) as server:
        metastore = ThriftMetastore([server.address], 5.0)
        west = DataConnector("west", "twinhive", "thrift://west:9083", {"a": "b"}, "the west")
        assert metastore.connector("west") == west
        assert metastore.connector("bare") == DataConnector("bare", "mysql", "")
        assert metastore.connector("nowhere") is None
        metastore.close()
