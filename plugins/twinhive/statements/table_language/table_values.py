"""What EXPORT TABLE and IMPORT TABLE say; directories are as they are written there."""

from dataclasses import dataclass

from twinhive.core.model.names import TableName

KeyValue = tuple[str, str]


@dataclass(frozen=True)
class ExportStatement:
    """EXPORT TABLE table [PARTITION (...)] TO 'directory' [WITH ('overwrite'='true')]."""

    table: TableName
    directory: str
    partition: tuple[KeyValue, ...] = ()
    overwrites: bool = False


@dataclass(frozen=True)
class ImportStatement:
    """IMPORT [[EXTERNAL] TABLE table [PARTITION (...)]] FROM 'directory' [LOCATION 'directory'].

    table  None: as the exported one
    """

    table: TableName | None
    directory: str
    partition: tuple[KeyValue, ...] = ()
    external: bool = False
    location: str | None = None


TableStatement = ExportStatement | ImportStatement
