"""The read methods that catalogs are answered for: what each asks, where its arguments and its answer stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Final

from twinhive.hive.wire.name_forms import DatabaseText, key_of


class Asked(Enum):
    """What a method asks for."""

    DATABASE = auto()
    TABLE = auto()
    TABLES = auto()
    TABLE_NAMES = auto()
    FILTERED_TABLE_NAMES = auto()
    TABLE_METAS = auto()
    TABLE_INFOS = auto()
    FIELDS = auto()
    SCHEMA = auto()
    PARTITION_NAMES = auto()
    PARTITIONS = auto()
    PARTITION_SPECS = auto()
    PARTITION = auto()
    PARTITION_COUNT = auto()
    NO_LIST = auto()
    NO_TABLE_STATISTICS = auto()
    NO_PARTITION_STATISTICS = auto()
    NO_SUMMED_STATISTICS = auto()
    NO_CONSTRAINTS = auto()
    NO_STRUCT = auto()
    NOTHING_FOUND = auto()
    VOID = auto()
    DEFAULT_VALUE = auto()
    ALIVE = auto()


@dataclass(frozen=True)
class AnsweredMethod:
    """A method: where arguments stand in the call, or in the one struct that it holds, and where the answer stands.

    `inside` is the field of the struct that holds the answer, 0 for a bare answer.
    """

    asked: Asked
    fields: Mapping[str, int]
    is_wrapped: bool
    inside: int = 0


@dataclass(frozen=True)
class Arguments:
    """What a call of an answered method says."""

    method: AnsweredMethod
    fields: Mapping[int, Any]

    @property
    def database(self) -> str:
        """The database, in lower case and without its catalog; '' for none."""
        return DatabaseText.parse(self.text("database") or "").key or ""

    def by_database(self) -> "Iterator[Arguments]":
        """Yield what is asked of each database that is named, several between `|`: how a gateway asks for several."""
        number = self.method.fields["database"]
        for name in self.database.split("|"):
            yield replace(self, fields={**self.fields, number: name.encode()})

    @property
    def table(self) -> str:
        """The table, in lower case."""
        return key_of(self.text("table") or "")

    @property
    def most(self) -> int | None:
        """How many are wanted, None for all."""
        value = self._value("most")
        return value if isinstance(value, int) and value >= 0 else None

    def text(self, name: str) -> str | None:
        """Return an argument that is a text, None where it is missing."""
        value = self._value(name)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else None

    def texts(self, name: str) -> list[str] | None:
        """Return an argument that is a list of texts, None where it is missing."""
        value = self._value(name)
        if not isinstance(value, list):
            return None
        return [one.decode("utf-8", "replace") for one in value if isinstance(one, bytes)]

    def has(self, name: str) -> bool:
        """Say whether an argument is there and says something."""
        return bool(self._value(name))

    def _value(self, name: str) -> Any:
        number = self.method.fields.get(name)
        return None if number is None else self.fields.get(number)


def arguments_of(method: AnsweredMethod, fields: Mapping[int, Any]) -> Arguments:
    """Take the arguments out of a call's fields."""
    inner = fields.get(1) if method.is_wrapped else fields
    return Arguments(method, inner if isinstance(inner, Mapping) else {})


