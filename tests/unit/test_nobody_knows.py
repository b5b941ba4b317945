"""Who catches a refusal catches answers that nobody knows too, which are to be tried again: each says why it may."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.parsed_modules import nodes_of

PACKAGE = Path(__file__).parents[2] / "plugins" / "twinhive"
WIDE = {"Refused", "ActNow", "LeftOut"}
TAKEN_OUT = {"Unexplained", "UnexplainedLeftOut"}
TELLS_APART = {"Unexplained", "may_pass", "refused_as"}

_AGAIN_LATER = "said, and tried again by the next run of its own"
_COLLECTED = "kept as it is, and raised at the end"
_DECIDED_THERE = "what it is handed to asks `is_final`"
_NEXT_LOOK = "only shown: the next look sees it"
_NO_SERVER = "nobody is asked inside: a text is read"
_OTHER_WAY = "goes another way to the same end, which costs more"
_PERSON = "shown to a person in a terminal"

ALLOWED = {
    "hive/events/one_file_system.py": (1, "an event that cannot be read is left as it is; who needs it meets it"),
    "hive/adapters/hive/hive_partition_locations.py": (2, _OTHER_WAY),
    "surfaces/airflow/tasks/replica_events.py": (
        1,
        "a failed try would announce no table whose data has come meanwhile",
    ),
    "surfaces/airflow/triggers/event_id_trigger.py": (1, "wakes the task, which meets it"),
    "replication/apply/table_constraints.py": (1, "a load leaves constraints out at once, as docs/fine-print.md says"),
    "replication/apply/detail_changes.py": (3, _DECIDED_THERE),
    "replication/apply/external/pending_publication.py": (1, _DECIDED_THERE),
    "replication/apply/function_files.py": (1, "`_unread` keeps it apart"),
    "replication/apply/lane.py": (2, f"{_DECIDED_THERE}; what is placed ahead is placed again by its action"),
    "replication/bootstrap/function_check.py": (1, f"{_PERSON}, before a load"),
    "replication/bootstrap/loading_dump.py": (1, "a load leaves functions out at once, as docs/fine-print.md says"),
    "operations/failover/left_source.py": (1, _NO_SERVER),
    "surfaces/cli/route_command.py": (1, _PERSON),
    "federation/connectors/responder.py": (1, "the client that has asked is told"),
    "runtime/dry_run/rehearsal.py": (1, _PERSON),
    "replication/external_tables/check_base.py": (1, _COLLECTED),
    "replication/external_tables/source_entries.py": (1, "the size is not known: the task of the directory meets it"),
    "replication/external_tables/orphaned_directories.py": (1, _AGAIN_LATER),
    "replication/external_tables/publish_tables.py": (1, _DECIDED_THERE),
    "replication/external_tables/purge.py": (1, _AGAIN_LATER),
    "replication/external_tables/sync_directory.py": (1, "a run meets it"),
    "replication/incremental/event_reached.py": (1, _NO_SERVER),
    "replication/incremental/event_view.py": (1, _NO_SERVER),
    "replication/incremental/salvage.py": (1, "all of the window is there: what comes after its end is said"),
    "replication/notification_log/log_pages.py": (2, _NO_SERVER),
    "replication/notification_log/newest_in_scope.py": (1, _NEXT_LOOK),
    "operations/monitoring/standing_fences.py": (1, _NO_SERVER),
    "operations/monitoring/table_updates.py": (1, _NO_SERVER),
    "operations/failover/fence/fence_snapshots.py": (2, "the failover, or the writers, wait for no file: it is said"),
    "operations/failover/unused_content.py": (2, f"{_COLLECTED}; what is not known to be unused stays, and is named"),
    "operations/failover/released_directories.py": (1, "the replica has taken over: it is said"),
    "operations/actions/replica_status.py": (2, _NEXT_LOOK),
    "operations/failover/late_set_marks.py": (1, _NO_SERVER),
    "operations/actions/skip_event.py": (2, _NO_SERVER),
    "core/directory_marks/directories.py": (1, "writes the mark as a file instead"),
    "federation/routing/freshness.py": (
        2,
        "a copy of which it is not known is not read: the statement goes elsewhere, or waits",
    ),
    "replication/scan/silent_differences.py": (1, _COLLECTED),
    "replication/scan/sweep.py": (2, f"{_COLLECTED}; what is not known to be unused stays until a later sweep"),
    "publishing/set_visibility/changed_marks.py": (1, _OTHER_WAY),
    "publishing/set_visibility/later_events.py": (1, _NO_SERVER),
    "runtime/spark/executors.py": (1, "no server is asked inside: Java is begun"),
    "statements/steps/repl_load.py": (1, _AGAIN_LATER),
    "statements/table_exports/import_execution.py": (1, "becomes 'try again'"),
    "transfer/engine/file_parts.py": (2, _OTHER_WAY),
    "transfer/tree/listing/noop_check.py": (1, "a run meets it"),
    "transfer/tree/listing/unchanged_trees.py": (3, "a run meets it"),
    "transfer/tree/listing/unreadable.py": (5, "`_unreadable` keeps it apart"),
    "transfer/tree/snapshots/difference_plan.py": (1, _OTHER_WAY),
    "transfer/tree/snapshots/snapshot_rotation.py": (1, _OTHER_WAY),
    "transfer/tree/snapshots/snapshot_sync.py": (2, _OTHER_WAY),
    "transfer/tree/tree_sync.py": (1, _COLLECTED),
    "transfer/tree/verified_pairs.py": (1, _OTHER_WAY),
    "replication/verify/database_leaves.py": (1, _DECIDED_THERE),
    "replication/verify/touched_leaves.py": (3, f"{_NO_SERVER}; of a log that does not tell, more is held for touched"),
}
"""How many handlers of a module neither raise what they catch nor ask what it is, and why that is right."""


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _raises_it(handler: ast.ExceptHandler) -> bool:
    raised = (node.exc for node in ast.walk(handler) if isinstance(node, ast.Raise))
    return any(exc is None or (isinstance(exc, ast.Name) and exc.id == handler.name) for exc in raised)


def _wide_handlers(tried: ast.Try) -> Iterator[ast.ExceptHandler]:
    """Yield the handlers of refusals, up to one that takes answers that nobody knows out."""
    for handler in tried.handlers:
        caught = _names(handler.type) if handler.type else set()
        if caught & TAKEN_OUT:
            return
        if caught & WIDE:
            yield handler


def _suppresses(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id == "suppress" and bool(_names(node) & WIDE)


def _undecided(nodes: Sequence[ast.AST]) -> int:
    handlers = [one for node in nodes if isinstance(node, ast.Try) for one in _wide_handlers(node)]
    silent = [one for one in handlers if not _raises_it(one) and not _names(one) & TELLS_APART]
    return len(silent) + sum(map(_suppresses, nodes))


def test_each_handler_of_refusals_keeps_apart_what_is_to_be_tried_again_or_says_why_not() -> None:
    found = Counter[str]()
    for path in sorted(PACKAGE.rglob("*.py")):
        found[str(path.relative_to(PACKAGE))] = _undecided(nodes_of(path))
    assert dict(+found) == {name: count for name, (count, _) in ALLOWED.items()}
