"""Plans over real servers: both clusters are listed in full before and after, and nothing is different."""

from typing import Any

import pytest
from hive_metastore.ttypes import NotificationEventRequest

from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.files import FileStatus
from twinhive.runtime.dry_run.phase_plan import PhasePlan
from twinhive.runtime.dry_run.rehearsal import rehearse
from twinhive.runtime.pipeline.phases import PHASES

pytestmark = pytest.mark.sandbox


def everything(database: str, *warehouses: Warehouse) -> list[Any]:
    """Return all that clusters hold: every path, the database itself, and the events of the log.

    What belongs to other databases is left out: Airflow goes on to follow those of its tests meanwhile.
    """
    names = {name for warehouse in warehouses for name in warehouse.client.get_all_databases()}
    others = names - {database, "default"}
    return [
        (
            every_path(warehouse, database, others),
            [warehouse.client.get_database(name) for name in warehouse.client.get_all_databases() if name == database],
            every_event(warehouse, others),
        )
        for warehouse in warehouses
    ]


def every_path(warehouse: Warehouse, database: str, others: set[str]) -> dict[str, tuple[Any, ...]]:
    """List a file system: what is there, which file it is, how long, and of when."""
    found: dict[str, tuple[Any, ...]] = {}
    level = [warehouse.files.root + "/"]
    while level:
        below: list[FileStatus] = [
            child
            for _, children in warehouse.files.list_directories(level)
            for child in children or ()
            if not any(name in child.path for name in others)
        ]
        level = [child.path for child in below if child.is_directory]
        for one in below:
            # A directory that databases share is of now when one of the others comes or goes.
            shared = one.is_directory and database not in one.path
            found[one.path] = (one.file_id, one.length, None if shared else one.modified_ms, one.owner, one.permission)
    return found


def every_event(warehouse: Warehouse, others: set[str]) -> list[tuple[Any, ...]]:
    """Return the events of a log."""
    found = warehouse.client.get_next_notification(NotificationEventRequest(lastEvent=0, maxEvents=100_000)).events
    return [(one.eventId, one.eventType, one.dbName, one.message) for one in found if one.dbName not in others]


def plan(policies: PolicyFiles, policy: str, phase: str, **form: bool) -> PhasePlan:
    wiring = policies.wiring(policy)
    return rehearse(phase, wiring.write_ports(), wiring.policy, **form)


def of(planned: PhasePlan, verb: str, what: str) -> tuple[str, ...]:
    return next(one.names for one in planned.sections if (one.verb, one.what) == (verb, what))


def test_plans_of_every_phase_are_right_and_change_nothing(
    east: Warehouse, west: Warehouse, policies: PolicyFiles
) -> None:
    database = east.create_database("planned")
    orders = east.create_table(database, "orders", keys=("day",))
    east.add_partition(orders, "1 a", files={"000000_0": b"x" * 500})
    east.create_table(database, "plain", files={"data": b"1,2\n" * 1000})
    clicks = f"{east.cluster.hdfs_uri}/data/{database}/clicks"
    east.create_table(database, "clicks", kind="EXTERNAL_TABLE", location=clicks, files={"f": b"rows"})
    external = {"base_directory": f"{west.cluster.hdfs_uri}/external_of/{database}"}
    policy = policies.add(database, external_tables=external, options={"settle_seconds": 0})

    before = everything(database, east, west)
    first = plan(policies, policy, "bootstrap")
    assert (first.refusals, first.tables, first.partitions) == ((), 3, 1)
    assert (first.files, first.bytes) == (3, 500 + 4_000 + 4)
    assert of(first, "create", "tables") == tuple(f"{database}.{name}" for name in ("clicks", "orders", "plain"))
    assert all(plan(policies, policy, phase).verdict for phase in PHASES)
    assert everything(database, east, west) == before

    policies.run(policy)
    policies.copy_external(policy)
    policies.follow(policy)
    east.add_partition(orders, "2", files={"000000_0": b"y" * 70})
    east.client.drop_table(database, "plain", deleteData=True)
    east.files.write(f"{clicks}/g", b"more rows")

    before = everything(database, east, west)
    window = plan(policies, policy, "incremental")
    assert (window.files, window.bytes) == (1, 70)
    assert of(window, "create", "partitions") == (f"{database}.orders day=2",)
    assert of(window, "drop", "tables") == (f"{database}.plain",)
    passed = plan(policies, policy, "external")
    assert (passed.files, passed.bytes) == (1, 9)
    again = plan(policies, policy, "bootstrap", again=True)
    assert len(of(again, "drop", "tables of an earlier load")) == 3
    assert plan(policies, policy, "consolidate").nothing
    assert not plan(policies, policy, "scan", deep=True).refused
    assert everything(database, east, west) == before
