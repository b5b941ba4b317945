"""Imports point one way: `[tool.twinhive.layers]` of pyproject.toml says exactly which part may import which."""

import ast
import tomllib
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PACKAGE = CHECKOUT / "plugins" / "twinhive"
LAYERS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["twinhive"]["layers"]
FOREIGN = {
    *("airflow", "pyspark", "thrift", "fb303", "hive_metastore", "jpype", "yaml", "pydantic", "typer", "rich"),
    *("sqlalchemy", "lark", "asyncssh", "boto3", "botocore", "pyiceberg", "sqlglot", "stomp"),
    "confluent_kafka",
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.read_text(encoding="utf-8").strip())
OURS = ("plugins", "dags", "spark_jobs", "sandbox", "demo", "deploy", "benchmarks", "tests")
MOST_FILES = 26


def part_of(name: str) -> str | None:
    """Return the part that a module or folder belongs to, the longest that fits; None for none."""
    parents = [name, *(name[:at] for at in range(len(name) - 1, 0, -1) if name[at] == "/")]
    return next((one for one in parents if one in LAYERS), None)


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def imported(path: Path) -> set[str]:
    """Return what a module imports: parts of the package, and foreign packages that not every part may import."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    ours = {name.removeprefix("twinhive.").replace(".", "/") for name in names if name.startswith("twinhive.")}
    return {part_of(name) or name for name in ours} | {name.partition(".")[0] for name in names} & FOREIGN


def may_import(part: str) -> set[str]:
    return {*LAYERS[part]["imports"].split(), part}


@pytest.mark.parametrize("part", LAYERS)
def test_a_part_imports_exactly_what_its_row_says(part: str) -> None:
    found = {path: imported(path) - {part} for path in MODULES if part_of(name_of(path)) == part}
    wrong = {name_of(path): names - may_import(part) for path, names in found.items() if names - may_import(part)}
    assert wrong == {}
    assert set().union(*found.values()) == may_import(part) - {part}


def test_every_module_has_a_part_and_every_part_modules() -> None:
    modules = [name_of(path) for path in MODULES if path.parent != PACKAGE or path.stem != "__init__"]
    assert {part_of(name) for name in modules} == set(LAYERS)


def test_parts_import_only_parts_above_them() -> None:
    order = TopologicalSorter({part: may_import(part) - {part} for part in LAYERS})
    assert set(LAYERS) <= set(order.static_order())
    seen: set[str] = set()
    for part in LAYERS:
        assert may_import(part) - {part} - FOREIGN <= seen, f"{part} is imported further down than what it imports"
        seen.add(part)


def test_no_folder_is_a_heap() -> None:
    modules = [path for top in OURS for path in (CHECKOUT / top).rglob("*.py")]
    sizes = Counter(path.parent.relative_to(CHECKOUT).as_posix() for path in modules)
    assert {name: size for name, size in sizes.items() if size > MOST_FILES} == {}


def built(path: Path) -> set[str]:
    """Return the classes of adapters that a module makes values of."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twinhive.adapters")
        for alias in node.names
        if alias.name[0].isupper()
    }
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return classes & called


def test_adapters_are_built_in_wiring_and_in_jobs() -> None:
    building = {part_of(name_of(path)) for path in MODULES if built(path)}
    assert building == {"adapters", "spark", "wiring"}
