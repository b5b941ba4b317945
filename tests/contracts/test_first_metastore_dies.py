"""Of two metastores the first dies in a call, at each of its answers (a seventh of them a day).

Sets are marked once, all is told in order, and who waits for a set finds it.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.hive.contract_metastores import a_database_on, created
from tests.support.hive.metastore_objects import a_partition, a_table
from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.seeds import breaking_points
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.users.thrift_source import ThriftSource
from twinhive.core.model.errors import TryAgain
from twinhive.core.model.messages.publisher_position import NOBODY
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.positions import POSITION_TABLE, PositionStore
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherRules, PublisherStanding
from twinhive.publishing.sets.listed_sets import SetsOfDatabase
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.publishing.sets.set_waiting import wanted_set

pytestmark = pytest.mark.sandbox


@contextmanager
def two_metastores(sandbox: Any, answers: int) -> Iterator[tuple[CuttingProxy, ThriftSource]]:
    """Give a client of two metastores over one database; the first dies after so many answers."""
    cluster = sandbox.clusters["east"]
    alive = (cluster.metastore_host, cluster.metastore_port)
    proxy = CuttingProxy(alive, answers)
    both = ThriftSource([proxy.address, alive], 10.0, cluster.user, file_system=cluster.hdfs_uri)
    yield proxy, both
    both.close()
    proxy.close()


def repeated(act: Callable[..., Any], *given: Any) -> Any:
    """Do something, once more where nobody knows whether a table was made; as a task of Airflow, and `publish`, do."""
    try:
        return act(*given)
    except TryAgain:
        return act(*given)


@pytest.mark.parametrize("first", [True, False], ids=["which makes the table of sets", "further sets"])
def test_a_set_is_marked_once_whichever_call_the_first_metastore_dies_in(
    sandbox: Any, real: ThriftSource, first: bool
) -> None:
    for answers in breaking_points():
        with a_database_on(real) as database, two_metastores(sandbox, answers) as (proxy, both):
            table = created(real, a_table(database, "days", keys=("p",)))
            real.add_partitions([a_partition(table, "a")])
            if not first:
                MarkSet(table.name, "*", "before").run(real)
            order = MarkSet(table.name, "p=a", "token", "ann")
            outcome = repeated(order.run, both) if first else order.run(both)
            assert (outcome.mark.count, outcome.mark.partitions) == (1, 1)
            found = [one.mark for one in SetsOfDatabase(real, database, "days", "30d").read()]
            assert [(one.spec, one.count, one.token) for one in found if one.spec != "*"] == [("p=a", 1, "token")]
            assert order.run(both).already
            repeated(UnmarkSet(table.name, "p=a").run, both)
            assert not UnmarkSet(table.name, "p=a").run(both)
            if not proxy.is_dead:
                break
    assert answers > 5, "the first metastore died in the calls that the test is about"


@pytest.mark.parametrize("first", [True, False], ids=["of the first start", "of one that goes on"])
def test_all_is_told_in_order_whichever_call_the_first_metastore_dies_in(
    sandbox: Any, real: ThriftSource, first: bool
) -> None:
    for answers in breaking_points():
        real.drop_table(POSITION_TABLE, delete_data=True)
        with a_database_on(real) as database, two_metastores(sandbox, answers) as (proxy, both):
            table = created(real, a_table(database, "days", keys=("p",)))
            state = BrokerState()
            rules = PublisherRules(TopicRules("east"), AnnouncedDatabases((database,)), "one")
            if not first:
                Publisher(real, MemoryBroker(state), rules).round()
            publisher = Publisher(both, MemoryBroker(state), rules)
            standing = repeated(publisher.round) if first else publisher.round()
            assert standing is PublisherStanding.ACTIVE
            real.add_partitions([a_partition(table, "a")])
            MarkSet(table.name, "p=a", "token").run(real)
            assert publisher.round() is PublisherStanding.ACTIVE
            publisher.leave()
            kept = PositionStore(real).read()
            assert kept is not None
            assert (kept.holder, kept.position.event_id) == (NOBODY, publisher.reached)
            told = list({message.id: message.kind for message in state.taken}.values())
            assert told == ["ADD_PARTITION", "SET_DONE"]
            if not proxy.is_dead:
                break
    assert answers > 5, "the first metastore died in the calls that the test is about"
    real.drop_table(POSITION_TABLE, delete_data=True)


def test_who_waits_for_a_set_finds_it_whichever_call_the_first_metastore_dies_in(
    sandbox: Any, real: ThriftSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What `SetDoneSensor` asks before it waits, and the poll that Airflow's triggerer makes for it."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))  # it asks Airflow nothing
    from twinhive.surfaces.airflow.triggers import replica_watch

    monkeypatch.setattr(replica_watch, "POLL_SECONDS", 0.05)

    async def waits(table: TableName, both: ThriftSource) -> str:
        wanted = await asyncio.to_thread(wanted_set, both, table, "p=a")
        looks = replica_watch.looks("both", lambda: both, replica_watch.SetQuestion(wanted, "30d"))
        assert await anext(looks) is None
        await asyncio.to_thread(MarkSet(table, "p=a", "token").run, real)
        async for mark in looks:
            if mark is not None:
                await looks.aclose()
                return str(mark.spec)
        raise AssertionError("it looks for ever")

    for answers in breaking_points():
        with a_database_on(real) as database, two_metastores(sandbox, answers) as (proxy, both):
            table = created(real, a_table(database, "days", keys=("p",)))
            MarkSet(table.name, "p=b", "other").run(real)
            assert asyncio.run(asyncio.wait_for(waits(table.name, both), 60)) == "p=a"
            if not proxy.is_dead:
                break
    assert answers > 5, "the first metastore died in the calls that the test is about"
    assert "cannot be looked at" not in caplog.text
