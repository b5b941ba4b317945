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


@pytest.mark.nightly(
    "tests/dags/policies/test_plugins_folder.py::test_the_package_stays_behind_airflowignore",
)
def test_without_airflowignore_modules_would_be_replaced(copied: Path) -> None:
    (copied / ".airflowignore").unlink()
    found = replaced(load_plugins(copied))
    assert {"types", "phases", "__init__"} <= found
    assert found & sys.stdlib_module_names


def test_no_module_is_named_like_one_of_the_standard_library() -> None:
    files = [path for path in PLUGINS.rglob("*.py") if "__pycache__" not in path.parts]
    assert len(files) > 50
    assert [str(path) for path in files if path.stem in sys.stdlib_module_names] == []


# A component of Airflow up to the import of Airflow: with `lazy_load_plugins = False` that loads plugins.
START = """
import sys
sys.argv[:] = ["airflow", *sys.argv[1:]]
import airflow
print("RESULT", "twinhive.surfaces.airflow.dag_factory" in sys.modules)
"""


def start(folder: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Do what `airflow <arguments>` does first."""
    settings = {"CORE__PLUGINS_FOLDER": str(folder), "CORE__LAZY_LOAD_PLUGINS": "False"}
    environment = {**os.environ, "AIRFLOW_HOME": str(home)} | {
        f"AIRFLOW__{key}": text for key, text in settings.items()
    }
    environment["PYTHONPATH"] = str(folder)  # before the checkout's package
    command = [sys.executable, "-c", START, *arguments]
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=120, check=True)


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["scheduler", "--skip-serve-logs"], True),
        (["celery", "stop"], False),
    ],
)
def test_processes_that_fork_tasks_have_our_modules_before_they_do(
    tmp_path: Path, arguments: list[str], loaded: bool
) -> None:
    assert f"RESULT {loaded}" in start(PLUGINS, tmp_path, *arguments).stdout


def test_a_mistake_in_our_modules_does_not_keep_airflow_from_starting(copied: Path, tmp_path: Path) -> None:
    (copied / "twinhive" / "types.py").unlink()
    (copied / "twinhive" / "surfaces" / "airflow" / "dag_factory.py").write_text("1 / 0\n")
    done = start(copied, tmp_path, "scheduler")
    assert "RESULT False" in done.stdout
    said = done.stdout + done.stderr
    assert "Twinhive's modules were not loaded ahead" in said
    assert "division by zero" in said


def test_the_command_line_works_without_airflow_and_without_spark() -> None:
    code = "import sys, twinhive.surfaces.cli.app; print(sorted({'airflow', 'pyspark'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
