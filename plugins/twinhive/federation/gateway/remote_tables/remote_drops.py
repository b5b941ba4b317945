"""Dropping a remote table by a client's DROP TABLE: the local name goes, and no file of the remote's."""

from typing import Final

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.remotes.definitions import RemoteTable
from twinhive.federation.gateway.call_outcomes import CallOutcome, refusal
from twinhive.federation.gateway.call_targets import owner_words
from twinhive.federation.gateway.remote_calls import RemoteCalls, RemoteError
from twinhive.federation.gateway.remote_tables.external_tables import deleted_by_clients
from twinhive.federation.gateway.struct_edits import entries_at, error_text, place_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.thrift_message import STOP, MessageKind, WireError, WireMessage, call, struct_field, text_field

_ASKED: Final = "get_table_req"
_SETTINGS: Final = {"drop_table_with_environment_context": (4, 1), "drop_table_req": (1, 5, 1)}
"""Where a drop says what else is wanted."""
_NO_TABLE: Final = next(
    number for number, kind in METHODS[_ASKED].exceptions.items() if kind == "NoSuchObjectException"
)


async def refused_drop(request: WireMessage, definition: RemoteTable, remotes: RemoteCalls) -> CallOutcome | None:
    """Refuse a drop after which the client deletes files; None where only the local name would go."""
    if (why := _purges(request) or await _deleting(definition, remotes)) is None:
        return None
    return refusal(
        request,
        f"remote {definition.local} is read only, and {request.head.method} is not passed on: {why}. They are those of "
        f"{owner_words(definition)}. DROP REMOTE TABLE {definition.local}, said with twinhive sql, takes the local "
        "name away, and nothing else",
    )


def _purges(request: WireMessage) -> str | None:
    settings = entries_at(request, _SETTINGS.get(request.head.method, ()))
    return "it says PURGE, which deletes files" if settings.get("ifPurge", "").lower() == "true" else None


async def _deleting(definition: RemoteTable, remotes: RemoteCalls) -> str | None:
    there = definition.remote
    body = struct_field(1, text_field(1, there.database) + text_field(2, there.table) + STOP)
    try:
        answer = await CallOutcome(await remotes.ask_as_it_is(call(_ASKED, 0, body + STOP), definition)).whole()
    except (RemoteError, WireError, TwinhiveError) as error:
        return _unknown(str(error))
    if answer.head.kind is MessageKind.REPLY and place_of(answer, (_NO_TABLE,)) is not None:
        return None
    if (text := error_text(answer)) is not None or place_of(answer, (0, 1)) is None:
        return _unknown(text or "an answer without a table")
    how = deleted_by_clients(answer)
    return how and f"of a table with {how} clients delete the files themselves, after the metastore has dropped it"


def _unknown(text: str) -> str:
    return f"what it is there cannot be told ({text}), and of some tables clients delete the files after a drop"
