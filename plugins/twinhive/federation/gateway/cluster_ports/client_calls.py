"""The calls of one client at the port of a cluster: what is let in, and what is shown of the answer."""

from dataclasses import replace
from typing import Final, assert_never

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteTable
from twinhive.federation.cluster_view.cluster_port import ClusterPort, Port
from twinhive.federation.cluster_view.request_admission import Asks, PortCall, Refusal
from twinhive.federation.gateway.call_outcomes import CallOutcome, Pieces, failure, refusal
from twinhive.federation.gateway.call_targets import Owner, ToLocal, ToRemote, ToSession, ToSeveral
from twinhive.federation.gateway.cluster_ports.session_cluster import said_of_cluster
from twinhive.federation.gateway.gateway_metrics import LOCAL
from twinhive.federation.gateway.method_kinds import MethodKind
from twinhive.federation.gateway.request_names import named_in
from twinhive.federation.gateway.struct_edits import texts_at, with_texts
from twinhive.hive.wire.name_forms import key_of
from twinhive.hive.wire.thrift_message import WireError, WireMessage

_TABLES: Final = "get_table_objects_by_name_req"
_NAMES: Final = (1, 2)
"""Where it says which tables are wanted; those that are not there are no part of the answer."""
_FIELDS: Final = (1, 7, 1)
"""Where it says which fields of tables are wanted."""
_JUDGED_BY: Final = ("dbName", "tableName", "parameters")


async def let_in(
    port: Port, request: WireMessage, kind: MethodKind | None, owner: Owner, defined: Definitions
) -> WireMessage | CallOutcome:
    """Return the call to make, or the answer that says why none is made."""
    try:
        if isinstance(port, ClusterPort):
            request = _without_remotes(request, defined)
            if (remote := _remote(request, owner, defined)) is not None:
                return no_remote(request, remote)
        return await _let_in(port, request, kind, owner)
    except Refusal as error:
        return refusal(request, str(error))
    except WireError as error:
        return refusal(request, f"{request.head.method} cannot be read: {error}")
    except TwinhiveError as error:
        return failure(request, f"whether {request.head.method} may be made here cannot be told: {error}")


async def _let_in(port: Port, request: WireMessage, kind: MethodKind | None, owner: Owner) -> WireMessage | CallOutcome:
    if not isinstance(owner, ToLocal | ToSeveral | ToSession):
        return request
    if (answer := said_of_cluster(port, request)) is not None:
        return answer
    named = tuple((one.database, one.table) for one in named_in(request))
    if isinstance(owner, ToSession):
        return request
    admitted = await port.admitted(PortCall(request, _asks(request.head.method, kind), named))
    return _with_what_judges(admitted) if isinstance(port, ClusterPort) else admitted


def _with_what_judges(request: WireMessage) -> WireMessage:
    """Ask also for what tables are judged by, where only some of their fields are wanted."""
    fields = texts_at(request, _FIELDS) if request.head.method == _TABLES else None
    return with_texts(request, _FIELDS, dict.fromkeys((*fields, *_JUDGED_BY))) if fields else request


def _without_remotes(request: WireMessage, defined: Definitions) -> WireMessage:
    """Ask for those of many tables that are no remotes; where nothing is left of them, for the same ones."""
    if request.head.method != _TABLES or not (names := texts_at(request, _NAMES)):
        return request
    found = (defined.owner_of(one.database, one.table) for one in named_in(request))
    remotes = {one.local.table for one in found if isinstance(one, RemoteTable)}
    kept = [name for name in names if key_of(name) not in remotes]
    return with_texts(request, _NAMES, kept) if kept and len(kept) < len(names) else request


def no_remote(request: WireMessage, remote: Definition) -> CallOutcome:
    """Refuse a remote: where its files are is nothing that a cluster's port knows."""
    text = f"{remote.local} is a remote, which no cluster's port serves: ask for it at the gateway's own port"
    return refusal(request, text)


def named_remote(request: WireMessage, defined: Definitions) -> Definition | None:
    """Return the first remote that a request names, None where it names none. Raises WireError."""
    found = (defined.owner_of(one.database, one.table) for one in named_in(request))
    return next((one for one in found if one is not None), None)


def _remote(request: WireMessage, owner: Owner, defined: Definitions) -> Definition | None:
    match owner:
        case ToRemote(definition):
            return definition
        case ToSeveral():
            return named_remote(request, defined)
        case _:
            return None


async def seen_at(port: Port, request: WireMessage, outcome: CallOutcome) -> CallOutcome:
    """Return what the client gets of an answer. What cannot be judged is an error, never another place."""
    if isinstance(port, ClusterPort) and outcome.owner != LOCAL:
        if isinstance(outcome.answer, Pieces):
            await outcome.answer.release()
        return failure(
            request, f"{request.head.method} was answered by {outcome.owner}, whose places nobody knows here"
        )
    if isinstance(outcome.answer, Pieces):
        return outcome
    try:
        return replace(outcome, answer=await port.shown(outcome.answer))
    except (WireError, TwinhiveError) as error:
        return failure(
            request, f"{request.head.method} was answered, but where the cluster has it cannot be told: {error}"
        )


def _asks(method: str, kind: MethodKind | None) -> Asks:
    match kind:
        case MethodKind.WRITE | MethodKind.TABLE_DROP:
            return Asks.CHANGE
        case MethodKind.READ | MethodKind.SEVERAL:
            return Asks.READ
        case MethodKind.DEFINITION:
            return Asks.READ if method.startswith("get") else Asks.DATABASE
        case MethodKind.SESSION | MethodKind.LOCAL | MethodKind.GRANT | MethodKind.NEVER | None:
            return Asks.OTHER
        case _:
            assert_never(kind)
