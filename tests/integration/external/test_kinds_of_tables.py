"""The kind of a table is what the source's metastore stores, whatever the client said; so is the kind of an owner."""

import time
from dataclasses import replace

import pytest

from tests.integration.external.test_external_tables import Stage, stage
from twinhive.core.model.objects import TableKind
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.replication.comparison.canonical_form import canonical_table
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify

__all__ = ["stage"]
pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]

ROLE, GROUP = 2, 3
CREATED = {
    "said_external": ("EXTERNAL_TABLE", None, "MANAGED_TABLE"),
    "said_both": ("EXTERNAL_TABLE", "FALSE", "MANAGED_TABLE"),
    "said_nothing": (None, None, "MANAGED_TABLE"),
    "said_managed": ("MANAGED_TABLE", "TRUE", "EXTERNAL_TABLE"),
    "said_small": ("MANAGED_TABLE", "true", "EXTERNAL_TABLE"),
    "said_half": (None, "TRUE", "EXTERNAL_TABLE"),
    "said_oddly": ("external_table", "TRUE", "external_table"),
}


def verified(stage: Stage) -> Verified:
    work = Work(stage.wired, holder={"run": "verify"}, report=stage._report)
    return Verify(work, deep=True, clock=time.time, wait=lambda seconds: stage.follow()).run(stage.ports)


def assert_same(stage: Stage) -> None:
    """Assert that all tables are equal, lie where they belong, and wait for nothing; `verify` finds nothing."""
    source, base = stage.ports.source, stage.wired.external.base_directory
    for table in source.tables(stage.name, source.table_names(stage.name)):
        there = stage.on_replica(table.name.table)
        assert there is not None, table
        assert (there.table_type, there.kind) == (table.table_type, table.kind)
        assert canonical_table(there) == canonical_table(table)
        assert there.location.startswith(f"{base}/") == (table.kind is TableKind.EXTERNAL), there
    stage.assert_twin()
    assert stage.pending() == ()
    database = stage.ports.replica.database(stage.name)
    assert not frozen_tables(database.parameters)
    assert database.owner_type == source.database(stage.name).owner_type
    outcome = verified(stage)
    assert outcome.is_equal, outcome.lines()


def files_of(stage: Stage, table: str) -> dict[str, bytes]:
    place = stage.on_replica(table).location
    files = stage.ports.replica_files
    ((_, found),) = files.list_directories([place])
    return {one.path.rpartition("/")[2]: files.read(one.path) for one in found if not one.is_directory}


def test_tables_and_owners_are_what_the_source_stores(stage: Stage) -> None:
    users, root = stage.users, stage.root
    users.create_table("turns_external", files={"f": b"managed"})
    users.fill_external("turns_managed", f"{root}/turns_managed", files={"f": b"external"})
    stage.policy().bootstrap()
    for name, (said, external, stored) in CREATED.items():
        made = users.create_as(name, said, external, {"f": b"rows"}, f"{root}/{name}")
        assert made.table_type == stored
        if made.kind is TableKind.MANAGED:
            users.insert(name, None, {"g": b"more"})
    stage.catch_up()
    assert_same(stage)
    for name, (said, _, stored) in CREATED.items():
        expected = {"f": b"rows"} | ({"g": b"more"} if stored == "MANAGED_TABLE" else {})
        assert files_of(stage, name) == expected, said

    # By the parameter alone the metastore lets the kind change, also of a source of replication.
    users.put(users.table("turns_managed").location, {"late": b"no pass has seen it"})
    users.make_external("turns_external")
    users.make_managed("turns_managed")
    users.put(users.table("turns_external").location, {"g": b"by anybody"})
    source = stage.ports.source.database(stage.name)
    stage.users.metastore.alter_database(replace(source, owner="analysts", owner_type=ROLE))
    stage.catch_up()
    stage.copy_data()
    assert_same(stage)
    assert files_of(stage, "turns_external") == {"f": b"managed", "g": b"by anybody"}
    assert files_of(stage, "turns_managed") == {"f": b"external", "late": b"no pass has seen it"}
    replica = stage.ports.replica.database(stage.name)
    assert (replica.owner, replica.owner_type) == ("analysts", ROLE)

    # The same name as a group is another owner, which verify finds and a resync of everything mends.
    stage.ports.replica.alter_database(replace(replica, owner_type=GROUP))
    assert not verified(stage).is_equal
    ResyncEverything(stage.wired, {"by": "ann"}).run(stage.ports)
    stage.catch_up()
    assert_same(stage)
