"""Whatever goes wrong in the poll that sensors share, none of them is left waiting for ever."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from twinhive.core.model.errors import Refused, Unexplained, Unreachable
from twinhive.core.model.objects import Database
from twinhive.surfaces.airflow.triggers import replica_watch
from twinhive.surfaces.airflow.triggers.replica_watch import looks


class Metastore:
    """Fail at some calls, each time with something else."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.opened = 0

    def open(self) -> "Metastore":
        self.opened += 1
        return self

    def current_event_id(self) -> int:
        if self.failures:
            raise self.failures.pop()
        return 5

    def database(self, name: str) -> Database | None:
        if name == "secret":
            raise Refused("reading database secret: permission denied")
        if name == "away":
            raise KeyError("x")
        return Database(name, None, None, {"name": name}, "{}")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_watch, "POLL_SECONDS", 0.001)


async def first(metastore: Metastore, question: str | None) -> Any:
    return await first_of(metastore.open, question)


async def first_of(open_metastore: Callable[[], Metastore], question: str | None) -> Any:
    async for answer in looks("m", open_metastore, question):
        return answer


@pytest.mark.parametrize(
    "failure",
    [PermissionError("401"), RuntimeError("no API server"), KeyError("x"), Unreachable("away"), Unexplained("odd")],
    ids=lambda error: type(error).__name__,
)
def test_one_failure_of_whatever_kind_is_waited_out(failure: Exception) -> None:
    metastore = Metastore(failure)

    async def main() -> None:
        both = asyncio.gather(first(metastore, None), first(metastore, "sales"))
        assert await asyncio.wait_for(both, 20) == [5, {"name": "sales"}]
        assert replica_watch._watches == {}

    asyncio.run(main())
    assert metastore.opened >= 2


def test_a_metastore_that_cannot_even_be_opened_is_tried_again() -> None:
    tries = [PermissionError("no connection"), ValueError("no connection")]

    def unwilling() -> Metastore:
        if tries:
            raise tries.pop()
        return Metastore()

    async def main() -> None:
        async for answer in looks("m", unwilling, None):
            assert answer == 5
            return

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_question_that_is_refused_keeps_no_other_waiting() -> None:
    async def main() -> None:
        metastore = Metastore()
        refused = asyncio.ensure_future(first(metastore, "secret"))
        await asyncio.sleep(0)
        assert await asyncio.wait_for(first(metastore, "sales"), 20) == {"name": "sales"}
        assert isinstance((await asyncio.wait_for(refused, 20)).error, Refused)

    asyncio.run(main())


def test_who_comes_after_a_poll_that_ended_gets_another_one() -> None:
    async def main() -> None:
        metastore = Metastore()
        left = asyncio.ensure_future(first(metastore, "away"))
        await asyncio.sleep(0.01)
        [watch] = replica_watch._watches.values()
        watch.polling.cancel()
        await asyncio.gather(watch.polling, return_exceptions=True)
        assert await asyncio.wait_for(first(metastore, None), 20) == 5
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        assert replica_watch._watches == {}

    asyncio.run(main())


def test_a_metastore_that_cannot_be_opened_without_a_person_is_told_to_all() -> None:
    def refused() -> Metastore:
        raise Refused("no keytab")

    async def main() -> None:
        answers = await asyncio.wait_for(asyncio.gather(*(first_of(refused, one) for one in (None, "sales"))), 20)
        assert [str(answer.error) for answer in answers] == ["no keytab"] * 2

    asyncio.run(main())
