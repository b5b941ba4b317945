"""Imports point one way: the linter bans by name, this table says who may import what, exactly."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "plugins" / "twinhive"
FOREIGN = (
    *("airflow", "pyspark", "thrift", "fb303", "hive_metastore", "jpype", "yaml", "pydantic", "typer", "rich"),
    *("sqlalchemy", "lark"),
)

# part of the package -> (our parts, foreign packages) that it may import
LAYERS = {
    "domain": (("domain",), ()),
    "ports": (("domain", "ports"), ()),
    "events": (("domain", "ports", "events"), ()),
    "owned": (("domain", "ports", "owned"), ()),
    "dump": (("domain", "ports", "owned", "dump", "events"), ()),
    "copying": (("domain", "ports", "copying"), ()),
    "hive_dump": (("domain", "ports", "owned", "events", "dump", "copying", "hive_dump"), ()),
    "applying": (("domain", "ports", "owned", "copying", "applying"), ()),
    "syncing": (("domain", "ports", "copying", "syncing"), ()),
    "steps": (("domain", "ports", "owned", "events", "dump", "copying", "syncing", "applying", "steps"), ()),
    "adapters": (("domain", "ports", "adapters"), ("thrift", "fb303", "hive_metastore", "jpype")),
    "journal": (("domain", "journal"), ("sqlalchemy",)),
    "telling": (("domain", "telling"), ()),
    "statements": (("domain", "statements"), ("lark",)),
    "connections": (("domain",), ()),
    "settings": (("domain", "connections", "settings"), ("yaml", "pydantic")),
    "connection_sources": (("domain", "connections", "settings", "airflow_edge"), ()),
    "endpoints": (("domain", "connections", "settings"), ()),
    "file_addresses": (("domain",), ()),
    "file_wiring": (("domain", "ports", "adapters"), ()),
    "wiring": (("domain", "ports", "syncing", "endpoints", "settings", "adapters", "file_wiring"), ()),
    "lag_wiring": (("domain", "adapters", "connections", "settings", "steps", "wiring"), ()),
    "cli": (("connections", "cli_exits", "cli_json"), ("typer",)),
    "cli_exits": (("domain",), ()),
    "cli_json": (("domain", "cli_exits"), ()),
    "cli_pairs": (("domain",), ()),
    "cli_terminal": (("domain", "cli_exits", "cli_json"), ("typer", "rich")),
    "cli_base": (("domain", "settings", "wiring", "connection_sources"), ("typer",)),
    "cli_phases": (("steps",), ("typer",)),
    "cli_progress": (("steps",), ("rich",)),
    "cli_status": (
        (
            *("domain", "settings", "steps", "journal", "connection_sources", "lag_wiring"),
            *("cli_base", "cli_exits", "cli_json", "cli_terminal"),
        ),
        ("typer", "rich"),
    ),
    "cli_plan": (("steps", "cli_base", "cli_exits", "cli_json", "cli_phases", "cli_terminal"), ("typer",)),
    "cli_run": (
        ("domain", "ports", "steps", "cli_base", "cli_json", "cli_phases", "cli_progress", "cli_terminal"),
        ("typer",),
    ),
    "cli_events": (("steps", "cli_base", "cli_json", "cli_terminal"), ("typer", "rich")),
    "cli_check": (
        ("domain", "settings", "steps", "connection_sources", "cli_base", "cli_exits", "cli_json", "cli_terminal"),
        ("typer", "rich"),
    ),
    "cli_copy": (("cli_terminal", "copy_command"), ("typer",)),
    "copy_progress": (("domain", "copying"), ("rich",)),
    "copy_command": (
        (
            "connection_sources",
            "domain",
            "endpoints",
            "settings",
            "file_addresses",
            "file_wiring",
            "copy_progress",
            "syncing",
            "cli_json",
            "cli_pairs",
            "cli_terminal",
            "spark_edge",
        ),
        ("typer", "rich"),
    ),
    "repl": (
        (
            *(
                "domain",
                "ports",
                "owned",
                "dump",
                "steps",
                "statements",
                "settings",
                "endpoints",
                "wiring",
                "file_wiring",
            ),
            *("adapters", "events", "hive_dump", "copying", "syncing", "spark_edge", "repl"),
        ),
        (),
    ),
    "cli_sql": (
        (
            "connection_sources",
            "domain",
            "settings",
            "repl",
            "spark_edge",
            "cli_base",
            "cli_json",
            "cli_pairs",
            "cli_terminal",
        ),
        ("typer",),
    ),
    "cli_operations": (("steps", "cli_base", "cli_json", "cli_terminal"), ("typer",)),
    "reference": (("domain", "settings", "cli", "cli_exits", "reference"), ("pydantic", "typer")),
    "spark_edge": (("domain", "ports", "copying", "syncing", "adapters", "spark_edge"), ("pyspark",)),
    "page": (("domain", "journal", "page", "airflow_edge"), ("airflow", "pydantic", "sqlalchemy")),
    "airflow_edge": (
        (
            *("domain", "ports", "copying", "connections", "endpoints", "settings", "steps", "wiring", "adapters"),
            *("lag_wiring", "journal", "spark_edge", "airflow_edge", "repl", "telling"),
        ),
        ("airflow",),
    ),
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def test_every_part_has_its_row() -> None:
    assert {part_of(path) for path in MODULES} == set(LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    ours, foreign = LAYERS[part_of(path)]
    for name in imported(path):
        first, *rest = name.split(".")
        if first == "twinhive" and rest:
            assert rest[0] in ours, f"{path.name} imports {name}"
        elif first in FOREIGN:
            assert first in foreign, f"{path.name} imports {name}"
