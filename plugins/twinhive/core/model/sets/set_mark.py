"""What is kept of a set that is done: a partition of the table `twinhive_sets` of the data's database.

So a mark is one `add_partition`: durable, in the log behind the data's own events, and open to plain Hive SQL. Such a
mark has a table and a set alone; it is taken as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import DDL_TIME, Parameters, Partition, Table
from twinhive.core.model.sets.own_tables import SETS
from twinhive.core.model.thrift_objects import created_at, table_id

SETS_TABLE, SETS_KEYS = SETS.name, SETS.keys
KEEP = "twinhive.sets.keep"
"""The property of a data table that says how long its sets are kept."""
FOREVER = "forever"
_PREFIX = "twinhive.set."
_MARKED, _BY, _COUNT, _PARTITIONS = (_PREFIX + key for key in ("marked", "by", "count", "partitions"))
_TABLE_ID, _TOKEN, _EARLIER, _NOTE = (_PREFIX + key for key in ("table_id", "token", "earlier", "note"))
_SHOWN, _SHOWN_BY, _KEEP = _PREFIX + "shown", _PREFIX + "shown_by", _PREFIX + "keep"
_EARLIER_TOKENS = 20
_SKEW_SECONDS = 60
"""So far apart the clocks of two hosts may be."""
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


@dataclass(frozen=True)
class SetMark:
    """One set that was said to be done.

    marked      Unix seconds
    count       how often it was marked
    partitions  how many it had then, None where nobody has counted
    table_id    the metastore's id of the data table, by which one that was dropped and made again is known
    token       who asks is known by it: a second call with the same one changes nothing
    earlier     hashes of tokens that came before, the newest last
    shown       on a replica: since when it shows the set, Unix seconds; what it marked itself when it was the primary
                counts since then
    shown_by    on a replica: the run that has shown it so
    keep        on a replica: how long the source's table keeps its sets
    """

    table: TableName
    spec: str
    marked: int
    by: str | None = None
    count: int = 1
    partitions: int | None = None
    table_id: int | None = None
    token: str | None = None
    earlier: tuple[str, ...] = ()
    note: str | None = None
    shown: int | None = None
    keep: str | None = None
    shown_by: str | None = None

    @property
    def name(self) -> str:
        """The name of its partition in the set table."""
        return mark_name(self.table.table, self.spec)

    def is_of(self, table: Table) -> bool:
        """True unless the data table was dropped and made again since.

        Plain SQL keeps no id, and old metastores have none: then the times tell, which may be those of two metastores.
        """
        if self.table_id is not None:
            return table_id(table) in (None, self.table_id)
        # The replica's table may have come after the mark of the source, but not after the mark was shown.
        since = self.shown or self.marked
        return not since or since + _SKEW_SECONDS >= (created_at(table) or 0)

    def knows(self, token: str) -> bool:
        """True when a call with this token was counted already."""
        return token == self.token or _hash(token) in self.earlier

    def again(self, new: "SetMark") -> "SetMark":
        """Return what is kept after a further mark of the same set."""
        before = (*self.earlier, *([_hash(self.token)] if self.token else []))
        return SetMark(
            new.table,
            new.spec,
            # A clock that is a little behind must not take the set from those who wait for one of this hour.
            max(new.marked, self.marked) if self.marked - new.marked <= _SKEW_SECONDS else new.marked,
            new.by,
            self.count + 1,
            new.partitions,
            new.table_id,
            new.token,
            before[-_EARLIER_TOKENS:],
            new.note,
        )

    def parameters(self) -> dict[str, str]:
        """Return the parameters of its partition."""
        said: Mapping[str, object | None] = {
            _MARKED: self.marked,
            _BY: self.by,
            _COUNT: self.count,
            _PARTITIONS: self.partitions,
            _TABLE_ID: self.table_id,
            _TOKEN: self.token,
            _EARLIER: ",".join(self.earlier) or None,
            _NOTE: self.note,
            _SHOWN: self.shown,
            _SHOWN_BY: self.shown_by,
            _KEEP: self.keep,
        }
        return {key: str(value) for key, value in said.items() if value is not None}

    @classmethod
    def read(cls, partition: Partition) -> "SetMark":
        """Read a partition of a set table; what nobody has written is None."""
        table, spec = partition.values
        given = partition.parameters
        marked = _number(given, _MARKED) or _number(given, DDL_TIME) or 0
        return cls(
            TableName(partition.table.database, table.lower()),
            spec,
            marked,
            given.get(_BY),
            _number(given, _COUNT) or 1,
            _number(given, _PARTITIONS),
            _number(given, _TABLE_ID),
            given.get(_TOKEN),
            tuple(filter(None, given.get(_EARLIER, "").split(","))),
            given.get(_NOTE),
            _number(given, _SHOWN) or (marked if STAMP in given else None),
            given.get(_KEEP),
            given.get(_SHOWN_BY),
        )


def is_findable(values: tuple[str, ...]) -> bool:
    """True for a mark that names its table in lower case, as the metastore does: others are not found by its name."""
    table, _ = values
    return table == table.lower()


def sets_table(database: str) -> TableName:
    """Return the name of a database's set table."""
    return SETS.of(database)


def is_sets_table(table: Table) -> bool:
    """True for a table that keeps a database's sets, and not merely has its name."""
    return SETS.is_one(table)


def mark_name(table: str, spec: str) -> str:
    """Return the name of a mark's partition."""
    return partition_name(SETS_KEYS, (table, spec))


def kept_seconds(text: str) -> int | None:
    """Read how long sets are kept: `30d`, `12h`, `10m`, `45s`; None for `forever`. Raises InvalidSettings."""
    match = re.fullmatch(r"(\d{1,9})([dhms])", text.strip().lower())
    if match:
        return int(match[1]) * _SECONDS[match[2]]
    if text.strip().lower() == FOREVER:
        return None
    raise InvalidSettings(
        "how long sets are kept cannot be read",
        found=repr(text),
        expected="30d, 12h, 10m, 45s or forever",
        next_step="correct it",
    )


def is_expired(mark: SetMark, keep: str, now: float) -> bool:
    """True for a mark that is older than its table keeps sets; a replica's counts from when it was shown there.

    Raises InvalidSettings.
    """
    seconds = kept_seconds(mark.keep or keep)
    return seconds is not None and (mark.shown or mark.marked) + seconds <= now


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()[:16]


def _number(parameters: Parameters, key: str) -> int | None:
    text = parameters.get(key, "")
    return int(text) if text.isascii() and text.isdigit() else None
