"""What the Spark job is told that writes partitions: from which rows, into which table, on which servers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from twinhive.publishing.partition_writes.write_request import SmallFiles
from twinhive.runtime.spark.settings_text import parsed, settings_text


@dataclass(frozen=True)
class RowsOf:
    """Rows by a query of Spark SQL. `inputs` are files that it names as views: name -> {format, path, options...}."""

    sql: str
    inputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class WriteJobSettings:
    """Hold what the submitter knows; `metastore` is a list of addresses as in `hive.metastore.uris`."""

    rows: RowsOf
    table: str
    metastore: str
    mode: str
    job: str
    user: str | None = None
    small_files: SmallFiles | None = field(default_factory=SmallFiles)
    set_done: str | None = None
    clearing: int = 0

    @property
    def label(self) -> str:
        """Say what is written, for people."""
        return f"write partitions of {self.table}"

    def to_json(self) -> str:
        """Return the text that `parse` reads; a query or an option in it may hold secrets."""
        return settings_text(**asdict(self))

    @classmethod
    def parse(cls, text: str) -> "WriteJobSettings":
        """Read the JSON text. Raises Unusable."""
        return parsed(text, cls._of)

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> "WriteJobSettings":
        rule = None if fields["small_files"] is None else SmallFiles(**fields["small_files"])
        return cls(**{**fields, "rows": RowsOf(**fields["rows"]), "small_files": rule})
