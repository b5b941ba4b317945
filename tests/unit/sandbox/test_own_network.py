"""YARN's node opens ports that no setting keeps on the loopback interface."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.hadoop.yarn import NodeManager
from sandbox.layout import Layout
from sandbox.ports import PortBlock
from sandbox.running import own_network

_PROGRAM = """
import socket, sys
from sandbox.running.own_network import enter, is_alone
enter("only_loopback", sys.argv[1:])
assert is_alone()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
print("alone with", *sys.argv[1:])
"""


def test_the_node_starts_nowhere_else_than_where_loopback_is_the_only_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.hadoop.yarn.ensure_jars", lambda *given: [])
    monkeypatch.setattr("sandbox.hadoop.yarn.is_alone", lambda: False)
    with pytest.raises(SandboxError, match="only loopback"):
        NodeManager(Layout(tmp_path), PortBlock(21000), tmp_path).prepare({})


def test_a_program_is_started_anew_where_it_is_alone(tmp_path: Path) -> None:
    (tmp_path / "only_loopback.py").write_text(_PROGRAM)
    paths = f"{tmp_path}:{Path(own_network.__file__).parents[1]}"
    done = subprocess.run(
        [sys.executable, "-m", "only_loopback", "a b"], env={"PYTHONPATH": paths}, capture_output=True, text=True
    )
    if "cannot be made" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("this machine lets nobody make a network")
    assert done.stdout == "alone with a b\n", done.stderr
