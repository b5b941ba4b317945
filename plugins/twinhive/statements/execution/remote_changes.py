"""Make and drop remotes: what is allowed, whether it is there, and then the one change of the local metastore."""

from collections.abc import Callable

from twinhive.core.model.errors import ActNow, AlreadyThere, Missing, Refused, Unreachable
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Table, TableKind
from twinhive.core.model.remotes.definitions import REMOTE, Definition, Definitions, RemoteDatabase, RemoteTable
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.probe import Probed, RemoteState, probe_now
from twinhive.federation.gateway.remote_pool import ReachedRemote
from twinhive.federation.remotes.kept_remotes import parameters_of, shown, table_definition, unreadable
from twinhive.federation.remotes.orders import ThereAlready, refuse_itself, taken_by
from twinhive.hive.adapters.hive.hive_remotes import table_of_answer
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring
from twinhive.statements.execution.connector_changes import ConnectorChanges
from twinhive.statements.execution.remotes_overlay import RemotesSeen
from twinhive.statements.execution.statement_cluster import StatementPlace

_UNKNOWN_COLUMNS = (("columns_are_not_known", "string"),)
"""Of a remote that did not answer: a view has to have a column."""


class RemoteChanges:
    """Change one local metastore; one that pretends only says what would be done."""

    def __init__(self, place: StatementPlace, say: Callable[[str], None], *, pretends: bool) -> None:
        self._place, self._say, self._pretends = place, say, pretends

    def definitions(self) -> Definitions:
        """Read what is defined now."""
        return self._seen.definitions()

    def ask(self, definition: Definition) -> Probed:
        """Ask a remote once. Raises Refused for one that may not be reached."""
        return self._probe(self._wiring.reached(definition), definition)

    def check_database(self, name: str) -> None:
        """Raise Missing for a database that is not there."""
        if not self._seen.has_database(name):
            raise Missing(
                f"there is no database {name}",
                found=f"no such database at {', '.join(self._wiring.metastore.addresses())}",
                expected="a database of the local metastore",
                next_step="create it first, or name another one",
            )

    def create(self, definition: Definition, *, if_not_exists: bool, by: tuple[str, Parameters] | None = None) -> None:
        """Make a remote. Raises ActNow, and Unreachable where the remote does not answer, unless `if_not_exists`.

        `by` is the data connector of a database, and what is kept beside its name: the connector says the rest.
        """
        there = self._taken(definition)
        if there is not None:
            self._exists(there, if_not_exists=if_not_exists or (self._place.is_rerun and there.is_same))
            return
        reached = self._wiring.reached(definition)
        addresses = {f"thrift://{host}:{port}" for host, port in self._wiring.endpoint.addresses}
        refuse_itself(definition, frozenset(addresses), tuple(reached.name.split(",")))
        columns = self._columns(definition, reached, keeps_away=if_not_exists)
        match definition:
            case RemoteTable(local=view):
                text = unreadable(definition, columns)
                self._do(
                    f"create view {view} in the local metastore, with {_words(definition)}",
                    lambda: self._wiring.writer.create_view(view, columns, text, parameters_of(definition)),
                    lambda: self._seen.pretend_made(definition),
                )
            case RemoteDatabase(local=database):
                connector, kept = by or (None, parameters_of(definition))
                using = f", using connector {connector}" if connector else ""
                self._do(
                    f"create database {database} of type REMOTE in the local metastore{using}, "
                    f"with {_words(definition)}",
                    lambda: self._wiring.writer.create_remote_database(database, kept, connector),
                    lambda: self._seen.pretend_made(definition, connector),
                )

    def drop_table(self, name: TableName, *, if_exists: bool) -> None:
        """Take a remote table away; the table at the remote stays."""
        table = self._seen.table(name)
        if table is None and (if_exists or self._place.is_rerun):
            self._say(f"there is no {name}")
            return
        if table is None or (isinstance(table, Table) and table_definition(table) is None):
            raise _no_remote(f"{name}", "table", _kind(table) if isinstance(table, Table) else "nothing of this name")
        self._do(
            f"drop view {name} in the local metastore",
            lambda: self._wiring.writer.drop_view(name),
            lambda: self._seen.pretend_table_dropped(name),
        )

    def drop_database(self, name: str, *, if_exists: bool) -> None:
        """Take a remote database away; the database at the remote stays."""
        is_there = self._seen.has_database(name)
        if not is_there and (if_exists or self._place.is_rerun):
            self._say(f"there is no {name}")
            return
        if not is_there or name not in self.definitions().databases:
            found = "a database of the local metastore" if is_there else "nothing of this name"
            raise _no_remote(name, "database", found)
        self._do(
            f"drop database {name} in the local metastore",
            lambda: self._wiring.writer.drop_remote_database(name),
            lambda: self._seen.pretend_database_dropped(name),
        )

    @property
    def connectors(self) -> ConnectorChanges:
        """The data connectors of the same metastore."""
        return ConnectorChanges(self._seen, self._say, self._do, self._place.is_rerun)

    @lazy_property
    def _wiring(self) -> RemotesWiring:
        return RemotesWiring(self._place.configuration, self._place.dumping_cluster(), self._place.resolve)

    @lazy_property
    def _seen(self) -> RemotesSeen:
        return RemotesSeen(self._wiring)

    def _taken(self, definition: Definition) -> ThereAlready | None:
        if isinstance(definition, RemoteDatabase):
            has_object = self._seen.has_database(definition.local)
        else:
            self.check_database(definition.local.database)
            has_object = self._seen.table(definition.local) is not None
        return taken_by(definition, self.definitions(), has_object=has_object)

    def _exists(self, there: ThereAlready, *, if_not_exists: bool) -> None:
        if not if_not_exists:
            raise AlreadyThere(
                f"{there.name} is there already",
                found=there.what,
                expected="a name that is free",
                next_step="choose another name; a remote is taken away with DROP REMOTE TABLE or DATABASE",
            )
        same = "just so" if there.is_same else f"as {there.what}; it stays as it is"
        self._say(f"{there.name} is there already, {same}")

    def _columns(
        self, definition: Definition, reached: ReachedRemote, *, keeps_away: bool
    ) -> tuple[tuple[str, str], ...]:
        """Ask the remote what is to be made; return a table's columns, partition keys after the others."""
        self._say(f"asked {reached.name} for {definition.remote}")
        probed = self._probe(reached, definition)
        match probed.state:
            case RemoteState.AWAY:
                if not keeps_away:
                    raise _away(definition, reached, probed)
                self._say(f"{reached.name} does not answer: {probed.text}; the remote is kept all the same")
                return _UNKNOWN_COLUMNS if isinstance(definition, RemoteTable) else ()
            case RemoteState.MISSING:
                raise _missing(definition, reached, probed)
        assert probed.answer is not None
        if isinstance(definition, RemoteDatabase):
            return ()
        table = table_of_answer(probed.answer.body)
        if table.kind is TableKind.VIEW and REMOTE in table.parameters:
            raise Refused(
                f"{definition.remote} at {reached.name} is a remote itself",
                found=f"it stands for {table.parameters[REMOTE] or 'a table of its own name'}",
                expected="a table or a view that is there",
                next_step="name the metastore that it stands for; or the gateway of that one",
            )
        return table.columns + tuple((key, "string") for key in table.partition_keys)

    def _probe(self, reached: ReachedRemote, definition: Definition) -> Probed:
        return probe_now(reached, definition, RemoteLimits(), self._wiring.endpoint.user)

    def _do(self, what: str, change: Callable[[], None], pretend: Callable[[], None]) -> None:
        if self._pretends:
            self._say(f"would {what}")
            pretend()
            return
        change()
        self._say(f"done: {what}")


def _words(definition: Definition) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(shown(definition).items()))


def _kind(table: Table) -> str:
    return f"an object of the local metastore itself, of the kind {table.kind.value}"


def _no_remote(name: str, kind: str, found: str) -> ActNow:
    return Missing(
        f"{name} is no remote {kind}; nothing was dropped",
        found=found,
        expected=f"a remote {kind}, as SHOW REMOTE {kind.upper()}S lists them",
        next_step=f"correct the name; of anything else use DROP {kind.upper()} in Hive or Spark",
    )


def _away(definition: Definition, reached: ReachedRemote, probed: Probed) -> Unreachable:
    return Unreachable(
        f"remote {definition.local} was not made: {reached.name} does not answer",
        found=probed.text,
        expected=f"an answer for {definition.remote}",
        next_step="correct the address, or run the statement again later; with IF NOT EXISTS it is kept unasked",
    )


def _missing(definition: Definition, reached: ReachedRemote, probed: Probed) -> Missing:
    return Missing(
        f"remote {definition.local} was not made: {definition.remote} is not there",
        found=f"{reached.name} says: {probed.text}",
        expected="a name that the remote has, and that we may read there",
        next_step="correct CONNECTED TO, and run the statement again",
    )
