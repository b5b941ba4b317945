"""The order of starting, and bounded storage."""

import os
import time
from types import SimpleNamespace

import pytest

from sandbox.airflow.airflow_server import trim_directory
from sandbox.hive.schema import persistent_classes
from sandbox.running.starting import run_in_order, with_dependencies

SERVERS = {
    name: SimpleNamespace(name=name, depends_on=depends_on, after=())
    for name, depends_on in {"a": (), "b": ("a",), "c": ("b",), "d": ()}.items()
}


def test_what_a_server_needs_comes_before_it():
    assert with_dependencies(["c", "d"], SERVERS) == ["a", "b", "c", "d"]


def test_servers_wait_for_what_they_need():
    seen = []

    def action(server):
        time.sleep(0.01 if server.name == "a" else 0)
        seen.append(server.name)

    run_in_order(["a", "b", "c", "d"], SERVERS, action)
    assert [name for name in seen if name != "d"] == ["a", "b", "c"]


def test_the_first_error_is_the_cause():
    def action(server):
        if server.name in "ad":
            raise ValueError(server.name)

    with pytest.raises(ValueError, match="a"):
        run_in_order(["a", "b", "c", "d"], SERVERS, action)


def test_the_oldest_files_are_trimmed(tmp_path):
    for age, name in enumerate(["new", "old", "oldest"]):
        path = tmp_path / name
        path.write_bytes(b"x" * 10)
        os.utime(path, (1000 - age, 1000 - age))
    trim_directory(tmp_path, 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


def test_tables_are_found_in_the_mapping():
    package = '<jdo><package name="p.q"><class name="A"/><class name="B"/></package></jdo>'
    assert list(persistent_classes(package)) == ["p.q.A", "p.q.B"]
