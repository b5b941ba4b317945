"""Write and read the files of a window's events that these do not name."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from twinhive.core.model.changes.kinds import EventFile
from twinhive.core.model.errors import Missing
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.dump.shards import pack_lines, unpack_lines
from twinhive.replication.dump.unnamed_event_files import Unnamed


def write_unnamed(files: FileWriter, layout: DumpLayout, found: Iterable[Unnamed]) -> None:
    """Write them into a window's dump; nothing for none."""
    if lines := [json.dumps(asdict(one), ensure_ascii=False) for one in found]:
        files.write(layout.unnamed, pack_lines(lines))


def read_unnamed(files: FileReader, layout: DumpLayout) -> dict[int, list[Unnamed]]:
    """Return what was written, by event; nothing where no event has such files."""
    try:
        content = files.read(layout.unnamed)
    except Missing:
        return {}
    found: dict[int, list[Unnamed]] = defaultdict(list)
    for line in unpack_lines(content):
        one = _unnamed(json.loads(line))
        found[one.event_id].append(one)
    return found


def _unnamed(line: dict[str, Any]) -> Unnamed:
    return Unnamed(line["event_id"], line["partition"], tuple(EventFile(**file) for file in line["files"]))
