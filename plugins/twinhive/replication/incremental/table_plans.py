"""Keep in a window's dump what becomes of the leaves of tables that it repairs: whoever applies it does just that."""

import gzip
import json

from twinhive.core.model.errors import Missing
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.comparison.leaf_actions import LeafAction, TablePlan
from twinhive.replication.dump.dump_layout import DumpLayout


def write_plan(files: FileWriter, layout: DumpLayout, plan: TablePlan) -> None:
    """Write the plan of a table."""
    said = {"table": plan.table, "actions": {name: action.value for name, action in plan.actions.items()}}
    files.write(layout.plan(plan.table), gzip.compress(json.dumps(said).encode(), mtime=0))


def read_plan(files: FileReader, layout: DumpLayout, table: str) -> TablePlan | None:
    """Return the plan of a table, None for one that is built anew."""
    try:
        said = json.loads(gzip.decompress(files.read(layout.plan(table))))
    except Missing:
        return None
    return TablePlan(said["table"], {name: LeafAction(action) for name, action in said["actions"].items()})
