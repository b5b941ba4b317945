"""Say where the rows of a table are: one answer, over the formats that Hive, Spark and others keep in a metastore.

Most tables are the files of their location. Others name another place, keep a log of which files count, or have no
files at all. Whoever copies, compares, lists or moves rows asks here; `docs/external-tables.md` has it as a table.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from twinhive.core.model.files import authority, qualified
from twinhive.core.model.tjson import Tree, from_text

PROVIDER: Final = "spark.sql.sources.provider"
"""The parameter in which Spark says by what it reads a table: `csv`, `delta`, or the name of a class."""
PATH: Final = "path"
"""The SerDe's property that Spark believes before the location of its own tables."""
FILE_SOURCES: Final = ("parquet", "orc", "csv", "json", "text", "avro", "binaryfile", "xml")
"""Spark's sources of plain files."""
LOGGED_SOURCES: Final = ("delta", "hudi")
OPEN_FORMATS: Final = (*LOGGED_SOURCES, "iceberg", "paimon")
"""Table formats with a log of their own, by the names that Spark knows them by."""
DELTA_LOG: Final = "_delta_log"
LOGS: Final = (DELTA_LOG, ".hoodie")
"""Names of directories in which a table's log says which of its files count."""

_HIVE: Final = "hive"
_CLASSES_OF_FILES: Final = re.compile(
    r"com\.databricks\.spark\.(?:avro|csv|xml)(?:\..*)?|org\.apache\.spark\.sql\.(?:hive\.)?(?:avro|json|orc|parquet)(?:\..*)?"
    r"|org\.apache\.spark\.sql\.execution\.datasources\.(?:v2\.)?(?:binaryfile|csv|json|orc|parquet|text|xml)(?:\..*)?"
)
_CLASSES_OF_HUDI: Final = re.compile(r"org\.apache\.hudi(?:\..*)?|com\.uber\.hoodie(?:\..*)?")
_CLASSES_OF_DELTA: Final = re.compile(r"org\.apache\.spark\.sql\.delta(?:\..*)?|io\.delta(?:\..*)?")
_TABLE_TYPES: Final = ("iceberg", "paimon", "lance")
_ELSEWHERE_INPUT: Final = re.compile(r".*\.SymlinkTextInputFormat|.*\.(?:carbondata|iceberg|kudu|paimon)\..*")
_TELLING: Final = re.compile(r"SymlinkTextInputFormat|carbondata|delta|hoodie|hudi|iceberg|kudu|paimon")


class RowFiles(Enum):
    """How the rows of a table follow from its directory."""

    ALL = "all"
    """Its visible files are the table."""
    LOGGED = "logged"
    """A log in the directory says which of its files count: log and files mean something together only."""
    ELSEWHERE = "elsewhere"
    """A storage handler, a catalog, a source without files or a list of files says where they are."""


def row_files(parameters: Mapping[str, str], thrift: str) -> RowFiles:
    """Return how the rows of a table follow from its directory; `thrift` is its struct in TJSON text."""
    provider = parameters.get(PROVIDER, _HIVE)
    if _is_elsewhere(parameters):
        return RowFiles.ELSEWHERE
    reader = _input_format(thrift) if _TELLING.search(thrift) else ""
    if _ELSEWHERE_INPUT.fullmatch(reader):
        return RowFiles.ELSEWHERE
    named = (provider, reader)
    if provider.lower() in LOGGED_SOURCES or any(map(_is_of_logged, named)):
        return RowFiles.LOGGED
    is_known = provider.lower() in (_HIVE, *FILE_SOURCES) or _CLASSES_OF_FILES.fullmatch(provider)
    return RowFiles.ALL if is_known else RowFiles.ELSEWHERE


def place_of_rows(
    location: str | None, parameters: Mapping[str, str], serde_parameters: Mapping[str, str]
) -> str | None:
    """Return the directory of a table's rows, None for one without a location.

    Of its own tables Spark believes the SerDe's path. Where Hive has no SerDe for an external one, the location is that
    of a directory which Spark has deleted: `<database>/<table>-__PLACEHOLDER__`.
    """
    own = spark_path(serde_parameters) if parameters.get(PROVIDER, _HIVE).lower() != _HIVE else None
    return qualified(own, authority(location or "")).rstrip("/") if own else location


def is_of_log(path: str) -> bool:
    """True for the path, relative to a copied directory, of a table's log or of something in it."""
    return any(log in path for log in LOGS) and any(name in LOGS for name in path.split("/"))


def table_of_log(path: str) -> str:
    """Return the directory of the table whose log a path is, or is in: all before the first name of a log."""
    parts = path.split("/")
    return "/".join(parts[: next(at for at, name in enumerate(parts) if name in LOGS)])


def spark_path(serde_parameters: Mapping[str, str]) -> str | None:
    """Return the path among a SerDe's properties; Spark does not mind in which letters its name is written."""
    return next((value for key, value in serde_parameters.items() if key.lower() == PATH and value), None)


def _is_elsewhere(parameters: Mapping[str, str]) -> bool:
    return (
        "storage_handler" in parameters
        or parameters.get("table_type", "").lower() in _TABLE_TYPES
        or parameters.get("flink.connector", _HIVE) != _HIVE
        or parameters.get("is_generic", "").lower() == "true"
        or "__IMPALA_DATA_SOURCE_NAME" in parameters
    )


def _is_of_logged(name: str) -> bool:
    return bool(_CLASSES_OF_HUDI.fullmatch(name) or _CLASSES_OF_DELTA.fullmatch(name))


def _input_format(thrift: str) -> str:
    """Return Hive's class for the files of a table, from its struct (Table.sd.inputFormat)."""
    sd: Tree = from_text(thrift).get("7", {}).get("rec", {})
    return str(sd.get("3", {}).get("str", ""))
