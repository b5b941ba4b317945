"""What a gateway reads of the local metastore in bytes is what the bindings would read."""

import socket
from collections.abc import Iterator

import pytest
from hive_metastore import ttypes

from tests.support.wire.wire_messages import decoded, encoded, request, struct_class
from tests.support.wire.wire_metastore import Contents, WireMetastore
from twinhive.core.model.endpoints import MetastoreEndpoint
from twinhive.core.model.errors import Unexplained, Unreachable
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.federation.gateway.remote_definitions.blocking_metastore import BlockingMetastore
from twinhive.federation.gateway.remote_definitions.definition_reader import WireDefinitionReader
from twinhive.federation.remotes.kept_remotes import definitions_of
from twinhive.hive.events.event_types import KNOWN_TYPES
from twinhive.hive.wire.thrift_message import WireMessage, reply


class Scripted:
    """Answers by method, encoded by the bindings."""

    def __init__(self, **answers: object) -> None:
        self.answers = answers
        self.asked: list[WireMessage] = []

    def ask(self, doing: str, message: WireMessage) -> WireMessage:
        self.asked.append(message)
        kind = struct_class(reply(message.head.method, 0))
        return reply(message.head.method, 0, encoded(kind(success=self.answers[message.head.method])))


VIEW = ttypes.Table(
    tableName="orders",
    dbName="shop",
    tableType="VIRTUAL_VIEW",
    sd=ttypes.StorageDescriptor(cols=[ttypes.FieldSchema("twinhive_remote", "string")], parameters={"a": "b"}),
    parameters={"twinhive_remote": "sälé.orders", "hive.metastore.uris": "thrift://west:9083"},
    partitionKeys=[],
    viewExpandedText="SELECT 1",
)


def test_views_and_databases_are_read_as_the_bindings_read_them() -> None:
    asked = Scripted(
        get_table_meta=[ttypes.TableMeta("shop", "orders", "VIRTUAL_VIEW"), ttypes.TableMeta("shop", "x", "V")],
        get_table_names_by_filter=["orders"],
        get_table_objects_by_name_req=ttypes.GetTablesResult([VIEW]),
        get_database_req=ttypes.Database(
            name="Far", parameters={"twinhive_remote": "sales"}, connector_name="c", type=ttypes.DatabaseType.REMOTE
        ),
        get_dataconnectors=["c"],
        get_dataconnector_req=ttypes.DataConnector("c", "twinhive", "thrift://west:9083", "words", {"k": "v"}),
    )
    reader = WireDefinitionReader(asked)  # type: ignore[arg-type]
    (view,) = reader.views_with("twinhive_remote")
    database = reader.database("far")
    assert (str(view.name), view.parameters) == ("shop.orders", VIEW.parameters)
    assert database is not None and (database.name, database.connector) == ("Far", "c")
    assert reader.connectors() == {"c": DataConnector("c", "twinhive", "thrift://west:9083", {"k": "v"}, "words")}
    found = definitions_of([database], [view], reader.connectors())
    assert [str(one.remote) for one in found.tables.values()] == ["sälé.orders"]
    assert [one.remote for one in found.databases.values()] == ["sales"]


def test_what_is_asked_is_what_the_bindings_would_send() -> None:
    asked = Scripted(
        get_next_notification=ttypes.NotificationEventResponse(
            [
                ttypes.NotificationEvent(8, 1, "CREATE_TABLE", "Shop", "t", "{}"),
                ttypes.NotificationEvent(9, 1, "X", None),
            ]
        ),
        get_table_meta=[],
        get_table_names_by_filter=[],
        get_current_notificationEventId=ttypes.CurrentNotificationEventId(1 << 40),
    )
    reader = WireDefinitionReader(asked)  # type: ignore[arg-type]
    assert reader.newest_event() == 1 << 40
    assert reader.databases_changed_after(7) == {"shop"}
    assert reader.views_with("k") == [] == reader.views_of("shop", "k")
    sent = [decoded(struct_class(message), message.body) for message in asked.asked]
    assert (sent[1].rqst.lastEvent, sent[1].rqst.maxEvents) == (7, 300)
    assert "ADD_PARTITION" in sent[1].rqst.eventTypeSkipList
    # A name that no log has would leave nothing out.
    assert set(sent[1].rqst.eventTypeSkipList) <= KNOWN_TYPES.keys()
    assert sent[2] == decoded(
        struct_class(asked.asked[2]),
        request("get_table_meta", db_patterns="*", tbl_patterns="*", tbl_types=["VIRTUAL_VIEW"]).body,
    )
    assert (sent[3].filter, sent[3].max_tables) == ('hive_filter_field_params__k like ".*"', -1)


@pytest.fixture
def metastore() -> Iterator[WireMetastore]:
    made = WireMetastore(Contents("here"))
    yield made
    made.close()


def test_the_next_address_answers_and_a_lost_connection_is_opened_again(metastore: WireMetastore) -> None:
    reader = WireDefinitionReader(
        BlockingMetastore(MetastoreEndpoint((("127.0.0.1", 1), ("127.0.0.1", metastore.port)), 5, "ann"))
    )
    assert reader.log_id() == "here"
    metastore.hang_up()
    assert (reader.log_id(), reader.database_names(), reader.database("none")) == ("here", {"default"}, None)
    with pytest.raises(Unexplained, match="refused"):
        reader.connectors()


def test_who_does_not_answer_is_said_with_each_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = MetastoreEndpoint((("127.0.0.1", 1), silent.getsockname()), 1, None)
        with pytest.raises(Unreachable) as raised:
            WireDefinitionReader(BlockingMetastore(at)).log_id()
    assert "127.0.0.1:1: " in str(raised.value.found) and "timed out" in str(raised.value.found)
