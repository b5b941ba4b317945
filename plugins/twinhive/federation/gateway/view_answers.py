"""Views in a remote's answer: their texts, and what Spark notes of them, under local names.

A view that would read another table here than at the remote is refused; in a list of tables its text is an error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase
from twinhive.federation.gateway.metastore_links import NoAnswerError
from twinhive.federation.gateway.streamed_answers import HandOn, PieceSink
from twinhive.federation.gateway.struct_edits import (
    elements_at,
    entries_at,
    place_of,
    text_at,
    with_elements,
    with_entries,
    with_struct,
    with_value,
)
from twinhive.hive.views.spark_views import CATALOG, DATABASE, OWN_CATALOGS, PARTS, SPARK_2_DATABASE
from twinhive.hive.views.view_renaming import RenamedText, ViewNames, WrongTableError, renamed_text
from twinhive.hive.wire.name_forms import DatabaseText
from twinhive.hive.wire.thrift_message import WireMessage

LEFT: Final = "twinhive_remote_view_left"
"""Names in a view's text that no remote has here."""
UNREAD: Final = "twinhive_remote_view_unread"
"""The text could not be read: it is as the remote has it."""
_ONE, _LIST = "get_table_req", "get_table_objects_by_name_req"
_TABLES: Final = (0, 1)
_DATABASE, _PARAMETERS, _ORIGINAL, _EXPANDED, _TYPE = 2, 9, 10, 11, 12
_VIEW, _MATERIALIZED = "VIRTUAL_VIEW", "MATERIALIZED_VIEW"


class ViewRefusedError(Exception):
    """A view would read another table here than at the remote; `name` is what its text says."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class Here:
    """What names of a remote's metastore are called here.

    definition  the remote that was asked
    is_beside   whether another one has the same owner
    databases   all of the local metastore, in lower case
    """

    definition: Definition
    defined: Definitions
    is_beside: Callable[[Definition], bool]
    databases: frozenset[str]

    def known(self, database: str, table: str | None) -> tuple[str, str | None] | None:
        """Return what a database of the owner, or a table in it, is called here."""
        found = [one for one in self.defined.by_remote_database.get(database, ()) if self._is_it(one, table)]
        own_first = sorted(
            found, key=lambda one: (not isinstance(one, RemoteDatabase), one.local != self.definition.local)
        )
        for one in own_first:
            return (one.local, table) if isinstance(one, RemoteDatabase) else (one.local.database, one.local.table)
        return None

    @property
    def taken(self) -> frozenset[str]:
        """The databases that are not what the owner calls so."""
        return frozenset(name for name in self.databases if self.known(name, None) != (name, None))

    def _is_it(self, one: Definition, table: str | None) -> bool:
        is_named = isinstance(one, RemoteDatabase) or one.remote.table == table
        return is_named and (one == self.definition or self.is_beside(one))


def returns_tables(method: str) -> bool:
    """True for a method whose answer may hold views."""
    return method in (_ONE, _LIST)


def may_hold_views(answer: WireMessage) -> bool:
    """True where a look is needed."""
    return returns_tables(answer.head.method) and (_VIEW.encode() in answer.raw or _MATERIALIZED.encode() in answer.raw)


class WithoutViews:
    """Hand tables on that are too many to be held, and break off before a view."""

    def __init__(self, some: HandOn) -> None:
        self._some, self._sink = some, _UpToAView()

    async def some(self, sink: PieceSink) -> bool:
        """Hand on, as `HandOn`. Raises NoAnswerError at a view."""
        self._sink.sink = sink
        has_ended = await self._some(self._sink)
        if self._sink.has_met:
            raise NoAnswerError("a view among more tables than can be held: ask for fewer at once", was_sent=True)
        return has_ended


class _UpToAView:
    """A sink that is full for good once a view has come."""

    def __init__(self) -> None:
        self.sink: PieceSink
        self.has_met = False
        self._before = b""

    @property
    def is_full(self) -> bool:
        return self.has_met or self.sink.is_full

    def write(self, data: bytes) -> None:
        self.has_met = self.has_met or _VIEW.encode() in self._before + data
        if not self.has_met:
            self.sink.write(data)
            self._before = (self._before + data)[-len(_VIEW) :]


def with_views_renamed(answer: WireMessage, here: Here) -> WireMessage:
    """Return an answer with views' texts under local names. Raises ViewRefusedError where one was asked for."""
    if place_of(answer, _TABLES) is None:
        return answer
    if answer.head.method == _LIST:
        rows = [_or_error(_table_of(answer, row), here).raw for row in elements_at(answer, _TABLES)]
        return with_elements(answer, _TABLES, rows)
    place = place_of(answer, _TABLES)
    assert place is not None
    table = _table_of(answer, answer.raw[place.begin : place.end])
    return with_struct(answer, _TABLES, _renamed(table, here).raw)


