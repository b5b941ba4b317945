"""A watcher, a schedule and a person start the same window at once, past Airflow's limit of one run: it is harmless."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hive_metastore.ttypes import NotificationEventRequest

from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin

pytestmark = pytest.mark.sandbox

PLUGINS = Path(__file__).parents[3] / "plugins"
FOLLOW = "from twinhive.surfaces.cli.app import main; main()"
DONE, TRY_AGAIN = 0, 3
STARTERS = 3
MOST_TRIES = 5
SECONDS = 180
# Positions are written by whoever comes to them; they say the same, however often.
POSITIONS = "ALTER_DATABASE"


def start(policies: PolicyFiles, policy: str, wait: int = 0) -> "subprocess.Popen[str]":
    # Airflow's second tries of several tasks do not begin at once either.
    time.sleep(wait)
    command = [sys.executable, "-c", FOLLOW, "run", policy, "incremental", "--config", str(policies.directory)]
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def follow_at_once(policies: PolicyFiles, policy: str, starters: int) -> list[str]:
    """Start a window so many times; who is told to try again does so, as Airflow would. Return what all said."""
    said = []
    waiting = [start(policies, policy) for _ in range(starters)]
    for _ in range(MOST_TRIES):
        ended = [(process, process.communicate(timeout=SECONDS)[0]) for process in waiting]
        said += [output for _, output in ended]
        codes = [process.returncode for process, _ in ended]
        assert set(codes) <= {DONE, TRY_AGAIN}, "\n".join(said)
        waiting = [start(policies, policy, wait=number) for number in range(codes.count(TRY_AGAIN))]
        if not waiting:
            return said
    raise AssertionError("\n".join(said))


def a_followed_database(east: Warehouse, policies: PolicyFiles) -> str:
    database = east.create_database("at_once")
    orders = east.create_table(database, "orders", keys=("day",))
    east.add_partition(orders, "0", files={"000000_0": b"first"})
    east.create_table(database, "gone", files={"data": b"1,2\n"})
    policy = policies.add(database)
    policies.run(policy)
    policies.follow(policy)
    for day in range(1, 40):
        east.add_partition(orders, str(day), files={"000000_0": f"{day}\n".encode() * 100})
    east.client.drop_table(database, "gone", deleteData=True)
    east.create_table(database, "made", files={"data": b"3,4\n" * 100})
    return policy


def newest(warehouse: Warehouse) -> int:
    return int(warehouse.client.get_current_notificationEventId().eventId)


def changes_since(west: Warehouse, database: str, event_id: int) -> Counter[tuple[str, str]]:
    """Count what the replica's own log says was done to a database's objects, by type and table."""
    found = west.client.get_next_notification(NotificationEventRequest(lastEvent=event_id, maxEvents=10_000))
    ours = (row for row in found.events if row.dbName == database and row.eventType != POSITIONS)
    return Counter((row.eventType, row.tableName or "") for row in ours)


@pytest.mark.nightly(
    "tests/integration/phases/test_kills.py::test_two_runs_at_once_end_or_fail_plainly_and_another_run_converges",
    "tests/unit/replication/incremental/test_incremental_killed.py::test_killed_again_and_again_it_converges",
)
def test_the_same_window_started_three_times_ends_as_if_it_was_started_once(
    east: Warehouse, west: Warehouse, policies: PolicyFiles
) -> None:
    done = []
    for starters in (1, STARTERS):
        policy = a_followed_database(east, policies)
        before = newest(west)
        said = follow_at_once(policies, policy, starters)
        assert_equal_twin(east, policy, west)
        done.append(changes_since(west, policy, before))
        assert len(said) >= starters
    once, at_once = done
    assert once
    assert at_once == once, "something was applied twice"
