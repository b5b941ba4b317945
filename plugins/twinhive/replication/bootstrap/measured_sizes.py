"""Keep what the first task has found tables to hold, so that the next one need not ask the NameNode again.

It only says how batches are cut: an old one, or none, is no harm.
"""

import json
from collections.abc import Mapping

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import Usage, join
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.shards import pack_lines, unpack_lines


def write_sizes(files: FileWriter, policy: Policy, sizes: Mapping[TableName, Usage]) -> None:
    """Keep sizes beside the results of copies, which go when the replica is published."""
    lines = (
        json.dumps([name.database, name.table, usage.length, usage.files, usage.directories])
        for name, usage in sizes.items()
    )
    files.write(_path(policy), pack_lines(lines))


def read_sizes(files: FileReader, policy: Policy) -> dict[TableName, Usage]:
    """Return the sizes that were kept, {} without any."""
    try:
        content = files.read(_path(policy))
    except Missing:
        return {}
    kept = map(json.loads, unpack_lines(content))
    return {TableName(database, table): Usage(*usage) for database, table, *usage in kept}


def _path(policy: Policy) -> str:
    return join(policy.staging, "results", "sizes.jsonl.gz")
