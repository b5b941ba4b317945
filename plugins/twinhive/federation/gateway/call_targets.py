"""Decide who gets a call: a value, from the method, the names in the request, and the remotes that are defined."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.method_kinds import MethodKind


@dataclass(frozen=True)
class Named:
    """An object that a request names, in lower case; `table` is None for a database."""

    database: str
    table: str | None = None

    def __str__(self) -> str:
        return self.database if self.table is None else f"{self.database}.{self.table}"


@dataclass(frozen=True)
class ToLocal:
    """The local metastore gets the call as it is."""


@dataclass(frozen=True)
class ToLocalDrop(ToLocal):
    """The local metastore gets the drop of a remote table's name, where no file of the remote goes with it."""

    definition: RemoteTable


@dataclass(frozen=True)
class ToRemote:
    """A remote gets it, under its names."""

    definition: Definition


@dataclass(frozen=True)
class ToSeveral:
    """All whom it concerns get it."""


@dataclass(frozen=True)
class ToSession:
    """The local metastore gets it, and every remote when it is first asked."""


@dataclass(frozen=True)
class ToNobody:
    """Nothing has to be done, and nothing is answered."""


@dataclass(frozen=True)
class NotPassedOn:
    """Nobody gets it; `text` says why, and `error` is the exception that says it, where that is no other's."""

    text: str
    error: str = ""


_CREATES = "create_table"
"""How methods begin whose first name is a table that is to be."""

Owner = ToLocal | ToRemote | ToSeveral | ToSession | ToNobody | NotPassedOn


def owner_of(method: str, kind: MethodKind | None, named: Iterable[Named], defined: Definitions) -> Owner:
    """Decide who gets a call. Names that no remote has are the local metastore's."""
    match kind:
        case None:
            return NotPassedOn(f"the gateway does not know {method}, and sends nothing that it does not know")
        case MethodKind.NEVER:
            return _never(method)
        case MethodKind.LOCAL | MethodKind.DEFINITION:
            return ToLocal()
        case MethodKind.SESSION:
            return ToSession()
        case MethodKind.SEVERAL:
            return ToSeveral()
        case MethodKind.GRANT:
            return _granted(method, named, defined)
        case MethodKind.READ | MethodKind.WRITE | MethodKind.TABLE_DROP:
            return _by_name(method, kind, tuple(named), defined)
        case _:
            assert_never(kind)


def _never(method: str) -> Owner:
    if method == "shutdown":
        return ToNobody()  # what Hive's client says when it closes its connection
    return NotPassedOn(f"{method} would end or change the metastore for all its clients")


def _by_name(method: str, kind: MethodKind, named: tuple[Named, ...], defined: Definitions) -> Owner:
    found = {one: defined.owner_of(one.database, one.table) for one in named}
    remotes = {definition.local: definition for definition in found.values() if definition is not None}
    if not remotes:
        return ToLocal()
    if kind is not MethodKind.READ:
        return _write(method, kind, found)
    if len(remotes) > 1 or None in found.values():
        return NotPassedOn(
            f"{method} names objects of several metastores: "
            + ", ".join(f"{one} ({owner_words(definition)})" for one, definition in found.items())
            + "; ask for them one by one"
        )
    return ToRemote(next(iter(remotes.values())))


def _granted(method: str, named: Iterable[Named], defined: Definitions) -> Owner:
    for one in named:
        definition = defined.owner_of(one.database, one.table)
        if one.table is not None and isinstance(definition, RemoteDatabase):
            return NotPassedOn(
                f"rights on remote {one} are not kept here: {method} is about a table of "
                f"{owner_words(definition)}; nothing was sent. Give them there, or here on database {one.database}"
            )
    return ToLocal()


def _write(method: str, kind: MethodKind, found: dict[Named, Definition | None]) -> Owner:
    remotes = {one: definition for one, definition in found.items() if definition is not None}
    one, definition = next(iter(remotes.items()))
    is_drop, is_database = kind is MethodKind.TABLE_DROP, isinstance(definition, RemoteDatabase)
    if is_drop and isinstance(definition, RemoteTable):
        return ToLocalDrop(definition)
    files = "" if is_drop else ", but files that the client wrote, moved or deleted before this call stay so"
    cascade = (
        f". Clients before Hive 4 drop the tables first when they say DROP DATABASE {definition.local} CASCADE: "
        "without CASCADE it is the same as DROP REMOTE DATABASE, and works"
    )
    said = (
        f"remote {one} is read only: {method} would change {owner_words(definition)}; nothing was sent{files}. "
        f"Change it there; DROP REMOTE {'DATABASE' if is_database else 'TABLE'} "
        f"{definition.local} takes the local name away{cascade if is_drop else ''}"
    )
    if method.startswith(_CREATES) and isinstance(definition, RemoteTable) and one == next(iter(found)):
        return NotPassedOn(f"table {one} already exists: {said}", "AlreadyExistsException")
    return NotPassedOn(said)


def owner_words(definition: Definition | None) -> str:
    """Say in few words whose an object is."""
    return "the local metastore's" if definition is None else f"{definition.remote}, by {definition.via}"
