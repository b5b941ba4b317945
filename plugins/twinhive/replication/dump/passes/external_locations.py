"""Write and read the list of external locations (seed 001; `_external_tables_info` of Hive).

A line an entry: the name of a table, or of a table and a partition of it (`sales.events/day=1`), a comma, and the full
URI in base64. Names of tables are escaped as those of partitions are.
"""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterable, Iterator

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.text import Clear
from twinhive.replication.dump.passes.external_entries import Entry


def encode_locations(entries: Iterable[Entry]) -> bytes:
    """Return the content of the file, in the given order."""
    lines = (f"{entry.listed_key},{b64encode(entry.location.encode()).decode()}\n" for entry in entries)
    return "".join(lines).encode()


def decode_locations(content: bytes) -> Iterator[Entry]:
    """Yield the entries of a file. Raises InvalidSettings for a line that is none."""
    # Names may hold every other character that ends a line for somebody.
    for line in content.decode().split("\n")[:-1]:
        key, _, location = line.rpartition(",")
        try:
            yield Entry.of_listed_key(key, b64decode(location, validate=True).decode())
        except (ValueError, Error):
            raise InvalidSettings(
                "the list of external locations holds a line that is none",
                found=line,
                expected="name, comma, URI in base64",
                next_step=Clear("the task list_external with all tasks after it"),
            ) from None
