"""What is left of events when some of their tables are resynced."""

import pytest

from tests.support.builders import a_policy, a_table
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import AlterTable, Change, DropTable, Event
from twinhive.replication.incremental.resync_filter import beside_whole

ORDERS, SOLD, OTHERS = a_table("sales.orders"), a_table("sales.sold"), a_table("elsewhere.orders")


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (DropTable(ORDERS), DropTable(ORDERS)),
        (DropTable(SOLD), None),
        (AlterTable(SOLD, SOLD, truncates=False), None),
        (AlterTable(SOLD, ORDERS, truncates=False), None),
        (AlterTable(OTHERS, SOLD, truncates=False), None),
        (AlterTable(ORDERS, SOLD, truncates=False), DropTable(ORDERS)),
    ],
)
def test_of_a_rename_to_a_whole_table_the_old_name_is_gone(change: Change, left: Change | None) -> None:
    found = beside_whole(a_policy(), Event(Position(7), "ALTER_TABLE", change), {"sold"})
    assert (found and found.change) == left
    assert found is None or found.event_id == 7
