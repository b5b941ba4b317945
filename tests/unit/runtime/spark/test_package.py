"""Executors get what they import, and no more than they may see."""

import ast
import zipfile
from pathlib import Path

from twinhive.hive.adapters.spark_package import python_package


def test_the_package_holds_all_of_ours_that_its_modules_import(tmp_path: Path) -> None:
    with zipfile.ZipFile(python_package(tmp_path)) as package:
        sources = {name: package.read(name).decode() for name in package.namelist()}
    held = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in sources}
    assert "twinhive.runtime.spark.tree_job" in held
    # In a zip a folder without one is no package.
    assert {name.rpartition(".")[0] for name in held - {"twinhive"}} <= held
    missing = {
        f"{name} imports {node.module}"
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twinhive") and node.module not in held
    }
    assert missing == set()


def test_the_package_holds_nothing_of_metastores_airflow_or_the_command_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(python_package(tmp_path)) as package:
        parts = {"/".join(name.split("/")[1:3]) for name in package.namelist() if name.count("/") > 2}
        adapters = {name for name in package.namelist() if name.startswith("twinhive/hive/adapters/")}
    assert parts == {
        *("core/ports", "core/model", "core/threads", "hive/adapters", "runtime/spark"),
        *("transfer/engine", "transfer/staged", "transfer/tree"),
    }
    assert not [name for name in adapters if "hive_" in name or "thrift" in name]
