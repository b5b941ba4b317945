"""Write and read `_dumpmetadata`, the description of a dump and of each event in it (Hive: `DumpMetaData`).

The first line has seven fields: type, first and last event, change manager's directory, execution, payload, and
whether the tables of the policy are others than before. The second, of a dump alone, has the database and the
patterns. Hive writes each character as its low byte and reads them back in the charset of its server, so what is
written here is ASCII, with JSON's own escapes in the payload.
"""

import json
from dataclasses import dataclass

from twinhive.statements.interop.hive_dump.hive_dump_errors import unreadable

_NOTHING = "NULL"
_FIELDS = 7
_ENCODING = "latin-1"  # each byte is one character, as Hive wrote it


@dataclass(frozen=True)
class Description:
    """One `_dumpmetadata`. `payload` is an event's message; a dump has a `database` and its patterns instead."""

    kind: str
    begin: int
    end: int
    cmroot: str
    payload: str | None = None
    scope_changed: bool = False
    database: str = ""
    include: str | None = None
    exclude: str | None = None

    def encode(self) -> bytes:
        """Return the content of the file. Raises UnicodeEncodeError for what is not ASCII."""
        changed = "true" if self.scope_changed else "false"
        fields = [self.kind, str(self.begin), str(self.end), self.cmroot, "0", self.payload or _NOTHING, changed]
        scope = [self.database, self.include, self.exclude]
        lines = [fields, [field for field in scope if field is not None]] if self.database else [fields]
        return "".join("\t".join(line) + "\n" for line in lines).encode("ascii")

    @classmethod
    def decode(cls, content: bytes, path: str) -> "Description":
        """Read a file of any Hive 4. Raises ActNow."""
        first, *others = content.decode(_ENCODING).split("\n")
        fields = first.split("\t")
        if len(fields) != _FIELDS or not (fields[1].isdigit() and fields[2].isdigit()):
            raise unreadable(path, f"{first:.80}", f"a line of {_FIELDS} fields, as Hive 4 writes it")
        kind, begin, end, cmroot, _, payload, changed = fields
        scope = (*(others[0].split("\t") if others else ()), None, None, None)
        return cls(
            kind=kind,
            begin=int(begin),
            end=int(end),
            cmroot=cmroot,
            payload=None if payload == _NOTHING else payload,
            scope_changed=changed == "true",
            database=scope[0] or "",
            include=scope[1],
            exclude=scope[2],
        )


@dataclass(frozen=True)
class EventsCount:
    """`_events_dump`: up to which event an incremental dump reaches, how many it has, whether they lie in batches."""

    last: int
    count: int
    in_batches: bool = False

    def encode(self) -> bytes:
        """Return the content of the file."""
        fields = {"lastReplId": self.last, "eventsDumpedCount": self.count, "eventsBatched": self.in_batches}
        return json.dumps(fields, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, content: bytes, path: str) -> "EventsCount":
        """Read a file. Raises ActNow."""
        try:
            fields = json.loads(content)
            return cls(int(fields["lastReplId"]), int(fields["eventsDumpedCount"]), bool(fields.get("eventsBatched")))
        except (ValueError, KeyError, TypeError) as error:
            raise unreadable(path, error, "lastReplId, eventsDumpedCount and eventsBatched") from error
