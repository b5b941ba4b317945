"""What is wrong with one question that sensors share is the trouble of those who ask it, and is told to them."""

import asyncio

import pytest

from tests.dags.waiting.test_sets import EAST, Site, fired, site, trigger_for
from tests.support.builders import a_table
from twinhive.airflow_edge.waiting.set_trigger import SetDoneTrigger
from twinhive.model.names import TableName
from twinhive.sets.marking import MarkSet

__all__ = ["site"]
BAD = TableName("sales", "bad")


@pytest.fixture
def bad(site: Site) -> Site:
    """A table whose sets nobody can judge, in the same database as another one."""
    keeps = {"twinhive.sets.keep": "7 days"}
    site.world.add_table(a_table(str(BAD), partition_keys=("day",), parameters=keeps))
    MarkSet(BAD, "day=1", "t").run(site.world.source)
    return site


def test_a_table_whose_property_has_no_sense_keeps_no_other_waiting(bad: Site) -> None:
    bad.mark("p=1")

    async def main() -> None:
        waits = asyncio.ensure_future(fired(SetDoneTrigger(EAST, ("sales", "bad"), [("day", "1")], 0, "30d")))
        await asyncio.sleep(0)
        assert await asyncio.wait_for(fired(trigger_for("1")), 20) == {"set": "p=1", "count": 1}
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)

    asyncio.run(main())
