"""Turn what a metastore answers instead of a result into our errors: what it refuses, and what it cannot do now.

| It answers | That is |
|---|---|
| a class that says what is wrong with the request (it is not there, it is there, it is invalid) | a refusal |
| a text that `metastore_troubles` knows | a trouble that passes |
| a call that it does not know, a configuration key that it does not tell | a refusal |
| the answer to another call | a trouble that passes: the connection is closed |
| anything else: MetaException, InvalidOperationException, Internal error | what another question shows |

That question is a small one that its database has to answer. A metastore that does not answer it has a trouble that
passes. One that does is well, so that the request is what it refuses; but nobody knows this text, and what it speaks of
may have passed just before the question. So it is `Unexplained`: tried again a few times before a person is asked.
"""

from collections.abc import Callable

from hive_metastore.ttypes import (
    AlreadyExistsException,
    ConfigValSecurityException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    UnknownDBException,
    UnknownPartitionException,
    UnknownTableException,
)
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException

from twinhive.core.model.errors import AlreadyThere, Missing, Refused, TwinhiveError, Unexplained, Unwell
from twinhive.core.model.next_steps import RETRIES
from twinhive.hive.adapters.hive.transient_errors import passing_trouble

_MISSING = (NoSuchObjectException, UnknownDBException, UnknownTableException, UnknownPartitionException)
_TELLS_LITTLE = (MetaException, InvalidOperationException)
_OUT_OF_STEP = (TApplicationException.WRONG_METHOD_NAME, TApplicationException.BAD_SEQUENCE_ID)
_STUMBLED = (
    TApplicationException.UNKNOWN,
    TApplicationException.MISSING_RESULT,
    TApplicationException.INTERNAL_ERROR,
    TApplicationException.PROTOCOL_ERROR,
)


def failure(doing: str, server: str, error: TException, is_well: Callable[[], bool]) -> TwinhiveError:
    """Return our error for an exception that a server answered, or for an answer that makes no sense.

    `is_well` asks it something that has nothing to do with the request.
    """
    if isinstance(error, (*_MISSING, AlreadyExistsException)):
        return _refusal(doing, server, error)
    trouble = passing_trouble(str(getattr(error, "message", None) or error))
    if trouble is not None:
        return _unwell(doing, server, error, trouble.look_at)
    if isinstance(error, TApplicationException) and error.type in _OUT_OF_STEP:
        return _unwell(doing, server, error, "what stands between here and the metastore (proxies)")
    tells_little = isinstance(error, _TELLS_LITTLE) or (
        isinstance(error, TApplicationException) and error.type in _STUMBLED
    )
    if tells_little and not is_well():
        return _unwell(doing, server, error, "its database: it does not answer what it is asked by the way either")
    if tells_little:
        return _unexplained(doing, server, error)
    return _refusal(doing, server, error)


def _unwell(doing: str, server: str, error: TException, look_at: str) -> Unwell:
    return Unwell(
        f"{doing}: the metastore at {server} could not do it now",
        found=_said(error),
        expected="an answer to this request, or what is wrong with it",
        next_step=RETRIES + f": what is there is read first. If it goes on, look at {look_at}",
    )


def _unexplained(doing: str, server: str, error: TException) -> Unexplained:
    return Unexplained(
        f"{doing}: refused by the metastore at {server}",
        found=_said(error),
        expected="an answer to this request, or what is wrong with it",
        next_step=f"{_next_step(error, server)}; before that, " + RETRIES,
    )


def _refusal(doing: str, server: str, error: TException) -> TwinhiveError:
    what = f"{doing}: refused by the metastore at {server}"
    if isinstance(error, _MISSING):
        return Missing(
            what,
            found=_said(error),
            expected="an object that is there",
            next_step="check the name, and that nobody dropped it meanwhile",
        )
    if isinstance(error, AlreadyExistsException):
        return AlreadyThere(
            what,
            found=_said(error),
            expected="nothing of that name",
            next_step="see who made it; drop or rename it if it may go",
        )
    return Refused(
        what,
        found=_said(error),
        expected="a request that it carries out",
        next_step=_next_step(error, server),
    )


def _said(error: TException) -> str:
    """Return what the server says; behind the first line it may have put Java's stack trace."""
    text = str(getattr(error, "message", None) or error or "(no message)").partition("\n\tat ")[0]
    return f"{type(error).__name__}: {text}"


def _next_step(error: TException, server: str) -> str:
    if isinstance(error, TProtocolException):
        return f"check that {server} is a metastore's Thrift port, binary, without SASL, TLS or HTTP transport"
    if isinstance(error, ConfigValSecurityException):
        return "ask only for keys that begin with hive, hdfs, mapred or metastore"
    if isinstance(error, TApplicationException):
        return f"see the log of the metastore at {server}; it needs a Hive metastore of version 4.1 or later"
    return f"see the log of the metastore at {server} for the stack trace, and correct what the message names"
