"""Hold a range of events as a window's dump does."""

import json
from dataclasses import asdict, dataclass

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.replication.dump.shards import pack_lines, unpack_lines


@dataclass(frozen=True)
class EventRange:
    """The rows in a policy's scope after `begin`, up to and with `end`."""

    begin: Position
    end: Position
    rows: tuple[EventRow, ...]

    def pack(self) -> bytes:
        """Write the range as gzipped lines."""
        head = {"begin": asdict(self.begin), "end": asdict(self.end)}
        return pack_lines(json.dumps(line, ensure_ascii=False) for line in [head, *map(asdict, self.rows)])

    @classmethod
    def unpack(cls, content: bytes) -> "EventRange":
        """Read what `pack` wrote."""
        head, *rows = (json.loads(line) for line in unpack_lines(content))
        return cls(Position(**head["begin"]), Position(**head["end"]), tuple(EventRow(**row) for row in rows))
