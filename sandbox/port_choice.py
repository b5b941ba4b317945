"""Decide which block of ports an instance uses."""

import os
from collections.abc import Iterable, Mapping

from sandbox.errors import SandboxError
from sandbox.layout import InstanceRecord, Layout, moved, new_record
from sandbox.paths import CHECKOUT
from sandbox.ports import BLOCK_SIZE, free_block, is_free, preferred_base

SETTING = "TWINHIVE_SANDBOX_PORT_BASE"


def chosen_base(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the block the user asks for, if any."""
    text = environment.get(SETTING)
    if not text:
        return None
    if not text.isdigit() or not 1024 <= int(text) <= 65535 - BLOCK_SIZE:
        raise SandboxError(f"{SETTING} is {text!r}, expected a port number from 1024 to {65535 - BLOCK_SIZE}")
    return int(text)


def intended_record(name: str, layout: Layout) -> InstanceRecord:
    """Return the stored record, or the one a first start would store."""
    record = layout.read_record()
    if record is not None:
        return record
    return new_record(name, CHECKOUT, chosen_base() or free_block(preferred_base(name)).base)


def choose_ports(record: InstanceRecord, needed: Iterable[int], may_move: bool) -> InstanceRecord:
    """Return the record with a block in which every port of `needed` is free."""
    chosen = chosen_base()
    offsets = [port - record.port_base for port in needed]
    base = record.port_base if chosen is None or not may_move else chosen
    busy = [base + offset for offset in offsets if not is_free(base + offset)]
    if not busy:
        return moved(record, base)
    if not may_move:
        raise SandboxError(f"port {busy[0]} is in use by another program: `up` moves the sandbox to other ports")
    if chosen is not None:
        raise SandboxError(f"port {busy[0]} is in use by another program: choose another {SETTING}")
    return moved(record, free_block(base + BLOCK_SIZE).base)
