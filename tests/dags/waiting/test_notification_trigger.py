"""The watcher of a source's log: whom it wakes, and that nothing ends it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from airflow.sdk.module_loading import import_string  # type: ignore[attr-defined]
from airflow.triggers.base import TriggerEvent

from tests.dags.airflow_home import parse_dags
from tests.support.policies import PolicyFiles
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import Unreachable
from twinhive.surfaces.airflow.triggers.log_watch import News, NotificationLog, watch_log
from twinhive.surfaces.airflow.triggers.notification_trigger import NotificationTrigger

METASTORE = '{"connection": "east_metastore"}'
Item = TypeVar("Item")


class SourceLog:
    """Be a log that grows, loses rows, and does not answer."""

    def __init__(self) -> None:
        self.rows: list[EventRow] = []
        self.answers = True
        self.opened = 0
        self.looks = 0

    def open(self) -> NotificationLog:
        self.opened += 1
        return self

    def add(self, *databases: str | None) -> int:
        """Append an event for each database."""
        for database in databases:
            number = self.current + 1
            self.rows.append(EventRow(number, 1, "INSERT", "hive", database, "t", "{}", "json-0.2"))
        return self.current

    @property
    def current(self) -> int:
        return self.rows[-1].event_id if self.rows else 0

    def current_event_id(self) -> int:
        self.looks += 1
        if not self.answers:
            raise Unreachable("the metastore is away")
        return self.current

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        return [row for row in self.rows if row.event_id > event_id][:limit]


async def until(happens: Callable[[], Any]) -> None:
    while not happens():
        await asyncio.sleep(0.001)


async def upcoming(stream: AsyncIterator[Item]) -> Item:
    return await asyncio.wait_for(anext(stream), timeout=20)


async def looked(log: SourceLog) -> None:
    """Wait until the log has been looked at once more, from beginning to end."""
    seen = log.looks
    await until(lambda: log.looks > seen + 1)


def watched(play: Callable[[SourceLog, AsyncIterator[News]], Any]) -> None:
    """Play with a log while it is watched."""

    async def main() -> None:
        log = SourceLog()
        log.add("sales", "sales")
        news = watch_log(log.open, poll_seconds=0.001, most_seconds=0.002)
        first = asyncio.ensure_future(upcoming(news))
        await looked(log)

        async def following() -> AsyncIterator[News]:
            yield await first
            while True:
                yield await upcoming(news)

        await play(log, following())
        first.cancel()

    asyncio.run(main())


def test_an_event_wakes_those_whose_database_it_names() -> None:
    async def play(log: SourceLog, news: AsyncIterator[News]) -> None:
        log.add("Sales")
        assert await upcoming(news) == News(3, frozenset({"sales"}))
        log.add("stock", None)
        told = await upcoming(news)
        assert told.concerns("stock") and not told.concerns("sales")

    watched(play)


def test_events_of_no_database_wake_nobody() -> None:
    async def play(log: SourceLog, news: AsyncIterator[News]) -> None:
        log.add(None)
        assert await upcoming(news) == News(3, frozenset())

    watched(play)


@pytest.mark.parametrize(
    "damage",
    [
        lambda log: log.rows.pop(-2),
        lambda log: log.rows.clear(),
        lambda log: log.add(*["other"] * 4_000),
    ],
    ids=["a gap", "a log that begins anew", "more rows than are worth reading"],
)
def test_rows_that_cannot_be_read_wake_everybody(damage: Callable[[SourceLog], Any]) -> None:
    async def play(log: SourceLog, news: AsyncIterator[News]) -> None:
        rows = [*log.rows]
        log.rows = [
            *rows,
            EventRow(3, 1, "X", None, "other", None, "", ""),
            EventRow(4, 1, "X", None, "x", None, "", ""),
        ]
        damage(log)
        told = await upcoming(news)
        assert told.databases is None
        assert told.concerns("sales") and told.concerns("whatever")

    watched(play)


def test_a_metastore_that_is_away_is_named_once_and_what_it_logged_meanwhile_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def play(log: SourceLog, news: AsyncIterator[News]) -> None:
        log.answers = False
        await looked(log)
        await looked(log)
        log.add("sales")
        log.answers = True
        assert await upcoming(news) == News(3, frozenset({"sales"}))
        # Its address may be another by now.
        assert log.opened > 1

    watched(play)
    assert sum("cannot be read" in record.message for record in caplog.records) == 1


def test_a_trigger_fires_at_its_start_and_then_for_its_database_only() -> None:
    async def shared() -> AsyncIterator[News]:
        for news in (News(1, frozenset({"stock"})), News(2, frozenset({"sales"})), News(3), News(4, frozenset())):
            yield news

    async def main() -> list[TriggerEvent]:
        trigger = NotificationTrigger(METASTORE, "sales")
        return [event async for event in trigger.filter_shared_stream(shared())]

    assert [event.payload.get("event_id") for event in asyncio.run(main())] == [None, 2, 3]


def test_with_many_policies_a_watch_that_begins_starts_none_of_them(policies: PolicyFiles) -> None:
    for number in range(16):
        policies.add(f"db{number}")

    async def shared() -> AsyncIterator[News]:
        yield News(2, frozenset({"db7"}))

    async def main() -> list[TriggerEvent]:
        trigger = _trigger(policies.directory, "db7")
        return [event async for event in trigger.filter_shared_stream(shared())]

    assert [event.payload.get("event_id") for event in asyncio.run(main())] == [2]


def test_triggers_of_one_metastore_share_one_poll(policies: PolicyFiles) -> None:
    policies.add("sales")
    policies.add("stock")
    policies.write(
        "policies/back.yaml",
        {
            "policy": "back",
            "source": {"cluster": "west", "database": "sales"},
            "replica": {"cluster": "east", "database": "back"},
        },
    )
    sales, stock, back = (_trigger(policies.directory, name) for name in ("sales", "stock", "back"))
    assert sales.shared_stream_key() == stock.shared_stream_key() != back.shared_stream_key()
    assert hash(sales.shared_stream_key())


def test_a_stored_trigger_is_made_again_from_its_class_and_its_values(policies: PolicyFiles) -> None:
    policies.add("sales")
    trigger = _trigger(policies.directory, "sales")
    path, values = trigger.serialize()
    # Only plain texts survive every way in which Airflow stores and compares them.
    assert all(isinstance(value, str) for value in values.values())
    again = import_string(path)(**values)
    assert again.serialize() == trigger.serialize()


def _trigger(config: Path, policy: str) -> NotificationTrigger:
    [asset] = parse_dags(config)[f"{policy}.incremental"].schedule.asset_condition.objects
    [watcher] = asset.watchers
    trigger: NotificationTrigger = watcher.trigger
    return trigger