def _table_of(answer: WireMessage, encoded: bytes) -> WireMessage:
    return WireMessage(answer.head, encoded, 0)


def _or_error(table: WireMessage, here: Here) -> WireMessage:
    """A list of tables goes on with a view that cannot be read."""
    try:
        return _renamed(table, here)
    except ViewRefusedError as error:
        for number in (_ORIGINAL, _EXPANDED):
            if text_at(table, (number,)) is not None:
                table = with_value(table, (number,), f"a view of a remote that reads {error.name}, which is not here")
        return table


def _renamed(table: WireMessage, here: Here) -> WireMessage:
    kind = text_at(table, (_TYPE,))
    if kind not in (_VIEW, _MATERIALIZED):
        return table
    try:
        return _view_renamed(table, here)
    except WrongTableError as error:
        if kind == _MATERIALIZED:  # it has rows of its own: nobody reads by its text
            return table
        raise ViewRefusedError(error.name) from error


def _view_renamed(view: WireMessage, here: Here) -> WireMessage:
    parameters = entries_at(view, (_PARAMETERS,))
    setting, own = _own_database(view, parameters)
    names = ViewNames(here.known, own, here.taken, setting is not None)
    expanded, original = text_at(view, (_EXPANDED,)), text_at(view, (_ORIGINAL,))
    read: list[RenamedText] = []
    for number, text in ((_EXPANDED, expanded), (_ORIGINAL, original)):
        if text:
            # names without a database, in a text that nobody reads, are in one that nobody knows
            is_read = number == _EXPANDED or not expanded or text == expanded
            read.append(renamed_text(text, names if is_read else ViewNames(here.known, None, names.taken)))
            view = with_value(view, (number,), read[-1].text)
    return with_entries(view, (_PARAMETERS,), _noted(read) | _setting_renamed(setting, names))


def _own_database(view: WireMessage, parameters: dict[str, str]) -> tuple[str | None, str | None]:
    """Return the setting that says where names without a database are, and the database; none for another catalog."""
    if PARTS in parameters:
        is_ours = parameters[PARTS] == "2" and parameters.get(CATALOG, "").lower() in OWN_CATALOGS
        return (DATABASE, parameters.get(DATABASE, "").lower()) if is_ours else (None, None)
    if SPARK_2_DATABASE in parameters:
        return SPARK_2_DATABASE, parameters[SPARK_2_DATABASE].lower()
    return None, DatabaseText.parse(text_at(view, (_DATABASE,)) or "").key


def _setting_renamed(setting: str | None, names: ViewNames) -> dict[str, str]:
    return {} if setting is None or names.new_own is None else {setting: names.new_own}


def _noted(read: list[RenamedText]) -> dict[str, str]:
    """Return what a view's parameters say of names that are left, and of a text that could not be read."""
    left = dict.fromkeys(name for one in read for name in one.left or ())
    noted = {LEFT: ", ".join(left)} if left else {}
    return noted | ({UNREAD: "true"} if any(one.left is None for one in read) else {})
