"""Turn what a metastore answers instead of a result into our errors, by class, never by text."""

from hive_metastore.ttypes import (
    AlreadyExistsException,
    ConfigValSecurityException,
    NoSuchObjectException,
    UnknownDBException,
    UnknownPartitionException,
    UnknownTableException,
)
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException

from twinhive.domain.errors import AlreadyThere, Missing, Refused, TwinhiveError

_MISSING = (NoSuchObjectException, UnknownDBException, UnknownTableException, UnknownPartitionException)


def refusal(doing: str, server: str, error: TException) -> TwinhiveError:
    """Return our error for an exception that a server answered, or for an answer that makes no sense."""
    what = f"{doing}: refused by the metastore at {server}"
    found = f"{type(error).__name__}: {_message_of(error)}"
    if isinstance(error, _MISSING):
        return Missing(what, found=found, next_step="check the name, and that nobody dropped it meanwhile")
    if isinstance(error, AlreadyExistsException):
        return AlreadyThere(what, found=found, next_step="see who made it; drop or rename it if it may go")
    return Refused(what, found=found, next_step=_next_step(error, server))


def _message_of(error: TException) -> str:
    """Return what the server says; behind the first line it may have put Java's stack trace."""
    return str(getattr(error, "message", None) or error or "(no message)").partition("\n\tat ")[0]


def _next_step(error: TException, server: str) -> str:
    if isinstance(error, TProtocolException):
        return f"check that {server} is a metastore's Thrift port, binary, without SASL, TLS or HTTP transport"
    if isinstance(error, ConfigValSecurityException):
        return "ask only for keys that begin with hive, hdfs, mapred or metastore"
    if isinstance(error, TApplicationException):
        return f"see the log of the metastore at {server}; it needs a Hive metastore of version 4.1 or later"
    return f"see the log of the metastore at {server} for the stack trace, and correct what the message names"
