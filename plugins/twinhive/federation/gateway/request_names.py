"""What a request names, and which names the owner of a remote knows instead."""

from collections.abc import Iterator

from twinhive.core.model.remotes.definitions import Definition, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.call_targets import Named
from twinhive.hive.wire.message_renaming import Name, names_of
from twinhive.hive.wire.name_forms import DatabaseText, key_of, split_full_name
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import WireMessage

DEFAULT_CATALOG = "hive"


def named_in(request: WireMessage) -> tuple[Named, ...]:
    """List what a request names: tables, and databases that no table of it is in. Raises WireError.

    Names of other catalogs than Hive's own are nobody's but the local metastore's.
    """
    names = names_of(request)
    databases = [one for one in names if one.role is Role.DATABASE]
    alone = databases[0].text if len(databases) == 1 else None
    found = tuple(dict.fromkeys(named for one in names for named in _named(one, alone)))
    with_tables = {one.database for one in found if one.table is not None}
    return tuple(one for one in found if one.table is not None or one.database not in with_tables)


def _named(name: Name, alone: str | None) -> Iterator[Named]:
    match name.role:
        case Role.DATABASE:
            yield from _in_database(name.text, name.catalog, None)
        case Role.TABLE:
            database = name.database if name.database is not None else alone
            if database is not None:
                yield from _in_database(database, name.catalog, key_of(name.text))
        case Role.FULL_NAME:
            if (split := split_full_name(name.text)) is not None and split[0] in ("", f"{DEFAULT_CATALOG}."):
                yield Named(key_of(split[1]), key_of(split[2]))
        case _:
            return


def _in_database(text: str, catalog: str | None, table: str | None) -> Iterator[Named]:
    form = DatabaseText.parse(text)
    if form.key and (form.catalog or catalog or DEFAULT_CATALOG).lower() == DEFAULT_CATALOG:
        yield Named(form.key, table)


def renames_of(definition: Definition) -> Renames:
    """Return what a remote's owner calls what clients call otherwise here."""
    match definition:
        case RemoteDatabase(local=local, remote=remote):
            return Renames(databases={local: remote})
        case RemoteTable(local=local, remote=remote):
            return Renames(tables={(local.database, local.table): (remote.database, remote.table)})
