"""What a cluster may change through its port: what belongs to it, with places of its own file system.

A request goes on as it is, or with what the cluster does not see put back; or it is refused, with the next step. What
no rule decides is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final

from twinhive.core.model.files import is_below, join
from twinhive.core.model.names import TableName, default_directory, partition_name
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.placement.copy_marks import CLUSTER, ROOT, primary_of
from twinhive.core.model.untrusted_paths import is_collapsed
from twinhive.core.ports import MetastoreReader
from twinhive.federation.cluster_view.message_locations import (
    SPECIFICATION,
    ObjectKind,
    PlacedObject,
    TextSpot,
    asks_with_places,
    is_true,
    objects_in,
    structs_below,
)
from twinhive.federation.cluster_view.splicing import (
    Splice,
    new_map,
    new_text,
    other_map,
    other_text,
    spliced,
    without_field,
)
from twinhive.federation.cluster_view.visibility_rules import PLACE_KEYS, Sight, Whereabouts
from twinhive.federation.cluster_view.visible_objects import database_place
from twinhive.federation.routing.marks_table import MarksTable
from twinhive.hive.wire.message_renaming import struct_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.thrift_message import WireMessage

_VIEW: Final = "VIRTUAL_VIEW"
_TABLE_PARAMETERS, _DATABASE_PARAMETERS, _SD_LOCATION = 9, 4, 2
_FILES: Final = "InsertEventRequestData"
_CASCADE: Final = {"drop_database": (3,), "drop_database_req": (1, 5)}
"""Where a drop says that tables are dropped with their database."""
_OF_ALL_CLUSTERS: Final = ("get_all_write_event_info", "get_next_notification")
"""Their answers hold places in texts of their own."""


class Asks(Enum):
    """What a call is for."""

    READ = "read"
    CHANGE = "change of tables, partitions, or what is in a database"
    DATABASE = "change of a database"
    OTHER = "something that names no table, or changes none"


class Refusal(Exception):
    """A request that is not passed on; in words why, and what to do."""


@dataclass(frozen=True)
class PortCall:
    """A call, what it is for, and the databases and tables that it names, in lower case; None: the database itself."""

    message: WireMessage
    asks: Asks
    named: Sequence[tuple[str, str | None]] = ()

    @property
    def method(self) -> str:
        """Its name."""
        return self.message.head.method

    @property
    def tells_of_files(self) -> bool:
        """Its places are files that were written, and become nobody's location."""
        return _FILES in structs_below(METHODS[self.method].asked)

    def objects(self) -> list[PlacedObject]:
        """Return what has a place in it. Raises WireError."""
        return objects_in(self.message.raw, self.message.at, struct_of(self.message))

    def with_splices(self, splices: Sequence[Splice]) -> WireMessage:
        """Return the call with other parts."""
        if not splices:
            return self.message
        return WireMessage(self.message.head, spliced(self.message.raw, splices), self.message.at)


def needs_check(request: PortCall) -> bool:
    """True for a call that may write places."""
    return request.asks is not Asks.READ and asks_with_places(METHODS[request.method])


def asks_servers(request: PortCall) -> bool:
    """True for a call at a cluster's port that the metastore has to be asked about; any other is decided at once."""
    return request.asks in (Asks.CHANGE, Asks.DATABASE)


@dataclass(frozen=True)
class Homes:
    """Where the tables that a call names are at home: one that was moved has its place where its copies were."""

    metastore: MetastoreReader
    named: Sequence[tuple[str, str | None]]

    def holds(self, one: PlacedObject, place: str) -> bool:
        """True for the place that an object has already, and for places below that of its table."""
        place = place.rstrip("/")
        for database, name in self.named:
            table = None if name is None else self.metastore.table(TableName(database, name))
            if table is None or is_collapsed(place):
                continue
            if table.location and (place == table.location or is_below(place, table.location)):
                return True
            if one.kind is ObjectKind.PARTITION and place in self._of_partition(table, one):
                return True
        return False

    def _of_partition(self, table: Table, one: PlacedObject) -> list[str | None]:
        if one.values is None or len(one.values) != len(table.partition_keys):
            return []
        names = [partition_name(table.partition_keys, one.values)]
        return [found.location for found in self.metastore.partitions(table.name, names)]


def check_default_port(request: PortCall, sight: Sight, metastore: MetastoreReader) -> None:
    """Refuse what nobody may put into the metastore: places of copies, and of what is absent. Raises Refusal."""
    for one in request.objects():
        _check_own_port(request, one, sight, Homes(metastore, request.named))


