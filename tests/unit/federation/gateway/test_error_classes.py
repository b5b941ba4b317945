"""What each method's errors are of: no answer is never 'no such lock', 'no such transaction', 'no such method'."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from hmsclient.genthrift.hive_metastore import ThriftHiveMetastore as OldService  # type: ignore[import-untyped]
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TTransport import TMemoryBuffer

from tests.support.servers.breaking_server import BreakingServer
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import AnsweringMetastore, whole_message
from tests.unit.federation.gateway.test_each_method import OWN, Call
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.call_outcomes import error_answer
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.thrift_message import (
    INTERNAL_ERROR,
    UNKNOWN_METHOD,
    MessageKind,
    WireMessage,
    application_error,
    call,
    message_of,
    reply,
)

ASKED = [name for name, kind in KIND_OF.items() if kind is not MethodKind.NEVER]
HUNG_UP = "hung up on"
THRIFTS_OWN = "TApplicationException"
OF_LOCKS_AND_SETTINGS = [
    *("abort_txn", "abort_txns", "check_lock", "commit_txn", "lock", "heartbeat", "unlock"),
    *("add_dynamic_partitions", "get_config_value"),
]
"""All that they declare says something of a lock, a transaction, a setting."""


def class_of(answer: WireMessage) -> str:
    """Return the class of an error, as Java's client throws it."""
    if answer.head.kind is MessageKind.EXCEPTION:
        return THRIFTS_OWN
    return METHODS[answer.head.method].exceptions[int.from_bytes(answer.raw[answer.at + 1 : answer.at + 3])]


def asked(port: int, message: WireMessage) -> str:
    """Return the class of the error that a call ends in."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as client:
        client.sendall(message.raw)
        try:
            read = whole_message(client)
        except ConnectionResetError:
            return HUNG_UP
    return HUNG_UP if read is None else class_of(read[0])


@contextmanager
def gateway_of(port: int) -> Iterator[RunningGateway]:
    """Serve with a remote database `far`, at the same port."""
    far = RemoteDatabase("far", "sales", properties={"port": str(port)})
    gateway = RunningGateway(port, Definitions({}, {"far": far}))
    try:
        yield gateway
    finally:
        gateway.stop()


def away() -> int:
    """Return a port that nobody listens at."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def expected_of_no_answer(method: str) -> str:
    """Return what the gateway itself says of it, or does."""
    if "MetaException" not in METHODS[method].exceptions.values():
        return HUNG_UP
    return THRIFTS_OWN if method == "get_partition_names" else "MetaException"


def test_a_local_metastore_that_is_away_is_said_by_no_exception_of_another_meaning() -> None:
    with gateway_of(away()) as gateway:
        found = {method: asked(gateway.port, Call(method, "", OWN).message) for method in ASKED}
    assert found == {method: expected_of_no_answer(method) for method in ASKED}
    assert {found[method] for method in OF_LOCKS_AND_SETTINGS} == {HUNG_UP}


def test_a_call_whose_answer_is_lost_is_said_by_no_exception_of_another_meaning() -> None:
    here = BreakingServer(lambda data: [None])
    with gateway_of(here.port) as gateway:
        found = {method: asked(gateway.port, Call(method, "", OWN).message) for method in ASKED}
    here.close()
    assert found == {method: expected_of_no_answer(method) for method in ASKED}


def test_who_is_hung_up_on_is_counted_as_failed_and_may_connect_again() -> None:
    with gateway_of(away()) as gateway:
        assert asked(gateway.port, call("heartbeat", 1)) == HUNG_UP
        assert asked(gateway.port, call("heartbeat", 1)) == HUNG_UP
        ended = dict(gateway.counts.calls)
    assert ended == {("local", "heartbeat", "failed"): 2}


def test_who_waits_in_vain_is_hung_up_on_also_where_the_call_went_the_quick_way() -> None:
    asked_for: list[str] = []

    def once(message: WireMessage) -> bytes:
        asked_for.append(message.head.method)
        return reply(message.head.method, message.head.sequence).raw if len(asked_for) == 1 else b""

    here = AnsweringMetastore(once)
    gateway = RunningGateway(here.port, local_seconds=0.4)
    with closing(socket.create_connection(("127.0.0.1", gateway.port), timeout=20)) as client:
        client.sendall(call("get_open_txns", 1).raw)
        assert whole_message(client) is not None
        client.sendall(call("get_open_txns", 2).raw)
        assert whole_message(client) is None
    gateway.stop()
    here.close()
    assert asked_for == ["get_open_txns"] * 2


def test_a_remote_that_is_away_is_said_by_no_exception_of_another_meaning() -> None:
    there = TableName("far", "t")
    reads = [
        (method, place.path)
        for method, kind in KIND_OF.items()
        if kind is MethodKind.READ
        for place in METHODS[method].request
    ]
    with gateway_of(away()) as gateway:
        found = {(method, asked(gateway.port, Call(method, path, there).message)) for method, path in reads}
    classes = {one for _, one in found}
    assert classes <= {"MetaException", THRIFTS_OWN, HUNG_UP}
    assert {method for method, one in found if one == THRIFTS_OWN} == {
        "get_partition_names",
        "get_latest_committed_compaction_info",
    }


