"""A catalog is reached like a metastore: by streams, in threads that are bounded."""

import asyncio
import threading

import pytest

from tests.support.memory_catalog import MemoryConnector, sales_catalog
from twinhive.connectors.answering import AnsweringConnector
from twinhive.connectors.blocking import BlockingCalls
from twinhive.model.errors import Unreachable
from twinhive.wire.message import STOP, call, text_field
from twinhive.wire.reader import MessageReader

TABLES = call("get_all_tables", 5, text_field(1, "sales") + STOP)


def test_calls_are_answered_one_after_the_other() -> None:
    async def ask():
        connector = AnsweringConnector(MemoryConnector(sales_catalog()))
        reader, writer = await connector.open({})
        messages = MessageReader(reader)
        answers = []
        for _ in range(3):
            writer.write(TABLES.raw)
            answers.append(await messages.read())
        writer.close()
        await connector.close()
        return answers

    assert [b"orders" in answer.body for answer in asyncio.run(ask())] == [True] * 3


def test_a_catalog_that_cannot_be_asked_breaks_the_connection_with_the_reason() -> None:
    async def ask():
        catalog = sales_catalog()
        connector = AnsweringConnector(MemoryConnector(catalog))
        reader, writer = await connector.open({})
        catalog.failure = Unreachable("glue is not there")
        writer.write(TABLES.raw)
        with pytest.raises(ConnectionError, match="glue is not there"):
            await MessageReader(reader).read()
        writer.close()
        await connector.close()

    asyncio.run(ask())


def test_garbage_ends_a_connection() -> None:
    async def ask():
        connector = AnsweringConnector(MemoryConnector(sales_catalog()))
        reader, writer = await connector.open({})
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(ConnectionError, match="HTTP"):
            await MessageReader(reader).read()
        writer.close()
        await connector.close()

    asyncio.run(ask())


def test_a_silent_catalog_holds_a_bounded_number_of_threads() -> None:
    async def ask():
        catalog = sales_catalog()
        catalog.gate = threading.Event()
        connector = AnsweringConnector(MemoryConnector(catalog))
        before = threading.active_count()
        for _ in range(30):
            reader, writer = await connector.open({})
            writer.write(TABLES.raw)
            await asyncio.sleep(0.01)
            writer.close()
        await asyncio.sleep(0.1)
        assert threading.active_count() - before <= 8
        reader, writer = await connector.open({})
        writer.write(TABLES.raw)
        with pytest.raises(ConnectionError, match="no answer yet"):
            await MessageReader(reader).read()
        writer.close()
        catalog.gate.set()
        await asyncio.sleep(0.1)
        reader, writer = await connector.open({})
        writer.write(TABLES.raw)
        assert b"orders" in (await MessageReader(reader).read()).body
        writer.close()
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
