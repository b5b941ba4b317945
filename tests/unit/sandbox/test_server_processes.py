"""Processes: only ours are ended, with all they started."""

import json
import os
import signal
import sys
import time
from dataclasses import asdict, replace

import pytest

from sandbox.running import processes
from sandbox.server import Launch

SLEEP = "import time; time.sleep(60)"


def spawn(tmp_path, script):
    pid_file = tmp_path / "server.pid"
    process = processes.spawn(Launch([sys.executable, "-S", "-c", script]), pid_file, tmp_path / "server.out")
    return pid_file, process


@pytest.mark.parametrize("end", [processes.kill, lambda path: processes.end(path, signal.SIGTERM, 5)])
def test_a_server_ends_with_its_children(tmp_path, end):
    child = f"[sys.executable, '-S', '-c', '{SLEEP}'], start_new_session=True"
    script = f"import subprocess, sys; subprocess.Popen({child}); {SLEEP}"
    pid_file, process = spawn(tmp_path, script)
    deadline = time.monotonic() + 10
    while len(processes.members(pid_file)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    family = processes.members(pid_file)
    assert len(family) == 2
    end(pid_file)
    process.wait()
    assert all(processes.start_ticks(entry.pid) is None for entry in family)
    assert processes.read_record(pid_file) is None


def test_a_process_id_that_was_given_out_again_is_not_ours(tmp_path):
    pid_file, process = spawn(tmp_path, SLEEP)
    record = processes.read_record(pid_file)
    recycled = replace(record, pid=os.getpid())
    pid_file.write_text(json.dumps(asdict(recycled)))
    assert processes.read_record(pid_file) is None
    assert os.getpid() not in [entry.pid for entry in processes.members(pid_file)]
    process.kill()
    process.wait()


def test_output_goes_to_a_file(tmp_path):
    _, process = spawn(tmp_path, "print('hello')")
    process.wait()
    output = tmp_path / "server.out"
    deadline = time.monotonic() + 10
    while not output.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert output.read_text() == "hello\n"


def test_settings_of_other_installations_do_not_leak(monkeypatch):
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    monkeypatch.setenv("AIRFLOW_HOME", "/airflow")
    environment = processes.server_environment({"HADOOP_USER_NAME": "hive"})
    assert environment["HADOOP_USER_NAME"] == "hive"
    assert not {"HADOOP_CONF_DIR", "AIRFLOW_HOME"} & environment.keys()
