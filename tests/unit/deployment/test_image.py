"""deploy/Dockerfile: what it copies is there, and what the containers call is in it."""

import re
import sys
import zipfile
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from deploy.server import CONFIGURATION, java_command
from sandbox.fleet import build_servers
from sandbox.jvm.java import spark_home
from sandbox.layout import Layout, new_record
from tests.support.compose_file import CHECKOUT, PROJECT, environment, services

DOCKERFILE = (CHECKOUT / "deploy/Dockerfile").read_text().replace("\\\n", " ")
IGNORED = (CHECKOUT / ".dockerignore").read_text().split()
SCRIPTS = Path(sys.executable).parent
# Debian's base image has bash, grep and install, python's image python and pip.
BASE = {"bash", "exec", "grep", "python", "pip", "install", "mkdir", "rm", "apt-get", "useradd"}
OURS = sorted(name for name, service in services().items() if "build" in service)


def copies() -> list[tuple[str, str]]:
    return [(words[-1], word) for words in _lines("COPY") for word in words[:-1]]


def _lines(instruction: str) -> list[list[str]]:
    return [line.split()[1:] for line in DOCKERFILE.splitlines() if line.startswith(f"{instruction} ")]


def installed() -> set[str]:
    """Name what apt-get installs, by the tool that is meant."""
    text = re.search(r"--no-install-recommends ([\w\s.-]+?)\s*&&", DOCKERFILE)
    assert text
    return {"java" if package.startswith("openjdk-") else package for package in text[1].split()}


def tools(words: list[str]) -> set[str]:
    """Return the programs that a command or a health check calls."""
    if words[0] in ("CMD", "CMD-SHELL"):
        words = words[1:] if words[0] == "CMD" else ["bash", "-c", *words[1:]]
    if words[:2] != ["bash", "-c"]:
        return {words[0]}
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "_", words[2])
    return {"bash", *(part.split()[0] for part in re.split(r"&&|\|", text))}


def test_what_is_copied_exists_and_is_not_ignored():
    sources = [source for _, source in copies()]
    assert {
        "plugins",
        "dags",
        "spark_jobs",
        "sandbox",
        "deploy",
        "requirements-runtime.txt",
        "requirements-build.txt",
    } <= set(sources)
    for source in sources:
        assert (CHECKOUT / source).exists(), source
        assert f"!{source}" in IGNORED, source
    assert IGNORED[0] == "*"
    assert {f"!{source}" for source in sources} == {entry for entry in IGNORED if entry.startswith("!")}


@pytest.mark.parametrize("name", OURS)
def test_the_image_of_a_service_is_a_stage_of_the_file(name: str):
    stages = {line[-1] for line in _lines("FROM")}
    assert services()[name]["build"]["target"] in stages


def test_the_base_images_are_pinned_and_have_the_python_of_the_requirements():
    bases = [line[0] for line in _lines("FROM")]
    assert fnmatch(bases[0], f"python:{sys.version_info[0]}.{sys.version_info[1]}.*-slim-*")
    assert bases[1:] == ["twinhive"]


def test_what_only_tests_need_is_imported_by_nothing_of_the_image():
    wanted = (CHECKOUT / "requirements-test.in").read_text().splitlines()
    imported = {name.replace("-", "_") for name in wanted if not name.startswith("-")}
    assert "pytest" in imported
    for directory in ("plugins", "dags", "spark_jobs", "deploy", "demo"):
        for path in (CHECKOUT / directory).rglob("*.py"):
            names = set(re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), re.MULTILINE))
            assert not names & imported, path


@pytest.mark.parametrize("name", OURS)
def test_commands_and_health_checks_call_what_is_in_the_image(name: str):
    service = services()[name]
    called = tools(service["command"]) | tools(service.get("healthcheck", {"test": ["CMD", "bash"]})["test"])
    for tool in called - BASE - installed():
        assert (SCRIPTS / tool).exists(), tool


@pytest.mark.parametrize("name", [name for name in OURS if services()[name]["command"][:2] == ["python", "-m"]])
def test_a_module_that_a_container_runs_exists(name: str):
    assert find_spec(services()[name]["command"][2])


@pytest.mark.parametrize("name", ["spark-master", "spark-worker"])
def test_sparks_classes_exist(name: str):
    jar = next((spark_home() / "jars").glob("spark-core_*.jar"))
    entry = services()[name]["command"][1].replace(".", "/") + ".class"
    assert entry in zipfile.ZipFile(jar).namelist()


@pytest.mark.parametrize("role", ["namenode", "datanode", "metastore"])
def test_a_cluster_server_is_the_program_that_the_sandbox_runs(role: str, tmp_path):
    record = new_record("any", tmp_path, 21000)
    sandbox_server: Any = build_servers(Layout(tmp_path), record, tmp_path, tmp_path)[f"east-{role}"]
    assert java_command(role)[-1] == sandbox_server.main
    service = services()[f"east-{role}"]
    assert service["command"][-1] == role
    assert any(volume.split(":")[1] == str(CONFIGURATION) for volume in service["volumes"])
    assert environment(f"east-{role}")["HADOOP_USER_NAME"] == sandbox_server.launch().environment["HADOOP_USER_NAME"]


def test_paths_inside_of_the_image_are_where_the_file_puts_things():
    assert _lines("WORKDIR") == [[PROJECT]]
    given = environment("airflow-scheduler")
    for key in ("AIRFLOW__CORE__DAGS_FOLDER", "AIRFLOW__CORE__PLUGINS_FOLDER", "TWINHIVE_CONFIG"):
        assert given[key].removeprefix(f"{PROJECT}/") in {target for target, _ in copies()}