_TABLE_OF: Final = "database:1 table:2"
_ROWS: Final = f"""
get_database                       DATABASE               database:1
get_database_req                   DATABASE             * database:1
get_table                          TABLE                  {_TABLE_OF}
get_table_req                      TABLE                * {_TABLE_OF} -> 1
get_table_objects_by_name          TABLES                 database:1 names:2
get_table_objects_by_name_req      TABLES               * database:1 names:2 pattern:8 -> 1
get_all_tables                     TABLE_NAMES            database:1
get_tables                         TABLE_NAMES            database:1 pattern:2
get_tables_by_type                 TABLE_NAMES            database:1 pattern:2 type:3
get_table_names_by_filter          FILTERED_TABLE_NAMES   database:1 filter:2 most:3
get_table_meta                     TABLE_METAS            database:1 pattern:2 types:3
get_tables_ext                     TABLE_INFOS          * database:2 pattern:3 most:5
get_fields                         FIELDS                 {_TABLE_OF}
get_fields_with_environment_context FIELDS                {_TABLE_OF}
get_fields_req                     FIELDS               * database:2 table:3 -> 1
get_schema                         SCHEMA                 {_TABLE_OF}
get_schema_with_environment_context SCHEMA                {_TABLE_OF}
get_schema_req                     SCHEMA               * database:2 table:3 -> 1
get_partition_names                PARTITION_NAMES        {_TABLE_OF} most:3
get_partition_names_req            PARTITION_NAMES      * {_TABLE_OF} expression:3 most:5
fetch_partition_names_req          PARTITION_NAMES      * database:2 table:3 most:4
get_partition_names_ps             PARTITION_NAMES        {_TABLE_OF} values:3 most:4
get_partition_names_ps_req         PARTITION_NAMES      * database:2 table:3 values:4 most:5 -> 1
get_partitions                     PARTITIONS             {_TABLE_OF} most:3
get_partitions_with_auth           PARTITIONS             {_TABLE_OF} most:3
get_partitions_req                 PARTITIONS           * database:2 table:3 most:4 -> 1
get_partitions_by_names            PARTITIONS             {_TABLE_OF} names:3
get_partitions_by_names_req        PARTITIONS           * {_TABLE_OF} names:3 -> 1
get_partitions_by_filter           PARTITIONS             {_TABLE_OF} filter:3 most:4
get_partitions_by_filter_req       PARTITIONS           * database:2 table:3 filter:4 most:5
get_partitions_ps                  PARTITIONS             {_TABLE_OF} values:3 most:4
get_partitions_ps_with_auth        PARTITIONS             {_TABLE_OF} values:3 most:4
get_partitions_ps_with_auth_req    PARTITIONS           * database:2 table:3 values:4 most:5 -> 1
get_partitions_pspec               PARTITION_SPECS        {_TABLE_OF} most:3
get_part_specs_by_filter           PARTITION_SPECS        {_TABLE_OF} filter:3 most:4
get_partition                      PARTITION              {_TABLE_OF} values:3
get_partition_with_auth            PARTITION              {_TABLE_OF} values:3
get_partition_by_name              PARTITION              {_TABLE_OF} name:3
get_partition_req                  PARTITION            * database:2 table:3 values:4 -> 1
get_num_partitions_by_filter       PARTITION_COUNT        {_TABLE_OF} filter:3
get_table_statistics_req           NO_TABLE_STATISTICS  *
get_partitions_statistics_req      NO_PARTITION_STATISTICS *
get_aggr_stats_for                 NO_SUMMED_STATISTICS *
get_table_column_statistics        NOTHING_FOUND          {_TABLE_OF}
get_partition_column_statistics    NOTHING_FOUND          {_TABLE_OF}
get_primary_keys                   NO_LIST              * -> 1
get_foreign_keys                   NO_LIST              * -> 1
get_unique_constraints             NO_LIST              * -> 1
get_not_null_constraints           NO_LIST              * -> 1
get_default_constraints            NO_LIST              * -> 1
get_check_constraints              NO_LIST              * -> 1
get_all_table_constraints          NO_CONSTRAINTS       *
get_functions                      NO_LIST
get_functions_req                  NO_STRUCT            *
get_function                       NOTHING_FOUND          database:1 table:2
get_materialized_views_for_rewriting NO_LIST
get_privilege_set                  NO_STRUCT
set_ugi                            NO_LIST
setMetaConf                        VOID
get_config_value                   DEFAULT_VALUE          default:2
getMetaConf                        DEFAULT_VALUE
getStatus                          ALIVE
"""


def _read(row: str) -> tuple[str, AnsweredMethod]:
    asked, arrow, inside = row.partition(" -> ")
    name, kind, *rest = asked.split()
    pairs = (one.split(":") for one in rest if one != "*")
    fields = {key: int(number) for key, number in pairs}
    return name, AnsweredMethod(Asked[kind], fields, "*" in rest, int(inside) if arrow else 0)


ANSWERED: Final[Mapping[str, AnsweredMethod]] = dict(_read(row) for row in _ROWS.strip().splitlines())
"""All that is answered for a catalog; everything else is refused with an exception that its method declares."""
