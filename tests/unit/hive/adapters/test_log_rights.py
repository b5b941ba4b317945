"""What a metastore answers when it does not let us read its log tells nothing: the reason is found out by asking."""

from collections.abc import Iterator
from typing import Any

import pytest
from hive_metastore.ttypes import CurrentNotificationEventId, MetaException, NotificationEventResponse
from thrift.transport.TTransport import TTransportException

from tests.support.hive.thrift_server import Server, serving
from twinhive.core.model.errors import Refused, Unreachable, Unwell
from twinhive.core.model.log_access import GUARD, HEEDS_NAMES, Caller, LogAccess
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore


class Guarded:
    """Handle the calls of a log's reader; what is raised without being declared reaches nobody."""

    def __init__(self) -> None:
        self.configuration = {GUARD: "true", HEEDS_NAMES: "true"}
        self.admitted = {"hive"}
        self.broken: set[str] = set()
        self.user: str | None = None

    def set_ugi(self, user: str, groups: list[str]) -> list[str]:
        self.user = user
        return [user]

    def get_config_value(self, name: str, default: str) -> str:
        self._stumble("get_config_value")
        return self.configuration.get(name, default)

    def get_metastore_db_uuid(self) -> str:
        self._stumble("get_metastore_db_uuid")
        return "log"

    def get_current_notificationEventId(self) -> CurrentNotificationEventId:
        self._authorize("get_current_notificationEventId")
        return CurrentNotificationEventId(7)

    def get_next_notification(self, request: Any) -> NotificationEventResponse:
        self._authorize("get_next_notification")
        return NotificationEventResponse(events=[])

    def _authorize(self, method: str) -> None:
        if self.configuration.get(GUARD, "true") == "true" and self.user not in self.admitted:
            raise RuntimeError(f"User {self.user} is not allowed to perform this API call")
        self._stumble(method)

    def _stumble(self, method: str) -> None:
        if method in self.broken:
            raise RuntimeError("the database does not answer")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Guarded()) as server:
        yield server


def reader(server: Server, user: str | None) -> ThriftMetastore:
    return ThriftMetastore([server.address], 5.0, user, "east")


def refused(call: Any) -> str:
    with pytest.raises(Refused) as caught:
        call()
    return str(caught.value)


def test_who_may_read_the_log_is_told_who_we_are_and_where_it_ends(server: Server) -> None:
    metastore = reader(server, "hive")
    (address,) = metastore.addresses()
    assert metastore.log_access(address) == LogAccess(address, "east", Caller("hive"), 7)


@pytest.mark.parametrize("read", ["current_event_id", "events_after", "log_access"])
def test_every_guarded_call_says_which_user_has_to_be_let_in_where(server: Server, read: str) -> None:
    metastore = reader(server, "ann")
    (address,) = metastore.addresses()
    call = {
        "current_event_id": metastore.current_event_id,
        "events_after": lambda: metastore.events_after(3, 5),
        "log_access": lambda: metastore.log_access(address),
    }[read]
    said = refused(call)
    assert f"the metastore {address} of cluster east does not let us read its notification log" in said
    assert "user to the metastore: ann\n" in said
    parts = (
        "hadoop.proxyuser.ann.hosts",
        "hadoop.proxyuser.ann.groups",
        "core-site.xml",
        f"{GUARD}=false",
        "restart it",
    )
    assert all(part in said for part in parts), said


def test_the_answer_leaves_the_connection_as_it_was(server: Server) -> None:
    metastore = reader(server, "ann")
    refused(metastore.current_event_id)
    assert metastore.log_id() == "log"
    server.behaviour.admitted.add("ann")
    assert (metastore.current_event_id(), metastore.events_after(0, 1)) == (7, [])


def test_without_a_name_the_server_takes_us_for_the_one_it_runs_as(server: Server) -> None:
    said = refused(reader(server, None).current_event_id)
    assert "user to the metastore: the one that it runs as: no user name was sent" in said
    assert "hadoop.proxyuser.<the user it runs as>.hosts" in said


def test_a_server_that_heeds_no_names_is_told_from_one_that_does(server: Server) -> None:
    server.behaviour.configuration[HEEDS_NAMES] = "false"
    said = refused(reader(server, "ann").current_event_id)
    assert f"it was sent ann, but its {HEEDS_NAMES} is false" in said
    assert "hadoop.proxyuser.<the user it runs as>.hosts" in said


def test_a_server_that_does_not_say_how_it_is_set_checks_as_hive_does_by_default(server: Server) -> None:
    server.behaviour.configuration.clear()
    assert "does not let us read" in refused(reader(server, "ann").current_event_id)


@pytest.mark.parametrize(
    ("guard", "admitted", "broken"),
    [
        ("false", False, {"get_current_notificationEventId", "get_next_notification"}),
        ("true", True, {"get_next_notification"}),
        ("true", False, {"get_metastore_db_uuid"}),
        ("true", False, {"get_config_value"}),
    ],
    ids=["check off", "only this call fails", "all calls fail", "its settings cannot be read"],
)
def test_another_failure_of_the_same_call_is_not_taken_for_missing_rights(
    server: Server, guard: str, admitted: bool, broken: set[str]
) -> None:
    server.behaviour.configuration[GUARD] = guard
    server.behaviour.broken = broken
    if admitted:
        server.behaviour.admitted.add("ann")
    with pytest.raises(Unwell if "get_metastore_db_uuid" in broken else Refused) as failed:
        reader(server, "ann").events_after(3, 5)
    said = str(failed.value)
    assert "reading events after 3: " in said
    assert "TApplicationException: Internal error" in said and "proxyuser" not in said


def test_a_failure_that_says_what_it_is_stays_what_it_is(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    metastore = reader(server, "ann")

    def declared() -> str:
        raise MetaException("the id is lost")

    monkeypatch.setattr(server.behaviour, "get_metastore_db_uuid", declared)
    with pytest.raises(Unwell) as failed:
        metastore.current_event_id()
    said = str(failed.value)
    assert "Internal error" in said and "proxyuser" not in said


def test_a_server_that_goes_away_while_it_is_asked_why_is_unreachable(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hangs_up(name: str, default: str) -> str:
        raise TTransportException(message="gone")

    monkeypatch.setattr(server.behaviour, "get_config_value", hangs_up)
    with pytest.raises(Unreachable):
        reader(server, "ann").current_event_id()
