"""Remotes are killed, frozen and cut off at random while clients run: no wrong row, and recovery without a restart.

`TWINHIVE_GATEWAY_FAULTS` says how many faults there are.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.Thrift import TException

from tests.support.seeds import seeds
from tests.support.servers.metastore_process import MetastoreProcess, contents_of
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.wire_metastore import Contents, WireMetastore, client_of
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.isolation import RemoteLimits

FAULTS = int(os.environ.get("TWINHIVE_GATEWAY_FAULTS", "3"))
LIMITS = RemoteLimits(connect=0.5, call=3, wait=3, probe_every=0.1, refusals=1000)
CALLS = 12
"""Of each client, around each fault."""
MOST_TRIES = 300
"""Until a remote that is well again has to answer; a refused call takes its time."""
NAMES = ("east", "north")


class World:
    """Two remotes, each as a database and as a table, and a local metastore with tables called alike."""

    def __init__(self) -> None:
        self.here = contents_of("here")
        self.here.databases += [f"far_{name}" for name in NAMES]
        for name in NAMES:
            self.here.add("sales", name)
        self.local = WireMetastore(self.here)
        self.remotes = {name: MetastoreProcess(name) for name in NAMES}
        to = {name: {"port": str(one.port)} for name, one in self.remotes.items()}
        databases = {f"far_{name}": RemoteDatabase(f"far_{name}", "sales", properties=to[name]) for name in NAMES}
        tables = {
            local: RemoteTable(local, TableName("sales", "orders"), properties=to[name])
            for name in NAMES
            for local in [TableName("sales", name)]
        }
        self.gateway = RunningGateway(self.local.port, Definitions(tables, databases), LIMITS)
        self.expected: dict[str, Contents] = {name: contents_of(name) for name in (*NAMES, "here")}

    def close(self) -> None:
        self.gateway.stop()
        self.local.close()
        for one in self.remotes.values():
            one.close()

    def look(self, client: Any, random: Random, name: str) -> None:
        """Ask for something of one metastore; anything but the right answer or an error fails."""
        places = [("sales", "orders")] if name == "here" else [(f"far_{name}", "orders"), ("sales", name)]
        database, table = random.choice(places)
        match random.randrange(3):
            case 0:
                found = client.get_table_req(ttypes.GetTableRequest(dbName=database, tblName=table)).table
                assert (found.owner, found.dbName, found.tableName) == (name, database, table)
            case 1:
                assert client.get_partition_names(database, table, -1) == self.partitions(name)
            case _ if name != "here":
                assert client.get_all_tables(f"far_{name}") == ["orders"]

    def partitions(self, name: str) -> list[str]:
        return self.expected[name].partitions["sales", "orders"]


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def answered(world: World, look: Callable[[Any], None]) -> bool:
    """Connect, and look; False where an error came of it."""
    with client_of(world.gateway.port) as client:
        try:
            look(client)
        except (TException, OSError):  # errors of the bindings cannot pass a context manager
            return False
    return True


def call_around(world: World, random: Random, name: str, halfway: threading.Barrier) -> int:
    """Make calls to one metastore, some of them before the barrier; return how many came to nothing."""
    before, after = CALLS // 3, CALLS - CALLS // 3
    failed = sum(not answered(world, lambda client: world.look(client, random, name)) for _ in range(before))
    halfway.wait()
    return failed + sum(not answered(world, lambda client: world.look(client, random, name)) for _ in range(after))


def errors_around(world: World, random: Random, fault: Callable[[], None]) -> dict[str, int]:
    """Let a client for each metastore call while a fault happens; return how many errors each got."""
    names = (*NAMES, "here")
    halfway = threading.Barrier(len(names), fault, timeout=60)
    with ThreadPoolExecutor(len(names)) as pool:
        runs = {name: pool.submit(call_around, world, Random(random.random()), name, halfway) for name in names}
        return {name: run.result() for name, run in runs.items()}


def recovered(world: World, name: str) -> bool:
    """Ask until a remote answers."""

    def look(client: Any) -> None:
        assert client.get_partition_names(f"far_{name}", "orders", -1) == world.partitions(name)

    return any(answered(world, look) for _ in range(MOST_TRIES))


def test_no_wrong_row_whatever_happens_to_remotes_and_recovery_by_itself(world: World) -> None:
    (seed,) = seeds(1, kind=42)
    random = Random(seed)
    errors = 0
    for number in range(FAULTS):
        name = random.choice(NAMES)
        remote = world.remotes[name]
        faults = {"kill": remote.kill, "freeze": remote.freeze, "cut": lambda one=remote: cut(one, random)}
        kind = list(faults)[number % 3]
        failed = errors_around(world, random, faults[kind])
        errors += failed.pop(name)
        assert not any(failed.values()), (seed, number, kind, failed)
        remote.heal()
        assert recovered(world, name), (seed, number, kind)
    assert 0 < errors < FAULTS * CALLS
    assert world.gateway.counts.foreign == 0


def cut(remote: MetastoreProcess, random: Random) -> None:
    """Cut one of the next answers somewhere."""
    remote.cut_after = random.randint(1, 40_000)
