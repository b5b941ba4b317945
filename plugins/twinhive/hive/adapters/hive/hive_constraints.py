"""Write the constraints of a Hive metastore's tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hive_metastore import ttypes

from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import from_text
from twinhive.hive.adapters.hive.hive_reader import CATALOG
from twinhive.hive.adapters.hive.hive_writing import WritingMetastore, restated
from twinhive.hive.adapters.hive.thrift_json import struct_of


@dataclass(frozen=True)
class _Kind:
    """How the bindings spell one kind of constraint."""

    struct: Any
    name: str
    request: Any
    field: str
    call: str


_KINDS = {
    "primary_key": _Kind(
        ttypes.SQLPrimaryKey,
        "pk_name",
        ttypes.AddPrimaryKeyRequest,
        "primaryKeyCols",
        "add_primary_key",
    ),
    "foreign_key": _Kind(
        ttypes.SQLForeignKey,
        "fk_name",
        ttypes.AddForeignKeyRequest,
        "foreignKeyCols",
        "add_foreign_key",
    ),
    "unique": _Kind(
        ttypes.SQLUniqueConstraint,
        "uk_name",
        ttypes.AddUniqueConstraintRequest,
        "uniqueConstraintCols",
        "add_unique_constraint",
    ),
    "not_null": _Kind(
        ttypes.SQLNotNullConstraint,
        "nn_name",
        ttypes.AddNotNullConstraintRequest,
        "notNullConstraintCols",
        "add_not_null_constraint",
    ),
    "default": _Kind(
        ttypes.SQLDefaultConstraint,
        "dc_name",
        ttypes.AddDefaultConstraintRequest,
        "defaultConstraintCols",
        "add_default_constraint",
    ),
    "check": _Kind(
        ttypes.SQLCheckConstraint,
        "dc_name",
        ttypes.AddCheckConstraintRequest,
        "checkConstraintCols",
        "add_check_constraint",
    ),
}


class ConstraintWrites(WritingMetastore):
    """Add and drop constraints.

    The server says neither which constraint is there already nor that one is not (its answer is an
    internal error), so a refusal is explained by reading the constraints back.
    """

    def add_constraints(self, table: TableName, kind: str, constraints: Sequence[str]) -> None:
        """Add constraints of one kind to a table. Raises AlreadyThere, Missing.

        A foreign key's other table keeps its name and gets the database of `table` when it was in
        the database that the struct names for its own side.
        """
        if not constraints:
            return
        spelled = _KINDS[kind]
        structs = [_moved(struct_of(spelled.struct, from_text(text)), table) for text in constraints]
        request = spelled.request(**{spelled.field: structs})
        doing = f"adding {kind} constraints to {table}"
        try:
            self._write(doing, lambda client: getattr(client, spelled.call)(request))
        except Refused as refusal:
            if gone := next((name for name in _tables(structs, table) if self.table(name) is None), None):
                raise restated(refusal, Missing, f"{doing}: there is no table {gone}") from refusal
            if self._clashes(table, kind, {getattr(struct, spelled.name) for struct in structs}):
                raise restated(refusal, AlreadyThere, f"{doing}: there is such a constraint already") from refusal
            raise

    def drop_constraint(self, table: TableName, name: str) -> None:
        """Drop a constraint; one that does not exist is fine."""
        request = ttypes.DropConstraintRequest(table.database, table.table, name, CATALOG)
        try:
            self._write(f"dropping constraint {name} of {table}", lambda client: client.drop_constraint(request))
        except Missing:
            return
        except Refused:
            if name.lower() in {there.name for there in self.constraints(table)}:
                raise

    def _clashes(self, table: TableName, kind: str, names: set[str]) -> bool:
        there = self.constraints(table)
        if kind == "primary_key" and any(one.kind == kind for one in there):
            return True
        return bool({(name or "").lower() for name in names} & {one.name for one in there})


def _moved(struct: Any, table: TableName) -> Any:
    struct.catName = CATALOG
    if isinstance(struct, ttypes.SQLForeignKey):
        if struct.pktable_db == struct.fktable_db:
            struct.pktable_db = table.database
        struct.fktable_db, struct.fktable_name = table.database, table.table
    else:
        struct.table_db, struct.table_name = table.database, table.table
    return struct


def _tables(structs: Sequence[Any], table: TableName) -> list[TableName]:
    """Return the tables that constraints speak of: their own, and those that foreign keys refer to."""
    keys = [struct for struct in structs if isinstance(struct, ttypes.SQLForeignKey)]
    return [table, *(TableName(key.pktable_db.lower(), key.pktable_name.lower()) for key in keys)]
