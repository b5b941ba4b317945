"""What statements return."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What a statement returns: names of columns, and rows of values; a statement that only does something: neither."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | int, ...], ...] = ()
