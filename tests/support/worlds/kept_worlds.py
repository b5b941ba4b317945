"""Hand what an earlier commit has left to this one: `tests/fixtures/<commit>/<what it is>.json.gz`."""

import base64
import gzip
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.hdfs.fake_tree import Node
from tests.support.worlds.fake_world import World
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.constraints import Constraint
from twinhive.core.model.files import FileStatus
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Partition, Table

FIXTURES = Path(__file__).parents[2] / "fixtures"
_KINDS: dict[str, type] = {
    kind.__name__: kind for kind in (Constraint, Database, EventRow, FileStatus, Function, Partition, Table)
}
_KINDS |= {kind.__name__: kind for kind in (Node, TableName)}
_FILES = ("source_files", "replica_files")
_METASTORES = ("source", "replica")
_OF_A_METASTORE = ("_databases", "_tables", "_partitions", "_functions", "_constraints", "_statistics")


def kept_world(path: Path) -> World:
    """Return a world as it was kept."""
    said = _value(json.loads(gzip.decompress(path.read_bytes())))
    world = World()
    for name in _FILES:
        _fill(getattr(world, name)._tree, said[name])
    for name in _METASTORES:
        metastore, kept = getattr(world, name), said[name]
        for part in _OF_A_METASTORE:
            setattr(metastore, part, dict(kept[part]))
        metastore._partitions = {table: dict(some) for table, some in kept["_partitions"]}
        metastore._constraints = {table: dict(some) for table, some in kept["_constraints"]}
        metastore._statistics = {key: set(columns) for key, columns in kept["_statistics"]}
        metastore._log.rows, metastore._log.last_event_id = list(kept["rows"]), kept["last"]
    return world


def _fill(tree: Any, nodes: Iterable[Node]) -> None:
    statuses = {node.status.path: (node, node.status) for node in nodes}
    for path in sorted(statuses):
        if path != tree.root:
            tree.add(statuses[path][0])
    tree.nodes.clear()
    for path, (node, status) in statuses.items():
        node.status = status  # adding what lies in it gave it another time
        tree.nodes[path] = node
    tree._ids = itertools.count(1 + max(status.file_id for _, status in statuses.values()))
    tree._times = itertools.count(1000 + max(status.modified_ms for _, status in statuses.values()), 1000)


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(map(_value, plain))
    if not isinstance(plain, dict):
        return plain
    kind = plain.get("~")
    if kind == "bytes":
        return base64.b64decode(plain["of"])
    values = {key: _value(one) for key, one in plain.items() if key != "~"}
    return values if kind is None else _KINDS[kind](**values)
