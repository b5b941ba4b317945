"""Put what a run replicated into one table."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from twinhive.core.model.human_readable import readable
from twinhive.core.ports import FileReader
from twinhive.replication.dump.dump_layout import VIEWS
from twinhive.replication.dump.dump_store import Dump, current_dump
from twinhive.replication.dump.shards import unpack_lines
from twinhive.replication.replica.replica_state import read_state
from twinhive.replication.replica.sync_records import Synced
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.transfer.staged.staged_files import CopyItem


def summary_table(
    config: Path, policy: str, instances: Sequence[Mapping[str, Any]], east_output: str, west_output: str
) -> Table:
    """Return table, partitions, files, bytes, seconds of its batches, and rows on both sides."""
    wiring = Wiring.of(load_configuration(config), policy, resolve_from_environment)
    ports = wiring.read_ports()
    files = ports.dump_files
    dump = current_dump(files, wiring.policy)
    event = read_state(ports.replica, wiring.policy, ports.source.log_id()).last_event_id
    sizes = _sizes(files, dump) | _external_sizes(files, dump, Synced(ports.replica_files, wiring.policy))
    seconds = _seconds(dump, instances)
    east, west = (_last_json(output) for output in (east_output, west_output))
    table = Table("table", title=f"{wiring.policy.source} -> {wiring.policy.replica} at event {event}")
    for heading in ("partitions", "files", "bytes", "list + copy", "rows on east", "rows on west"):
        table.add_column(heading, justify="right")
    for name in sorted(sizes):
        partitions, count, length = sizes[name]
        rows = [f"{side[name]:,}" if name in side else "[red]missing[/]" for side in (east, west)]
        spent = f"{seconds[name]:.1f} s" if name in seconds else ""
        table.add_row(name, str(partitions or ""), str(count), readable(length), spent, *rows)
    return table


def _sizes(files: FileReader, dump: Dump) -> dict[str, tuple[int, int, int]]:
    """Count partitions, files and bytes of each table from the dump itself."""
    partitions: dict[str, int] = defaultdict(int)
    items: dict[str, list[CopyItem]] = defaultdict(list)
    for batch in dump.manifest.batches:
        for record in dump.objects(files, batch.name):
            partitions[record.table.name.table] += len(record.partitions)
        for line in unpack_lines(files.read(dump.layout.files(batch.name))):
            item = CopyItem.from_line(line)
            items[item.table.partition(".")[2]].append(item)
    for record in dump.objects(files, VIEWS):
        partitions[record.table.name.table] = 0
    return {
        name: (count, len(items[name]), sum(item.length for item in items[name])) for name, count in partitions.items()
    }


def _external_sizes(files: FileReader, dump: Dump, synced: Synced) -> dict[str, tuple[int, int, int]]:
    """Count the files and bytes of external tables as they were last copied."""
    sizes = {}
    for record in (one for batch in dump.manifest.batches for one in dump.objects(files, batch.name)):
        if record.table.is_external:
            places = {record.table.location or "", *(partition.location or "" for partition in record.partitions)}
            copies = [copy for copy in map(synced.record_of, sorted(places)) if copy]
            counted = sum(copy.files for copy in copies), sum(copy.bytes for copy in copies)
            sizes[record.table.name.table] = (len(record.partitions), *counted)
    return sizes


def _seconds(dump: Dump, instances: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Add up the tasks that worked on a table; tables of one batch share them."""
    tables = {batch.label: {slice_.table.table for slice_ in batch.slices} for batch in dump.manifest.batches}
    spent: dict[str, float] = defaultdict(float)
    for instance in instances:
        for name in tables.get(instance.get("rendered_map_index") or "", ()):
            spent[name] += instance["duration"] or 0
    return spent


def _last_json(output: str) -> dict[str, int]:
    rows: dict[str, int] = json.loads(output.strip().splitlines()[-1])
    return rows
