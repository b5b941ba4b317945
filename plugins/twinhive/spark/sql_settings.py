"""What the Spark job is told that runs one statement."""

import json
from dataclasses import asdict, dataclass

from twinhive import __version__
from twinhive.transfer.staged.job import Unusable


@dataclass(frozen=True)
class SqlJobSettings:
    """Hold one statement, the database of its names without one, and where and why it runs there, for people."""

    sql: str
    database: str
    label: str
    rows: int = 20
    """How many rows of its answer go into the log."""
    version: str = __version__

    def to_json(self) -> str:
        """Return the text that `parse` reads; a statement in it may hold secrets."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "SqlJobSettings":
        """Read the JSON text. Raises Unusable."""
        try:
            settings = cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise Unusable(f"the settings cannot be used: {type(error).__name__}: {error}") from error
        if settings.version != __version__:
            raise Unusable(f"the submitter is twinhive {settings.version}, this job {__version__}")
        return settings
