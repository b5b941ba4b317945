"""Make records of the journal, each of which a test changes in what matters to it."""

import time
from typing import Any

from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.operations.journal.records import BatchRun, Failure, PolicyState, RecordedTable, WindowRun

NOW = float(int(time.time()))


def a_state(policy: str = "sales", **changed: Any) -> PolicyState:
    """Return the state of a policy that follows its source without lag."""
    usual = {
        "at": NOW,
        "source": "east/sales",
        "replica": "west/sales",
        "phase": "following",
        "replicated": 100,
        "newest": 100,
        "lag_events": 0,
        "lag_seconds": 0.0,
    }
    return PolicyState(policy, **usual | changed)


def a_window(policy: str = "sales", **changed: Any) -> WindowRun:
    """Return a window of events that has begun."""
    usual = {
        "phase": "incremental",
        "dump": "incremental-1-9-abcd",
        "dag_id": f"{policy}.incremental",
        "run_id": "first",
        "began": NOW,
        "begin_event": 1,
        "end_event": 9,
        "events": 8,
    }
    return WindowRun(policy, **usual | changed)


def a_batch(batch: str = "b1", **changed: Any) -> BatchRun:
    """Return a batch that was copied."""
    usual = {
        "policy": "sales",
        "dump": "incremental-1-9-abcd",
        "label": "sales.orders",
        "dag_id": "sales.incremental",
        "run_id": "first",
        "task_id": "copy",
        "map_index": 0,
        "ended": NOW,
        "seconds": 1.0,
    }
    return BatchRun(batch=batch, **usual | changed)


def a_failure(policy: str = "sales", **changed: Any) -> Failure:
    """Return a failure of the task that applies."""
    usual = {
        "at": NOW,
        "dag_id": f"{policy}.incremental",
        "run_id": "first",
        "task_id": "apply",
        "map_index": -1,
        "try_number": 1,
        "kind": "Unreachable",
        "act_now": False,
        "what": "the metastore of west does not answer",
    }
    return Failure(policy, **usual | changed)


def a_table(table: str, **changed: Any) -> RecordedTable:
    """Return a table that follows its source."""
    usual = {
        "policy": "sales",
        "kind": "managed",
        "state": "published",
        "files": 3,
        "bytes": 300,
        "last_event": 90,
        "at": NOW,
    }
    return RecordedTable(table=table, **usual | changed)


def a_copy(policy: str = "sales", **changed: Any) -> CopyAtWork:
    """Return a copy that has just begun."""
    usual = {
        "dag_id": f"{policy}.bootstrap",
        "run_id": "first",
        "task_id": "tables.copy",
        "map_index": 3,
        "try_number": 1,
        "label": "orders",
        "began": NOW,
        "moved": NOW,
    }
    return CopyAtWork(policy, **usual | changed)
