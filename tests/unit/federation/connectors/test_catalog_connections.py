"""A catalog is reached like a metastore: by streams, in threads that are bounded."""

import asyncio
import threading

import pytest

from tests.support.memory_catalog import MemoryConnector, sales_catalog
from twinhive.core.model.errors import Unreachable
from twinhive.federation.connectors.blocking_calls import BlockingCalls
from twinhive.federation.connectors.catalog_connections import AnsweringConnector
from twinhive.hive.wire.stream_reader import MessageReader
from twinhive.hive.wire.thrift_message import STOP, call, text_field

TABLES = call("get_all_tables", 5, text_field(1, "sales") + STOP)


def test_calls_are_answered_one_after_the_other() -> None:
    async def ask():
        connector = AnsweringConnector(MemoryConnector(sales_catalog()))
        link = await connector.open({})
        messages = MessageReader(link)
        answers = []
        for _ in range(3):
            link.write(TABLES.raw)
            answers.append(await messages.read())
        link.close()
        await connector.close()
        return answers

    assert [b"orders" in answer.body for answer in asyncio.run(ask())] == [True] * 3


def test_a_catalog_that_cannot_be_asked_breaks_the_connection_with_the_reason() -> None:
    async def ask():
        catalog = sales_catalog()
        connector = AnsweringConnector(MemoryConnector(catalog))
        link = await connector.open({})
        catalog.failure = Unreachable("glue is not there")
        link.write(TABLES.raw)
        with pytest.raises(ConnectionError, match="glue is not there"):
            await MessageReader(link).read()
        link.close()
        await connector.close()

    asyncio.run(ask())


def test_a_catalog_that_takes_longer_to_be_made_than_a_caller_waits_is_made_once() -> None:
    made, is_ready = [], threading.Event()

    class Slow(MemoryConnector):
        def catalog(self, properties):
            made.append(properties)
            is_ready.wait(10)
            return super().catalog(properties)

    async def ask():
        connector = AnsweringConnector(Slow(sales_catalog()))
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connector.open({}), 0.02)
        is_ready.set()
        link = await connector.open({})
        link.write(TABLES.raw)
        assert b"orders" in (await MessageReader(link).read()).body
        link.close()
        await connector.close()

    asyncio.run(ask())
    assert len(made) == 1


def test_a_catalog_that_could_not_be_made_is_made_anew() -> None:
    failures = [OSError("no token")]

    class Failing(MemoryConnector):
        def catalog(self, properties):
            if failures:
                raise failures.pop()
            return super().catalog(properties)

    async def ask():
        connector = AnsweringConnector(Failing(sales_catalog()))
        with pytest.raises(OSError, match="no token"):
            await connector.open({})
        (await connector.open({})).close()
        await connector.close()

    asyncio.run(ask())


def test_garbage_ends_a_connection() -> None:
    async def ask():
        connector = AnsweringConnector(MemoryConnector(sales_catalog()))
        link = await connector.open({})
        link.write(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(ConnectionError, match="HTTP"):
            await MessageReader(link).read()
        link.close()
        await connector.close()

    asyncio.run(ask())


def test_a_silent_catalog_holds_a_bounded_number_of_threads() -> None:
    async def ask():
        catalog = sales_catalog()
        catalog.gate = threading.Event()
        connector = AnsweringConnector(MemoryConnector(catalog))
        before = threading.active_count()
        for _ in range(30):
            link = await connector.open({})
            link.write(TABLES.raw)
            await asyncio.sleep(0.01)
            link.close()
        await asyncio.sleep(0.1)
        assert threading.active_count() - before <= 8
        link = await connector.open({})
        link.write(TABLES.raw)
        with pytest.raises(ConnectionError, match="no answer yet"):
            await MessageReader(link).read()
        link.close()
        catalog.gate.set()
        await asyncio.sleep(0.1)
        link = await connector.open({})
        link.write(TABLES.raw)
        assert b"orders" in (await MessageReader(link).read()).body
        link.close()
        await connector.close()

    asyncio.run(ask())


def test_calls_give_what_their_function_gives() -> None:
    def fail() -> None:
        raise KeyError("odd")

    async def run():
        calls = BlockingCalls("one", most=2)
        assert await asyncio.gather(*(calls.run(lambda n=n: n) for n in range(20))) == list(range(20))
        with pytest.raises(KeyError):
            await calls.run(fail)
        assert calls.abandoned == 0

    asyncio.run(run())
