"""People ask for repairs by name, by pattern, by what was found, by what is frozen."""

import pytest

from tests.unit.replication.verify.test_verify import added, parameter, table_extra
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import Foreign, Missing, Refused
from twinhive.core.model.files import Space
from twinhive.core.model.marks import without_marks
from twinhive.core.model.quarantine import with_frozen
from twinhive.operations.actions.repair import Repair
from twinhive.replication.operator_requests.request_files import requested_tables

HOLDER = {"by": "ann"}


@pytest.fixture
def verifying() -> Verifying:
    return Verifying()


def repair(verifying: Verifying, *tables: str, quarantined: bool = False) -> list[str]:
    return Repair(verifying.followed.policy, tables, HOLDER, quarantined).run(verifying.world.ports())


def plan(verifying: Verifying, *tables: str) -> list[str]:
    return Repair(verifying.followed.policy, tables, HOLDER).plan(verifying.world.ports())


def requested(verifying: Verifying) -> tuple[str, ...]:
    return requested_tables(verifying.world.replica_files, verifying.followed.policy)


def test_without_names_the_tables_with_findings_are_repaired(verifying: Verifying) -> None:
    assert repair(verifying) == []
    parameter(verifying)
    added(verifying)
    verifying.findings()
    assert len(repair(verifying)) == 2
    assert requested(verifying) == ("orders", "plain")
    verifying.followed.follow()
    assert verifying.verify().is_equal


def test_names_and_patterns_are_whole_names_in_any_case(verifying: Verifying) -> None:
    repair(verifying, "ORD.*", "sales.plain")
    assert requested(verifying) == ("orders", "plain")


def test_quarantined_tables_are_repaired_together(verifying: Verifying) -> None:
    parameters = verifying.world.replica.database("sales").parameters
    frozen = with_frozen(with_frozen(parameters, "plain", "4 broken"), "empty", "5 broken")
    verifying.world.replica.set_database_parameters("sales", frozen)
    repair(verifying, quarantined=True)
    assert requested(verifying) == ("empty", "plain")


def test_a_plan_says_what_would_become_of_each_leaf_and_asks_for_nothing(verifying: Verifying) -> None:
    added(verifying)
    assert plan(verifying, "orders") == [
        "replace orders p=a b",
        "orders: keep 3, alter 0, replace 1, add 0, drop 0",
    ]
    assert requested(verifying) == ()


def test_one_that_is_refused_by_name_keeps_all_others_back(verifying: Verifying) -> None:
    with pytest.raises(Missing):
        repair(verifying, "plain", "nowhere")
    assert requested(verifying) == ()


def test_a_foreign_table_among_the_findings_is_left_out_and_said(verifying: Verifying) -> None:
    table_extra(verifying)
    name = verifying.users.name("extra")
    there = verifying.world.replica.table(name)
    verifying.world.replica.alter_table(name, there.with_parameters(without_marks(there.parameters)))
    parameter(verifying)
    verifying.findings()
    said = repair(verifying)
    assert requested(verifying) == ("plain",)
    assert said[-1].startswith("left out: table: sales.extra on west was not made by policy sales")
    with pytest.raises(Foreign):
        repair(verifying, "extra")


def test_without_room_nothing_is_asked_for(verifying: Verifying) -> None:
    users, files, policy = verifying.users, verifying.world.replica_files, verifying.followed.policy
    users.overwrite("orders", ("a b",), {"f": b"x" * 5_000})
    verifying.followed.follow()
    added(verifying)
    files.quotas[policy.staging_root] = Space(1 << 40, 1_000)
    with pytest.raises(Refused, match="no room below") as caught:
        repair(verifying, "orders")
    assert "1.0 kB left" in str(caught.value) and "setSpaceQuota" in str(caught.value)
    assert requested(verifying) == ()
    # Only what differs is brought over: of another table there is nothing to copy.
    repair(verifying, "plain")
    files.quotas[policy.staging_root] = Space(1 << 40, 10_000)
    repair(verifying, "orders")
    verifying.followed.follow()
    assert verifying.verify().is_equal
