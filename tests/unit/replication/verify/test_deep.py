"""A deep look reads every leaf, whatever is remembered, also those that have no files of their own."""

from dataclasses import replace

import pytest

from tests.unit.replication.verify.test_verify import ORDERS, PLAIN
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.names import TableName


@pytest.mark.parametrize("name", [PLAIN, ORDERS, TableName("sales", "recent")])
@pytest.mark.parametrize("side", ["source", "replica"])
@pytest.mark.parametrize("keeps_log", [False, True])
def test_what_no_log_tells_of_is_found(name: TableName, side: str, keeps_log: bool) -> None:
    """Somebody changes a plain table, one with partitions, or a view in the metastore's own database."""
    verifying = Verifying(replica_keeps_log=keeps_log)
    assert verifying.verify().is_equal
    verifying.next_night()
    tables = getattr(verifying.world, side)._tables
    tables[name] = replace(tables[name], columns=(("id", "bigint"),))
    (found,) = verifying.findings(deep=True)
    assert found.startswith(f"{name.table}: meta (")


def test_a_deep_look_at_what_is_equal_reads_all_of_both_sides_and_finds_nothing() -> None:
    verifying = Verifying(replica_keeps_log=True)
    verifying.verify()
    shallow, deep = verifying.verify(), verifying.verify(deep=True)
    assert deep.is_equal
    assert shallow.read < deep.read
