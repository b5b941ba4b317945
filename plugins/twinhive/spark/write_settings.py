"""What the Spark job is told that writes partitions: from which rows, into which table, on which servers."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from twinhive import __version__
from twinhive.partition_writes.request import SmallFiles
from twinhive.transfer.staged.job import Unusable


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
    version: str = __version__

    @property
    def label(self) -> str:
        """Say what is written, for people."""
        return f"write partitions of {self.table}"

    def to_json(self) -> str:
        """Return the text that `parse` reads; a query or an option in it may hold secrets."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "WriteJobSettings":
        """Read the JSON text. Raises Unusable."""
        try:
            fields: dict[str, Any] = json.loads(text)
            rule = fields["small_files"]
            given = {"rows": RowsOf(**fields["rows"]), "small_files": None if rule is None else SmallFiles(**rule)}
            settings = cls(**{**fields, **given})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Unusable(f"the settings cannot be used: {type(error).__name__}: {error}") from error
        if settings.version != __version__:
            raise Unusable(f"the submitter is twinhive {settings.version}, this job {__version__}")
        return settings