def _at_home(request: PortCall, homes: Homes, one: PlacedObject, place: str) -> bool:
    return request.tells_of_files or homes.holds(one, place)


def _check_own_port(request: PortCall, one: PlacedObject, sight: Sight, homes: Homes) -> None:
    for place in _places(one):
        why = sight.unfit(place, partial(_at_home, request, homes, one, place))
        if why is not None:
            raise Refusal(f"{request.method} is refused: {why}. Name the place of the table on its own cluster")


@dataclass(frozen=True)
class Entrance:
    """Decides about the requests at a cluster's port. It asks the metastore, and waits for it."""

    metastore: MetastoreReader
    sight: Sight

    def admitted(self, request: PortCall) -> WireMessage:
        """Return what to pass on. Raises Refusal, WireError, and what reading the metastore raises."""
        method = METHODS[request.method]
        if SPECIFICATION in structs_below(method.asked) | structs_below(method.returned):
            raise self._refusal(
                request, "it speaks of partitions by a place that they share", "ask for them one by one"
            )
        match request.asks:
            case Asks.READ:
                return request.message
            case Asks.OTHER:
                if asks_with_places(method) or request.method in _OF_ALL_CLUSTERS:
                    raise self._refusal(request, "it names places on any cluster", "ask at the gateway's own port")
                return request.message
            case Asks.CHANGE:
                return self._change(request)
            case Asks.DATABASE:
                return self._database_change(request)

    def _refusal(self, request: PortCall, why: str, do: str) -> Refusal:
        return Refusal(f"{request.method} is refused at the port of cluster {self.sight.cluster}: {why}; {do}")

    def _change(self, request: PortCall) -> WireMessage:
        if not request.named:
            raise self._refusal(request, "it does not say what it changes", "ask at the gateway's own port")
        is_new = True
        for database, table in request.named:
            found = self._object(database, table)
            is_new = is_new and found is None and table is not None
            self._check_not_moved(request, found)
            self._check_primary(request, database if table is None else f"{database}.{table}", _parameters(found))
        splices: list[Splice] = []
        for one in request.objects():
            self._check_places(request, one)
            splices += self._kept(request, one)
            if is_new and one.kind is ObjectKind.TABLE and one.table_type != _VIEW and not one.says_location:
                splices.append(self._place(request, one))
        return request.with_splices(splices)

    def _object(self, database: str, table: str | None) -> Table | Database | None:
        return self.metastore.database(database) if table is None else self.metastore.table(TableName(database, table))

    def _check_not_moved(self, request: PortCall, found: Table | Database | None) -> None:
        if isinstance(found, Table) and MarksTable(self.metastore, found.name.database).move(found) is not None:
            raise self._refusal(
                request,
                f"{found.name} is being moved to another cluster",
                "wait until the move has ended, or end it",
            )

    def _check_primary(self, request: PortCall, what: str, parameters: "dict[str, str] | None") -> None:
        if parameters is None:
            return  # the metastore says that it is not there, or it is new
        primary = primary_of(parameters, self.sight.default)
        if primary != self.sight.cluster:
            raise self._refusal(
                request,
                f"{what} belongs to cluster {primary}, and is only read here",
                f"change it there: USE CLUSTER {primary}, or the gateway's port for {primary}",
            )

    def _check_places(self, request: PortCall, one: PlacedObject) -> None:
        homes = Homes(self.metastore, request.named)
        for place in _places(one):
            at_home = partial(_at_home, request, homes, one, place)
            if one.kind is ObjectKind.OTHER:
                other = self.sight.other(place)
                why = self.sight.unfit(place, at_home) or (other and f"{place} is on the file system of {other}")
            else:
                why = self.sight.unfit_here(place, at_home)
            if why:
                raise self._refusal(request, why, f"name a place below {self.sight.root}")

    def _kept(self, request: PortCall, one: PlacedObject) -> Iterator[Splice]:
        """Yield what becomes of the parameters of a table: its cluster."""
        if one.kind is not ObjectKind.TABLE:
            return
        entries = dict(one.entries) | self._cluster(request, one)
        if one.parameters is not None and entries != one.entries:
            yield other_map(one.parameters, entries)
        elif one.parameters is None and entries:
            yield new_map(one.fields, _TABLE_PARAMETERS, entries)

    def _cluster(self, request: PortCall, one: PlacedObject) -> dict[str, str]:
        said = one.entries.get(CLUSTER) or self.sight.cluster
        if said != self.sight.cluster:
            what = one.database if one.kind is ObjectKind.DATABASE else f"{one.database}.{one.table}"
            raise self._refusal(
                request, f"{what} would belong to cluster {said} by its parameter {CLUSTER}", "leave the parameter away"
            )
        return {CLUSTER: said} if said != self.sight.default else {}

    def _place(self, request: PortCall, one: PlacedObject) -> Splice:
        """Place a new table that says no place, or an empty one, which the metastore takes for none."""
        if self.sight.cluster == self.sight.default:
            return one.fields, one.fields, b""  # by the metastore's own rule
        database = self.metastore.database(one.database.lower())
        root = None if database is None else self.sight.root_of_new_tables(database.parameters)
        if root is None or one.sd_fields is None:
            raise self._refusal(
                request,
                f"database {one.database} has no place for tables on {self.sight.cluster}",
                f"{self.sight.way_to_a_root(one.database)}; or a LOCATION",
            )
        place = join(root, default_directory(one.table))
        return other_text(one.location, place) if one.location else new_text(one.sd_fields, _SD_LOCATION, place)

    def _database_change(self, request: PortCall) -> WireMessage:
        if request.method.startswith("drop_database"):
            return self._database_drop(request)
        found = [self.metastore.database(name) for name, _ in request.named]
        there = next((one for one in found if one is not None), None)
        if request.method.startswith("create_database"):
            return self._new_database(request)
        if there is None:
            for one in request.objects():
                self._check_places(request, one)
            return request.message
        self._check_primary(request, there.name, dict(there.parameters))
        splices: list[Splice] = []
        for one in request.objects():
            splices += self._restored(request, one, there)
            splices += self._of_database(one, dict(one.entries) | self._cluster(request, one))
        return request.with_splices(splices)

    def _database_drop(self, request: PortCall) -> WireMessage:
        path = _CASCADE.get(request.method)
        if path is None or is_true(request.message.raw, request.message.at, path):
            raise self._refusal(
                request, "CASCADE would drop tables of other clusters", "drop the tables first, then the database"
            )
        for name, _ in request.named:
            self._check_primary(request, name, _parameters(self._object(name, None)))
        return request.message

    def _new_database(self, request: PortCall) -> WireMessage:
        """Make a database: its own place is the default cluster's; what is said is where this cluster puts tables."""
        splices: list[Splice] = []
        for one in request.objects():
            self._check_places(request, one)
            entries = dict(one.entries) | self._cluster(request, one)
            if self.sight.cluster != self.sight.default:
                if one.others:
                    raise self._refusal(request, "it says more than one place", "say LOCATION alone")
                if one.location is not None:
                    splices.append(without_field(one.location))
                    if one.location.text:
                        entries[f"{ROOT}{self.sight.cluster}"] = one.location.text
            splices += self._of_database(one, entries)
        return request.with_splices(splices)

    def _of_database(self, one: PlacedObject, entries: dict[str, str]) -> Iterator[Splice]:
        if one.parameters is not None and entries != one.entries:
            yield other_map(one.parameters, entries)
        elif one.parameters is None and entries:
            yield new_map(one.fields, _DATABASE_PARAMETERS, entries)

    def _restored(self, request: PortCall, one: PlacedObject, there: Database) -> Iterator[Splice]:
        """Put the places of a database back that the cluster sees otherwise."""
        where = Whereabouts(primary_of(there.parameters, self.sight.default), there.location or "")
        own = [place for place in (there.location, there.managed_location) if place]
        seen = {database_place(there.parameters, place, where, self.sight): place for place in reversed(own)}
        for spot in (one.location, *one.others):
            if spot is None or not spot.text or spot.text in own:
                continue
            if spot.text in seen:
                yield other_text(spot, seen[spot.text])
            elif self.sight.cluster != self.sight.default or self.sight.unfit_here(spot.text):
                raise self._refusal(
                    request,
                    f"the place of {there.name} would be {spot.text}",
                    f"set {ROOT}{self.sight.cluster} instead",
                )


def _parameters(found: Table | Database | None) -> "dict[str, str] | None":
    return None if found is None else dict(found.parameters)


def _places(one: PlacedObject) -> Iterator[str]:
    """Yield all places that an object names, those in parameters too."""
    spots: list[TextSpot | None] = [one.location, *one.others]
    yield from (spot.text for spot in spots if spot is not None and spot.text)
    for entries in (one.entries, *(spot.entries for spot in one.inner)):
        values = (entries.get(key, "") for key in PLACE_KEYS)
        yield from (value for value in values if "://" in value or value.startswith("/"))
