"""What statements about remotes say."""

from dataclasses import dataclass

Property = tuple[str, str]


@dataclass(frozen=True)
class NameSaid:
    """`db.table`, `table`, or a database; in lower case. `first` is None for one word."""

    first: str | None
    last: str

    def __str__(self) -> str:
        return self.last if self.first is None else f"{self.first}.{self.last}"


@dataclass(frozen=True)
class CreateRemoteTable:
    """CREATE REMOTE TABLE."""

    name: NameSaid
    remote: NameSaid | None = None
    via: str | None = None
    properties: tuple[Property, ...] = ()
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateRemoteDatabase:
    """CREATE REMOTE DATABASE."""

    name: str
    remote: str | None = None
    via: str | None = None
    properties: tuple[Property, ...] = ()
    if_not_exists: bool = False
    connector: str | None = None
    """USING, as Hive 4 writes it."""


@dataclass(frozen=True)
class CreateConnector:
    """CREATE CONNECTOR."""

    name: str
    kind: str
    url: str
    comment: str | None = None
    properties: tuple[Property, ...] = ()
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropConnector:
    """DROP CONNECTOR."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class ShowConnectors:
    """SHOW CONNECTORS; `like` is a pattern with `*` and `|`."""

    like: str | None = None


@dataclass(frozen=True)
class DropRemoteTable:
    """DROP REMOTE TABLE."""

    name: NameSaid
    if_exists: bool = False


@dataclass(frozen=True)
class DropRemoteDatabase:
    """DROP REMOTE DATABASE."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class ShowRemotes:
    """SHOW REMOTE TABLES or DATABASES; `like` is a pattern with `*` and `|`."""

    databases: bool
    database: str | None = None
    like: str | None = None


@dataclass(frozen=True)
class DescribeRemote:
    """DESCRIBE."""

    name: NameSaid
    extended: bool = False


@dataclass(frozen=True)
class UseDatabase:
    """USE: which database names without one are in, from here on."""

    database: str


RemoteStatement = (
    CreateRemoteTable
    | CreateRemoteDatabase
    | CreateConnector
    | DropConnector
    | ShowConnectors
    | DropRemoteTable
    | DropRemoteDatabase
    | ShowRemotes
    | DescribeRemote
    | UseDatabase
)
