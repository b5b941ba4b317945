"""Write and read the shards of a dump: gzipped JSON lines that zcat and Spark both read."""

import gzip
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from twinhive.core.model.constraints import Constraint
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table

_LINES_AT_ONCE = 1000


@dataclass(frozen=True)
class TableRecord:
    """A table with those of its partitions that lie in one shard.

    (lo, hi) are the newest event ids before and after the reading of this record: what the log
    says up to `lo` is in it, what it says after `hi` is not.
    """

    table: Table
    partitions: tuple[Partition, ...]
    carries_table: bool
    lo: int
    hi: int


def pack_lines(lines: Iterable[str]) -> bytes:
    """Gzip lines of text; equal lines give equal bytes."""
    packed = io.BytesIO()
    waiting = iter(lines)
    # Some at a time: a list of ten million files is never held but packed.
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=5, mtime=0, filename="") as stream:
        while some := "".join(f"{line}\n" for line in islice(waiting, _LINES_AT_ONCE)):
            # A half of a pair, which only a broken message holds, is kept as it is.
            stream.write(some.encode("utf-8", "surrogatepass"))
    return packed.getvalue()


def unpack_lines(content: bytes) -> Iterator[str]:
    """Yield the lines that `pack_lines` packed."""
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        # Bytes end at a line's end alone: as text, U+2028 and its like would end lines as well, which names may hold.
        for line in stream:
            if text := line.removesuffix(b"\n").decode("utf-8", "surrogatepass"):
                yield text


def encode_objects(records: Iterable[TableRecord]) -> bytes:
    """Pack tables, each followed by its partitions."""
    return pack_lines(_json(line) for record in records for line in _lines(record))


def decode_objects(content: bytes) -> list[TableRecord]:
    """Unpack what `encode_objects` packed."""
    tables: list[tuple[dict[str, Any], list[Partition]]] = []
    for text in unpack_lines(content):
        line = json.loads(text)
        if line["kind"] == "table":
            tables.append((line, []))
        else:
            tables[-1][1].append(partition_of_line(line, _name(tables[-1][0]["name"])))
    return [
        TableRecord(table_of_line(line), tuple(partitions), line["carries_table"], line["lo"], line["hi"])
        for line, partitions in tables
    ]


def _json(line: dict[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _lines(record: TableRecord) -> Iterator[dict[str, Any]]:
    bounds = {"carries_table": record.carries_table, "lo": record.lo, "hi": record.hi}
    yield {"kind": "table", **bounds, **table_line(record.table)}
    for partition in record.partitions:
        yield {"kind": "partition", **partition_line(partition)}


def table_line(table: Table) -> dict[str, Any]:
    """Return a table as JSON holds it."""
    return {
        "name": [table.name.database, table.name.table],
        "table_type": table.table_type,
        "location": table.location,
        "partition_keys": list(table.partition_keys),
        "columns": [list(column) for column in table.columns],
        "parameters": dict(table.parameters),
        "thrift": table.thrift,
        **({} if table.constraints is None else {"constraints": [asdict(one) for one in table.constraints]}),
    }


def partition_line(partition: Partition) -> dict[str, Any]:
    """Return a partition as JSON holds it; whose it is, its table says."""
    return {
        "values": list(partition.values),
        "location": partition.location,
        "parameters": dict(partition.parameters),
        "thrift": partition.thrift,
    }


def _name(pair: list[str]) -> TableName:
    return TableName(pair[0], pair[1])


def table_of_line(line: dict[str, Any]) -> Table:
    """Read what `table_line` returned."""
    return Table(
        name=_name(line["name"]),
        table_type=line["table_type"],
        location=line["location"],
        partition_keys=tuple(line["partition_keys"]),
        columns=tuple((name, kind) for name, kind in line["columns"]),
        parameters=line["parameters"],
        thrift=line["thrift"],
        constraints=tuple(map(_constraint, line["constraints"])) if "constraints" in line else None,
    )


def _constraint(line: dict[str, Any]) -> Constraint:
    return Constraint(line["kind"], line["name"], tuple(line["structs"]))


def partition_of_line(line: dict[str, Any], table: TableName) -> Partition:
    """Read what `partition_line` returned."""
    return Partition(
        table=table,
        values=tuple(line["values"]),
        location=line["location"],
        parameters=line["parameters"],
        thrift=line["thrift"],
    )
