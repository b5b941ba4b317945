"""What a statement about a remote asks for, as values: names complete, defaults filled in (seed 004)."""

from dataclasses import dataclass, replace

from twinhive.core.model.errors import Refused
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteTable
from twinhive.federation.remotes.kept_remotes import told


@dataclass(frozen=True)
class ThereAlready:
    """A local name that is taken; `same` by a remote that is just so."""

    name: str
    is_same: bool
    what: str


def taken_by(definition: Definition, defined: Definitions, *, has_object: bool) -> ThereAlready | None:
    """Return what has the local name, None for a free one; `has_object`: something in the metastore is called so.

    Raises Refused for a table in a remote database.
    """
    database = definition.local.database if isinstance(definition, RemoteTable) else definition.local
    table = definition.local.table if isinstance(definition, RemoteTable) else None
    if table is not None and (whole := defined.databases.get(database)) is not None:
        raise Refused(
            f"remote {definition.local} cannot be made: database {database} is a remote itself",
            found=f"it stands for {whole.remote}, by {whole.via}: its tables are those of there",
            expected="a database of the local metastore",
            next_step="choose another database",
        )
    there = defined.owner_of(database, table)
    if there is None:
        return ThereAlready(str(definition.local), is_same=False, what="an object of its own") if has_object else None
    is_same = there == replace(definition, properties=told(definition.properties))
    return ThereAlready(str(definition.local), is_same, f"a remote of {there.remote}, by {there.via}")


def refuse_itself(definition: Definition, local_addresses: frozenset[str], addresses: tuple[str, ...]) -> None:
    """Raise Refused for a remote that stands for its own name at its own metastore."""
    if str(definition.local) == str(definition.remote) and local_addresses & set(addresses):
        raise Refused(
            f"remote {definition.local} would stand for itself",
            found=f"{definition.remote} at {', '.join(addresses)}, which is the local metastore",
            expected="another metastore, or another name",
            next_step="correct hive.metastore.uris, or CONNECTED TO",
        )
