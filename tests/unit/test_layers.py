"""Imports point one way: `[tool.twinhive.layers]` of pyproject.toml says what each area and folder may import."""

import ast
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.support.parsed_modules import nodes_of

CHECKOUT = Path(__file__).parents[2]
PACKAGE = CHECKOUT / "plugins" / "twinhive"
AREAS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["twinhive"]["layers"]
FOLDERS = {f"{area}/{folder}": row for area, rows in AREAS.items() for folder, row in rows["folders"].items()}
FOREIGN = {
    *("airflow", "pyspark", "thrift", "fb303", "hive_metastore", "jpype", "yaml", "pydantic", "typer", "rich"),
    *("sqlalchemy", "lark", "asyncssh", "boto3", "botocore", "pyiceberg", "sqlglot", "stomp"),
    "confluent_kafka",
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.read_text(encoding="utf-8").strip())
OURS = ("plugins", "dags", "spark_jobs", "sandbox", "demo", "deploy", "benchmarks", "tests")
MOST_FILES = 26
PUBLIC = ("assets", "connectors", "dags", "messages", "operators", "sensors", "spark")
"""The modules that users import; all others may move."""


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def folder_of(name: str) -> str | None:
    """Return the folder of the table that a module or folder belongs to, the longest that fits; None for none."""
    parents = [name, *(name[:at] for at in range(len(name) - 1, 0, -1) if name[at] == "/")]
    return next((folder for folder in parents if folder in FOLDERS), None)


def area_of(folder: str) -> str:
    return folder.partition("/")[0]


def imported(path: Path) -> set[str]:
    """Return what a module imports: folders of the package, and foreign packages that not every folder may import."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    ours = {name.removeprefix("twinhive.").replace(".", "/") for name in names if name.startswith("twinhive.")}
    return {folder_of(name) or name for name in ours} | {name.partition(".")[0] for name in names} & FOREIGN


def may_import(folder: str) -> set[str]:
    return {*FOLDERS[folder]["imports"].split(), folder}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_exactly_what_its_row_says(folder: str) -> None:
    found = {path: imported(path) - {folder} for path in MODULES if folder_of(name_of(path)) == folder}
    wrong = {name_of(path): names - may_import(folder) for path, names in found.items() if names - may_import(folder)}
    assert wrong == {}
    assert set().union(*found.values()) == may_import(folder) - {folder}


@pytest.mark.parametrize("area", AREAS)
def test_an_area_imports_exactly_the_areas_that_its_row_says(area: str) -> None:
    folders = {name for row in AREAS[area]["folders"].values() for name in row["imports"].split()} & FOLDERS.keys()
    assert {area_of(folder) for folder in folders} - {area} == set(AREAS[area]["imports"].split())


def test_areas_and_folders_import_only_what_stands_above_them() -> None:
    seen: set[str] = set()
    for folder in FOLDERS:
        assert may_import(folder) - {folder} - FOREIGN <= seen, (
            f"{folder} is imported further down than what it imports"
        )
        seen.add(folder)


def test_every_module_has_a_folder_and_every_folder_modules() -> None:
    beside = [PACKAGE / "__init__.py", *PACKAGE.glob("*/__init__.py")]
    modules = [name_of(path) for path in MODULES if path.parent != PACKAGE and path not in beside]
    assert {folder_of(name) for name in modules} == set(FOLDERS)


def test_beside_the_areas_there_is_only_what_users_import() -> None:
    beside = {path.stem for path in MODULES if path.parent == PACKAGE}
    assert beside == {"__init__", "airflow_edge", *PUBLIC}
    assert {path.parent.name for path in MODULES if path.parent.parent == PACKAGE} <= set(AREAS)


@pytest.mark.parametrize("area", AREAS)
def test_an_area_keeps_its_budget_of_lines(area: str) -> None:
    """Whoever needs more lines sets the number in the same commit, and says why."""
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (PACKAGE / area).rglob("*.py"))
    assert 0 < lines <= AREAS[area]["lines"]


def test_no_folder_is_a_heap() -> None:
    modules = [path for top in OURS for path in (CHECKOUT / top).rglob("*.py")]
    sizes = Counter(path.parent.relative_to(CHECKOUT).as_posix() for path in modules)
    assert {name: size for name, size in sizes.items() if size > MOST_FILES} == {}


def built(path: Path) -> set[str]:
    """Return the classes of adapters that a module makes values of."""
    nodes = nodes_of(path)
    classes = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twinhive.hive.adapters")
        for alias in node.names
        if alias.name[0].isupper()
    }
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return classes & called


def test_adapters_are_built_in_wiring_and_in_jobs() -> None:
    building = {folder_of(name_of(path)) for path in MODULES if built(path)}
    assert building == {"hive/adapters", "runtime/spark", "runtime/wiring"}
