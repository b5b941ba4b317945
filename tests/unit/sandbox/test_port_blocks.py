"""Ports: one block per instance, every server its own."""

import socket

import pytest

from sandbox.errors import SandboxError
from sandbox.layout import InstanceRecord
from sandbox.port_choice import choose_ports, chosen_base
from sandbox.ports import BLOCK_SIZE, PortBlock, is_free, preferred_base

RECORD = InstanceRecord("test", "/checkout", 31000, "password")


def test_no_port_is_given_twice():
    block = PortBlock(21000)
    east, west = block.cluster("east"), block.cluster("west")
    ports = [*vars(east).values(), *vars(west).values(), block.postgres, block.airflow]
    ports += [block.spark_master, block.spark_master_ui, block.spark_worker, block.spark_worker_ui]
    ports += vars(block.yarn).values()
    # Its metastore is that of east.
    ports += [port for name, port in vars(block.cluster("north")).items() if name != "metastore"]
    assert len(set(ports)) == len(ports)
    assert set(ports) <= set(block.all)


def test_north_shares_the_metastore_of_east():
    block = PortBlock(21000)
    assert block.cluster("north").metastore == block.cluster("east").metastore


def test_the_demo_has_well_known_ports_and_others_keep_away():
    assert PortBlock(preferred_base("demo")).cluster("east").metastore == 21009
    assert preferred_base("test") >= 21000 + BLOCK_SIZE


@pytest.mark.parametrize("text", ["x", "80", "70000", "-1"])
def test_a_senseless_setting_is_refused(text):
    with pytest.raises(SandboxError, match="TWINHIVE_SANDBOX_PORT_BASE"):
        chosen_base({"TWINHIVE_SANDBOX_PORT_BASE": text})


def test_a_busy_port_moves_the_instance_or_is_refused(monkeypatch):
    monkeypatch.delenv("TWINHIVE_SANDBOX_PORT_BASE", raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        record = InstanceRecord("test", "/checkout", port, "password")
        assert not is_free(port)
        with pytest.raises(SandboxError, match=f"port {port} is in use"):
            choose_ports(record, [port], may_move=False)


def test_free_ports_are_kept(monkeypatch):
    monkeypatch.delenv("TWINHIVE_SANDBOX_PORT_BASE", raising=False)
    assert choose_ports(RECORD, [], may_move=True) == RECORD


def test_the_setting_moves_the_instance(monkeypatch):
    monkeypatch.setenv("TWINHIVE_SANDBOX_PORT_BASE", "31040")
    assert choose_ports(RECORD, [], may_move=True).port_base == 31040
