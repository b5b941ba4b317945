"""Only what proves whose a directory is removes directories: a recursive delete anywhere else is an error here."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "plugins" / "twinhive"

ALLOWED = {
    "owned/directories.py": "asks whose a directory is",
    "adapters/": "implement the call",
    "steps/pretended_files.py": "pretends the call",
    "syncing/": "makes one tree equal to another, as it was asked to, and keeps its own work below `.twinhive`",
    "spark_edge/submitting.py": "removes the plan that syncing has made below `.twinhive`",
}


def recursive_deletes(path: Path) -> list[int]:
    """Return the lines that call `delete` of something: of files there is `delete_file`, which is not recursive."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "delete"]


def test_no_other_module_deletes_directories() -> None:
    found = {
        f"{name}:{line}"
        for path in PACKAGE.rglob("*.py")
        if not (name := str(path.relative_to(PACKAGE))).startswith(tuple(ALLOWED))
        for line in recursive_deletes(path)
    }
    assert found == set()
