"""Find out that a metastore does not let us read its notification log: it keeps the reason to itself.

The check (Hive's `HMSHandler.authorizeProxyPrivilege`) throws an exception that no method declares, and of such a one
Thrift tells a client only `Internal error processing <method>`, as of any other failure inside the server.
"""

from dataclasses import dataclass
from typing import Any

from hive_metastore import ttypes
from thrift.Thrift import TApplicationException, TException

from twinhive.core.model.errors import Refused, TwinhiveError
from twinhive.core.model.log_access import GUARD, HEEDS_NAMES, Caller, LogAccess, not_allowed
from twinhive.hive.adapters.hive.thrift_connection import Request, ThriftConnection

_OFF = "false"
_ASK_GUARD = Request(f"reading configuration key {GUARD}", lambda client: client.get_config_value(GUARD, "true"))
_ASK_HEEDS = Request(
    f"reading configuration key {HEEDS_NAMES}", lambda client: client.get_config_value(HEEDS_NAMES, "true")
)
_LEAST_GUARDED = Request("reading the current event id", lambda client: client.get_current_notificationEventId())
_NOT_GUARDED = Request("reading the metastore's id", lambda client: client.get_metastore_db_uuid())


@dataclass(frozen=True)
class LogRights:
    """Whom a client tells its metastore to be, and in which cluster that is."""

    user: str | None
    cluster: str

    def access(self, connection: ThriftConnection) -> LogAccess:
        """Make both calls that a run needs. Raises Refused, and the errors of transport."""
        newest = connection.call(Request("reading the notification log", _read_its_end, self.explain))
        return LogAccess(str(connection.address), self.cluster, self._caller(connection), newest)

    def explain(self, connection: ThriftConnection, error: TException) -> Refused | None:
        """Return the error that says what to set where; None when the check is not what stopped a guarded call."""
        if not _hides_its_reason(error) or not _shuts_us_out(connection):
            return None
        return not_allowed(str(connection.address), self.cluster, self._caller(connection), str(error))

    def _caller(self, connection: ThriftConnection) -> Caller:
        return Caller(self.user, heeded=connection.call(_ASK_HEEDS).strip().lower() != _OFF)


def _read_its_end(client: Any) -> int:
    newest = int(client.get_current_notificationEventId().eventId)
    client.get_next_notification(ttypes.NotificationEventRequest(lastEvent=newest, maxEvents=1))
    return newest


def _shuts_us_out(connection: ThriftConnection) -> bool:
    """True when the check is on, a call without it is answered, and the smallest call with it is not."""
    try:
        if connection.call(_ASK_GUARD).strip().lower() == _OFF:
            return False
        connection.call(_NOT_GUARDED)
    except TwinhiveError:
        return False
    try:
        connection.call(_LEAST_GUARDED)
    except TwinhiveError as refused:
        return _hides_its_reason(refused.__cause__)
    return False


def _hides_its_reason(error: BaseException | None) -> bool:
    return isinstance(error, TApplicationException) and error.type == TApplicationException.INTERNAL_ERROR
