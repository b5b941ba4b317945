"""Make and drop data connectors, in Hive 4's words: an address with a name, for databases of type REMOTE."""

from collections.abc import Callable
from dataclasses import dataclass

from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.objects import Parameters
from twinhive.core.model.remotes.data_connectors import REMOTE_NAME, TYPE, DataConnector
from twinhive.core.model.remotes.definitions import REMOTE, THRIFT, RemoteDatabase
from twinhive.federation.remotes.kept_remotes import VIA, told
from twinhive.statements.execution.remotes_overlay import RemotesSeen


@dataclass(frozen=True)
class ConnectorChanges:
    """The data connectors of one local metastore.

    do        says what is done, and does the first or pretends the second
    is_rerun  of a task that was tried before: what is made just so, or dropped, it may have done itself
    """

    seen: RemotesSeen
    say: Callable[[str], None]
    do: Callable[[str, Callable[[], None], Callable[[], None]], None]
    is_rerun: bool = False

    def create(self, connector: DataConnector, *, if_not_exists: bool) -> None:
        """Make a data connector. Raises Refused for an address that may not be reached, AlreadyThere."""
        if not connector.is_ours:
            raise Refused(
                f"connector {connector.name} was not made: it is of type {connector.kind!r}",
                found=f"TYPE {connector.kind!r}",
                expected=f"TYPE '{TYPE}', which a gateway reaches",
                next_step="of other types Hive's own CREATE CONNECTOR makes them",
            )
        there = self.seen.connector(connector.name)
        if there is not None:
            self._exists(connector, there, if_not_exists=if_not_exists)
            return
        self.seen.wiring.reached(_database_of(connector, f"connector {connector.name}", ""))
        self.do(
            f"create connector {connector.name} to {connector.url} in the local metastore",
            lambda: self.seen.wiring.writer.create_connector(connector),
            lambda: self.seen.pretend_connector(connector.name, connector),
        )

    def drop(self, name: str, *, if_exists: bool) -> None:
        """Take a data connector away that no database uses. Raises Missing, Refused."""
        there = self.seen.connector(name)
        if there is None and (if_exists or self.is_rerun):
            self.say(f"there is no connector {name}")
            return
        if there is None:
            raise _no_connector(name, f"dropping connector {name}")
        if not there.is_ours:
            raise _of_hive(there)
        users = self.seen.users_of(name)
        if users:
            raise Refused(
                f"connector {name} was not dropped: databases use it",
                found=", ".join(users),
                expected="a connector that no database uses",
                next_step="drop these first with DROP REMOTE DATABASE",
            )
        self.do(
            f"drop connector {name} in the local metastore",
            lambda: self.seen.wiring.writer.drop_connector(name),
            lambda: self.seen.pretend_connector(name, None),
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """Return name, type and URL of all connectors."""
        return sorted((one.name, one.kind, one.url) for one in self.seen.connectors().values())

    def database(self, name: str, connector: str, properties: Parameters) -> tuple[RemoteDatabase, Parameters]:
        """Return what a database with a connector stands for, and what is kept of it. Raises Missing, Refused."""
        there = self.seen.connector(connector)
        if there is None:
            raise _no_connector(connector, f"remote {name} was not made")
        if not there.is_ours:
            raise _of_hive(there)
        remote = properties.get(REMOTE_NAME, name).strip().lower()
        merged = {**there.told, **properties}
        definition = RemoteDatabase(name, remote, merged.get(VIA) or THRIFT, told(merged))
        return definition, {**properties, REMOTE: remote}

    def _exists(self, connector: DataConnector, there: DataConnector, *, if_not_exists: bool) -> None:
        is_same = (there.url, dict(there.parameters)) == (connector.url, dict(connector.parameters))
        if not if_not_exists and not (self.is_rerun and is_same):
            raise AlreadyThere(
                f"connector {connector.name} is there already",
                found=f"type {there.kind}, {there.url}",
                expected="a name that is free",
                next_step="choose another name; DROP CONNECTOR takes one away that no database uses",
            )
        self.say(f"connector {connector.name} is there already, {'just so' if is_same else 'and stays as it is'}")


def _database_of(connector: DataConnector, name: str, remote: str) -> RemoteDatabase:
    return RemoteDatabase(name, remote, connector.told.get(VIA) or THRIFT, told(connector.told))


def _no_connector(name: str, what: str) -> Missing:
    return Missing(
        f"{what}: there is no connector {name}",
        found="no data connector of this name in the local metastore",
        expected="one of those that SHOW CONNECTORS lists",
        next_step=f"correct the name, or make it: CREATE CONNECTOR {name} TYPE '{TYPE}' URL 'thrift://host:9083'",
    )


def _of_hive(connector: DataConnector) -> Refused:
    return Refused(
        f"connector {connector.name} is not for a gateway",
        found=f"type {connector.kind!r}",
        expected=f"a connector of type '{TYPE}'",
        next_step="leave connectors of other types to Hive, and name another one; SHOW CONNECTORS lists them",
    )
