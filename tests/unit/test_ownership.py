"""Only what proves whose a directory is removes or moves aside directories: anywhere else that is an error here."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.parsed_modules import nodes_of

PACKAGE = Path(__file__).parents[2] / "plugins" / "twinhive"

ALLOWED = {
    "core/directory_marks/directories.py": "asks whose a directory is",
    "hive/adapters/": "implement the call",
    "runtime/dry_run/pretended_files.py": "pretends the call",
    "transfer/tree/": "makes one tree equal to another, as it was asked to, and keeps its own work below `.twinhive`",
    "transfer/engine/attributes.py": "makes its own probe anew, to see whom new directories belong to",
    "runtime/spark/submitting.py": "removes the plan that syncing has made below `.twinhive`",
}

RENAMES = {
    "core/ports/file_systems.py": (3, "for others, of whom each is counted here"),
    "replication/apply/function_files.py": (1, "a file that it has copied"),
    "replication/apply/file_moves.py": (2, "files that were copied into staging"),
    "transfer/engine/file_parts.py": (1, "a file that it has written"),
    "transfer/staged/stager.py": (2, "a file that it has written"),
    "replication/dump/loader_notes.py": (2, "a file, a load's note"),
    "replication/dump/publishing.py": (2, "an attempt, from the name that it was made under to that of a dump"),
    "replication/replica/base_claim.py": (1, "a file that it has written"),
    "publishing/partition_writes/job_directory.py": (1, "what a job has written, from an attempt's name to its own"),
    "publishing/partition_writes/partition_commit.py": (1, "a file that a job has written"),
    "publishing/partition_writes/partition_writer.py": (1, "a file that a job has written"),
    "statements/steps/hive_locations.py": (1, "what a table or partition with our stamp lies in"),
    "federation/placement/copy_directories.py": (2, "staged files, and the directory that it has built of them"),
    "replication/apply/append_rollback.py": (1, "files that it has placed, back into staging"),
    "statements/table_exports/table_tree.py": (
        3,
        "a file that was copied into staging, a list that it has written, and a piece of that which is done",
    ),
    "statements/table_exports/exporting.py": (
        3,
        "what it has built, and an export that is alone and to be replaced, there and back",
    ),
    "statements/table_exports/import_execution.py": (2, "what it has built, to its place and back, known by its id"),
    "operations/failover/fence/fence_snapshots.py": (1, "a file that it has copied from a snapshot"),
    "replication/bootstrap/place_tables.py": (
        2,
        "staged files, and the directory that it has built of them and marked",
    ),
    "federation/placement/users_copies.py": (
        4,
        "files that people hand over, each compared before, aside and then to staging; and back",
    ),
}
"""How many renames a module makes, and of what. None moves aside what somebody else may have made."""


def calls_of(path: Path, method: str, *functions: str) -> list[int]:
    """Return the lines that call a method of that name, or one of the functions."""
    calls = (node for node in nodes_of(path) if isinstance(node, ast.Call))
    return [
        call.lineno
        for call in calls
        if (isinstance(call.func, ast.Attribute) and call.func.attr in (method, *functions))
        or (isinstance(call.func, ast.Name) and call.func.id in functions)
    ]


def modules_outside(allowed: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        if not name.startswith(tuple(allowed)):
            yield name, path


def test_no_other_module_deletes_directories() -> None:
    # Of files there is `delete_file`, which is not recursive.
    assert {name: lines for name, path in modules_outside(ALLOWED) if (lines := calls_of(path, "delete"))} == {}


def test_no_other_module_moves_directories_aside() -> None:
    calls = {name: calls_of(path, "rename", "rename_into", "rename_or_make") for name, path in modules_outside(ALLOWED)}
    found = {name: lines for name, lines in calls.items() if lines}
    assert {name: len(lines) for name, lines in found.items()} == {name: count for name, (count, _) in RENAMES.items()}
