"""Find a table of ours in a database, make it where it is missing, refuse one of somebody else that has its name."""

from contextlib import suppress
from types import MappingProxyType

from twinhive.core.model.errors import ActNow, AlreadyThere, Missing
from twinhive.core.model.objects import Parameters, Table
from twinhive.core.model.sets.own_tables import OwnTable
from twinhive.core.model.thrift_objects import text_table
from twinhive.core.ports.metastores import MetastoreReader, MetastoreWriter


def find_own_table(metastore: MetastoreReader, kind: OwnTable, database: str) -> Table | None:
    """Return the table, None where nothing was marked yet. Raises ActNow for a table of somebody else."""
    found = metastore.table(kind.of(database))
    if found is None:
        return None
    if not kind.is_one(found):
        raise ActNow(
            f"{found.name} is not a table of {kind.holds}, and {kind.holds} are kept in a table of that name",
            found=f"partition keys {', '.join(found.partition_keys) or '(none)'}, "
            f"{kind.says}={found.parameters.get(kind.says, '(not set)')}",
            expected=f"partition keys {', '.join(kind.keys)}, {kind.says}=1",
            next_step=f"rename that table; or, if it was made for {kind.holds} and has these keys: "
            f"ALTER TABLE {found.name} SET TBLPROPERTIES ('{kind.says}'='1')",
        )
    return found


def make_own_table(
    metastore: MetastoreWriter,
    kind: OwnTable,
    database: str,
    owner: str | None,
    parameters: Parameters = MappingProxyType({}),
) -> Table:
    """Return the table, which is made where it is missing, with further parameters."""
    found = find_own_table(metastore, kind, database)
    if found is None:
        made = text_table(kind.of(database), (("note", "string"),), kind.keys, owner)
        # Another one may have marked his first at the same moment.
        with suppress(AlreadyThere):
            metastore.create_table(made.with_parameters({**parameters, kind.says: "1"}))
        found = find_own_table(metastore, kind, database)
    if found is None:
        raise Missing(
            f"{kind.of(database)} was made, and is gone",
            found="no such table",
            expected=f"the table of the database's {kind.holds}",
            next_step="see who dropped it, then do the same again",
        )
    return found
