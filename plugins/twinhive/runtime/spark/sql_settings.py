"""What the Spark job is told that runs one statement."""

from dataclasses import asdict, dataclass

from twinhive.runtime.spark.settings_text import parsed, settings_text


@dataclass(frozen=True)
class SqlJobSettings:
    """Hold one statement, the database of its names without one, and where and why it runs there, for people."""

    sql: str
    database: str
    label: str
    rows: int = 20
    """How many rows of its answer go into the log."""

    def to_json(self) -> str:
        """Return the text that `parse` reads; a statement in it may hold secrets."""
        return settings_text(**asdict(self))

    @classmethod
    def parse(cls, text: str) -> "SqlJobSettings":
        """Read the JSON text. Raises Unusable."""
        return parsed(text, lambda fields: cls(**fields))
