"""Executors get what they import, and no more than they may see."""

import ast
import zipfile
from pathlib import Path

from twinhive.adapters.spark_package import python_package


def test_the_package_holds_all_of_ours_that_its_modules_import(tmp_path: Path) -> None:
    with zipfile.ZipFile(python_package(tmp_path)) as package:
        sources = {name: package.read(name).decode() for name in package.namelist()}
    held = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in sources}
    assert "twinhive.spark.tree_job" in held
    missing = {
        f"{name} imports {node.module}"
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twinhive") and node.module not in held
    }
    assert missing == set()


def test_the_package_holds_nothing_of_metastores_airflow_or_the_command_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(python_package(tmp_path)) as package:
        parts = {name.split("/")[1] for name in package.namelist()}
        adapters = {name for name in package.namelist() if name.startswith("twinhive/adapters/")}
    assert parts == {"__init__.py", "ports", "model", "threads", "transfer", "spark", "adapters"}
    assert not [name for name in adapters if "hive_" in name or "thrift" in name]