_LOCAL_READS = """
get_all_databases get_database get_database_req get_databases get_databases_req getCounter getCounters getCpuProfile
getMetaConf getName getOption getOptions getStatus getStatusDetails getVersion get_active_resource_plan
get_all_functions get_all_materialized_view_objects_for_rewriting get_all_resource_plans get_all_token_identifiers
get_all_write_event_info get_catalog get_catalogs get_config_value get_current_notificationEventId
get_dataconnector_req get_dataconnectors get_file_metadata get_file_metadata_by_expr get_latest_txnid_in_conflict
get_master_keys get_materialization_invalidation_info get_metastore_db_uuid get_next_notification
get_notification_events_count get_open_txns get_open_txns_info get_open_txns_req get_principals_in_role
get_privilege_set get_properties get_replication_metrics get_resource_plan get_role_grants_for_principal
get_role_names get_runtime_stats get_scheduled_query get_schemas_by_cols get_serde get_token
get_triggers_for_resourceplan get_type get_type_all list_privileges list_roles partition_name_has_valid_characters
partition_name_to_spec partition_name_to_vals show_compact show_locks
"""
TWICE = [
    *_LOCAL_READS.split(),
    *[name for name, kind in KIND_OF.items() if kind in (MethodKind.READ, MethodKind.SEVERAL, MethodKind.SESSION)],
]
"""Each looked at: it makes nothing, changes nothing, and takes nothing away."""


def test_what_makes_something_is_sent_once_when_its_answer_is_lost() -> None:
    """A delegation token is made by each call, though the method is called like a read."""
    sent: list[bytes] = []

    def lost(data: bytes) -> list[bytes | None]:
        sent.append(data)
        return [None]

    here = BreakingServer(lost)
    with gateway_of(here.port) as gateway:
        for method in ASKED:
            asked(gateway.port, Call(method, "", OWN).message)
    here.close()
    times = {method: sum(method.encode() == message_of(one).head.method.encode() for one in sent) for method in ASKED}
    assert times == {method: 2 if method in TWICE else 1 for method in ASKED}


@pytest.mark.parametrize(
    "method",
    ["create_table", "create_table_req", "create_table_with_constraints", "create_table_with_environment_context"],
)
def test_a_table_under_the_name_of_a_remote_table_already_exists(method: str) -> None:
    """Who creates a table if it is not there asks for that class, and goes on."""
    bought = TableName("shop", "bought")
    gateway = RunningGateway(
        away(),
        Definitions({bought: RemoteTable(bought, bought)}, {"far": RemoteDatabase("far", "sales")}),
    )
    there = METHODS[method].request[1].path

    def made(table: TableName, path: str = there) -> str:
        return asked(gateway.port, Call(method, path, table).message)

    assert made(bought) == "AlreadyExistsException"
    assert made(TableName("SHOP ", "Bought")) == "AlreadyExistsException"
    assert made(TableName("far", "t")) == "MetaException"
    if method == "create_table_with_constraints":
        keys = next(place.path for place in METHODS[method].request if place.path.endswith("pktable_db"))
        assert made(bought, keys) == "MetaException"
    gateway.stop()


def test_a_refusal_is_an_exception_that_says_nothing_else() -> None:
    for method, known in METHODS.items():
        answer = error_answer(call(method, 1), "no")
        can_say = "MetaException" in known.exceptions.values() and method != "get_partition_names"
        assert class_of(answer) == ("MetaException" if can_say else THRIFTS_OWN), method
        assert error_text(answer) == "no"
        assert can_say or answer.raw == application_error(method, 1, "no", INTERNAL_ERROR).raw


def test_only_a_method_that_is_not_known_is_said_to_be_unknown() -> None:
    answer = error_answer(call("of_tomorrow", 1), "no")
    assert answer.raw == application_error("of_tomorrow", 1, "no", UNKNOWN_METHOD).raw


def test_a_client_of_hive_2_reads_why() -> None:
    """Of an exception under a number that it does not know it would say 'unknown result'."""
    read = 0
    for method in METHODS.keys() & {name.removesuffix("_result") for name in vars(OldService)}:
        answer = error_answer(call(method, 1), "because")
        if answer.head.kind is MessageKind.EXCEPTION:
            continue  # Thrift's own is read by all
        result = getattr(OldService, f"{method}_result")()
        result.read(TBinaryProtocol(TMemoryBuffer(answer.body)))
        errors = [getattr(one, "message", None) for one in vars(result).values() if isinstance(one, Exception)]
        assert errors == ["because"], method
        read += 1
    assert read > 90
