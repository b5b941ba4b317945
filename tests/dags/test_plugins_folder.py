"""Airflow executes every file of the plugins folder by its bare name; ours must come through that unharmed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dags.airflow_home import CHECKOUT

PLUGINS = CHECKOUT / "plugins"
OURS = {"twinhive", "twinhive_plugin", "twinhive_timetables_plugin"}

# Run with Airflow's real loader in a fresh process; says which modules came from the plugins folder.
LOAD = """
import json, sys
from pathlib import Path
from airflow import plugins_manager
plugins, errors = plugins_manager._get_plugins()
folder = Path(sys.argv[1]).resolve()
files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
of_folder = sorted(name for name, file in files.items() if file and folder in Path(file).resolve().parents)
print("RESULT" + json.dumps({"plugins": [plugin.name for plugin in plugins], "errors": errors, "modules": of_folder}))
"""


def load_plugins(folder: Path) -> dict[str, Any]:
    """Load a plugins folder as each of Airflow's components does."""
    environment = {**os.environ, "AIRFLOW__CORE__PLUGINS_FOLDER": str(folder)}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    results = [line.removeprefix("RESULT") for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert results, done.stderr[-3000:]
    loaded: dict[str, Any] = json.loads(results[0])
    return loaded


def replaced(loaded: dict[str, Any]) -> set[str]:
    """Return the top-level names that files of the folder took and that are not ours to take."""
    return {name.partition(".")[0] for name in loaded["modules"]} - OURS


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the plugins folder with a module named like one of the standard library."""
    folder = tmp_path / "plugins"
    shutil.copytree(PLUGINS, folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (folder / "twinhive" / "types.py").write_text('"""Shadow the standard library."""\n')
    return folder


def test_the_plugins_folder_loads_cleanly_and_replaces_no_module() -> None:
    loaded = load_plugins(PLUGINS)
    assert loaded["errors"] == {}
    assert {"twinhive", "twinhive_timetables"} <= set(loaded["plugins"])
    assert "twinhive_plugin" in loaded["modules"]
    assert replaced(loaded) == set()


def test_the_package_stays_behind_airflowignore(copied: Path) -> None:
    loaded = load_plugins(copied)
    assert loaded["errors"] == {}
    assert replaced(loaded) == set()


def test_without_airflowignore_modules_would_be_replaced(copied: Path) -> None:
    (copied / ".airflowignore").unlink()
    found = replaced(load_plugins(copied))
    assert {"types", "phases", "__init__"} <= found
    assert found & sys.stdlib_module_names


def test_no_module_is_named_like_one_of_the_standard_library() -> None:
    files = [path for path in PLUGINS.rglob("*.py") if "__pycache__" not in path.parts]
    assert len(files) > 50
    assert [str(path) for path in files if path.stem in sys.stdlib_module_names] == []


def test_the_command_line_works_without_airflow_and_without_spark() -> None:
    code = "import sys, twinhive.cli.app; print(sorted({'airflow', 'pyspark'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
