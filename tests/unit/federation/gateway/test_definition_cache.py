"""Remotes are known some seconds after they are defined, are read once for all, and outlive an outage."""

import asyncio
import threading
from random import Random

import pytest

from tests.support.seeds import seeds
from twinhive.federation.gateway.remote_definitions.definition_cache import MOST_AGE, DefinitionCache


class Source:
    """What is defined, with a count of the readings."""

    def __init__(self) -> None:
        self.value, self.readings = "first", 0
        self.broken = False
        self.gate = threading.Event()
        self.gate.set()

    def read(self) -> str:
        self.readings += 1
        value = self.value
        assert self.gate.wait(10)
        if self.broken:
            raise ConnectionError("local is away")
        return value


class World:
    """A source, a clock and the cache."""

    def __init__(self) -> None:
        self.now = 0.0
        self.source = Source()
        self.cache = DefinitionCache(self.source.read, lambda: self.now, most_age=5)


def test_it_is_read_once_for_all_who_ask_and_again_when_it_is_old() -> None:
    async def tried() -> None:
        world = World()
        assert await asyncio.gather(*(world.cache.current() for _ in range(10))) == ["first"] * 10
        assert world.source.readings == 1
        world.source.value = "second"
        world.now += 2.4
        assert await world.cache.current() == "first"
        world.now += 3
        assert await world.cache.current() == "second"

    asyncio.run(tried())


def test_before_it_is_old_it_is_read_while_the_old_is_given_out() -> None:
    async def tried() -> None:
        world = World()
        await world.cache.current()
        world.source.value = "second"
        world.now += 3
        assert await world.cache.current() == "first"
        for _ in range(100):
            await asyncio.sleep(0.01)
            if await world.cache.current() == "second":
                return
        raise AssertionError("never read again")

    asyncio.run(tried())


def test_what_was_defined_elsewhere_five_seconds_ago_is_known_to_every_gateway() -> None:
    """Each gateway has a cache and a phase of its own; what it answers by is never older than it says."""

    async def tried(random: Random) -> None:
        now, made = 0.0, [0.0]
        gateways = [DefinitionCache(lambda: len(made), lambda: now) for _ in range(3)]
        for _ in range(200):
            now += random.choice((0.01, 0.5, 1.0, 2.4, 2.6, 4.9, 5.0, 60.0))
            if random.random() < 0.4:
                made.append(now)
                if random.random() < 0.5:
                    gateways[0].forget()
                    assert await gateways[0].current() == len(made), "who was told of it knows it at once"
            for gateway in random.sample(gateways, random.randint(0, 3)):
                due = sum(one <= now - 5.0 for one in made)
                assert due <= await gateway.current() <= len(made)
            # a reading that is under way takes none of this clock's time
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    assert MOST_AGE == 5.0
    for seed in seeds(5, kind=43):
        asyncio.run(tried(Random(seed)))


def test_what_is_forgotten_is_read_anew_even_while_an_older_reading_is_under_way() -> None:
    async def tried() -> None:
        world = World()
        await world.cache.current()
        world.source.gate.clear()
        world.now += 3
        assert await world.cache.current() == "first"
        while world.source.readings < 2:
            await asyncio.sleep(0.001)
        world.source.value = "second"
        world.cache.forget()
        waiting = asyncio.create_task(world.cache.current())
        while world.source.readings < 3:
            await asyncio.sleep(0.001)
        world.source.gate.set()
        assert await waiting == "second"
        assert await world.cache.current() == "second"

    asyncio.run(tried())


def test_while_the_local_metastore_is_away_what_was_known_holds_and_nobody_waits_again() -> None:
    async def tried() -> None:
        world = World()
        world.source.broken = True
        with pytest.raises(ConnectionError):
            await world.cache.current()
        world.source.broken = False
        assert await world.cache.current() == "first"
        world.source.broken = True
        world.now += 60
        assert await world.cache.current() == "first"
        readings = world.source.readings
        assert [await world.cache.current() for _ in range(5)] == ["first"] * 5
        assert world.source.readings <= readings + 5
        world.source.broken = False
        world.source.value = "second"
        world.now += 60
        assert await world.cache.current() == "second"

    asyncio.run(tried())


def test_what_takes_long_to_read_is_read_less_often() -> None:
    async def tried() -> None:
        world = World()

        def slow() -> str:
            world.now += 5
            return world.source.read()

        world.cache = DefinitionCache(slow, lambda: world.now, most_age=5)
        await world.cache.current()
        for _ in range(6):
            world.now += 4
            await world.cache.current()
        assert world.source.readings == 1
        world.now += 100
        await world.cache.current()
        assert world.source.readings == 2

    asyncio.run(tried())
