"""Look at a metastore from inside an event loop: one poll for all of a process that wait for something of it."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

from twinhive.core.model.errors import ActNow, Missing, TryAgain, may_pass
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.ports import MetastoreReader
from twinhive.publishing.sets.done_sets import SetAnswer, WantedSet, set_answers
from twinhive.surfaces.airflow.triggers.broker_subscriptions import Hearing, Hearings
from twinhive.surfaces.airflow.triggers.missing_tables import gone_meanwhile, is_replica
from twinhive.surfaces.airflow.triggers.one_thread import OneThread
from twinhive.surfaces.airflow.triggers.unexplained_errors import OddTime

POLL_SECONDS = 3.0
TOLD_SECONDS = 60.0
"""So often it is asked all the same where a broker tells: the publisher may be down."""
_TOGETHER_SECONDS = 0.1
_MOST_SECONDS = 30.0


@dataclass(frozen=True)
class SetQuestion:
    """Whether a set is done; `keep` is how long marks count where the table does not say it."""

    wanted: WantedSet
    keep: str


AwaitedState = str | SetQuestion | None
"""A database, whose parameters are wanted (None: there is no such database); a set, whose mark is (None: it is not
done); None: the newest event's id is."""


@dataclass(frozen=True)
class Unanswerable:
    """The answer to a question that is refused, or has been answered for too long in a way that nobody knows."""

    error: ActNow


_log = logging.getLogger(__name__)


class Watched(Protocol):
    """What is asked of a metastore."""

    def current_event_id(self) -> int:
        """Return the id of the newest event."""
        ...

    def database(self, name: str) -> Database | None:
        """Return a database, or None."""
        ...


_watches: dict[tuple[int, Hashable], "_Watch"] = {}


async def looks(
    key: Hashable, open_metastore: Callable[[], Watched], question: AwaitedState, hearing: Hearing | None = None
) -> AsyncGenerator[Any]:
    """Yield the answer to a question now and after every poll, for ever; all questions of a key share one poll.

    Where a broker tells each who asks (`hearing`), it is asked when that says something, and once a minute.

    What may pass by itself is not yielded: the failure is logged once, and the poll goes on after growing pauses. What
    a person must mend is: `Unanswerable`.
    """
    identity = (id(asyncio.get_running_loop()), key)
    watch = _watches.get(identity)
    if watch is None or watch.polling.done():
        watch = _watches[identity] = _Watch(open_metastore)
    watch.questions[question] += 1
    watch.hearings.come(hearing)
    watch.wake.set()
    seen = watch.rounds
    try:
        while True:
            async with watch.news:
                await watch.news.wait_for(partial(watch.has_answered, question, seen))
                seen, answer = watch.rounds, watch.answers[question]
            yield answer
    finally:
        watch.questions[question] -= 1
        watch.hearings.go(hearing)
        if not +watch.questions:
            watch.polling.cancel()
            _watches.pop(identity, None)


class _Watch:
    """The poll of one metastore."""

    def __init__(self, open_metastore: Callable[[], Watched]) -> None:
        self.questions: Counter[AwaitedState] = Counter()
        self.answers: dict[AwaitedState, Any] = {}
        self.rounds = 0
        self.news = asyncio.Condition()
        self.wake = asyncio.Event()
        self.hearings = Hearings(self.wake.set)
        self.polling = asyncio.ensure_future(self._poll())
        self._open = open_metastore
        self._metastore: Watched | None = None
        self._failures = 0
        self._odd: OddTime[AwaitedState] = OddTime()

    def has_answered(self, question: AwaitedState, after: int) -> bool:
        """True when a poll later than round `after` has an answer to the question."""
        return self.rounds > after and question in self.answers

    async def _poll(self) -> None:
        # One thread, because a client keeps a connection for each thread that uses it.
        thread = OneThread("replica-watch")
        try:
            while True:
                self.wake.clear()
                found = await thread.call(partial(self._look, list(+self.questions)))
                async with self.news:
                    self.answers, self.rounds = found, self.rounds + 1
                    self.news.notify_all()
                try:
                    # Who comes later does not wait for the next poll.
                    await asyncio.wait_for(self.wake.wait(), self._pause())
                    # Messages come in crowds, and one look is for all of them.
                    await asyncio.sleep(_TOGETHER_SECONDS)
                except TimeoutError:
                    continue
        finally:
            thread.leave()

    def _pause(self) -> float:
        if not self._failures and self.hearings.all_are_told:
            return TOLD_SECONDS
        return float(min(_MOST_SECONDS, POLL_SECONDS * 2 ** min(self._failures, 16)))

    def _look(self, questions: list[AwaitedState]) -> dict[AwaitedState, Any]:
        """Return the answers that there are. Raises nothing: a failure is counted, and nothing may end the watch."""
        found: dict[AwaitedState, Any] = {}
        failure: Exception | None = None
        self._odd.look(questions)
        for some in _asked_together(questions):
            try:
                self._metastore = self._metastore or self._open()
                found |= self._taken_in(_answers(self._metastore, some))
            except ActNow as error:
                # Its address may be another by now. What is wrong with one question alone keeps no other waiting.
                failure, self._metastore = error, None
                lasting = self._odd.met(some) if may_pass(error) else some
                found |= dict.fromkeys(lasting, Unanswerable(error))
            except Exception as error:
                failure, self._metastore = error, None
                break
        self._note(failure)
        return found

    def _taken_in(self, answers: dict[AwaitedState, Any]) -> dict[AwaitedState, Any]:
        """Return what is to be told: not, until it has lasted, that a table is gone for whose sets somebody waits."""
        odd = [one for one, answer in answers.items() if isinstance(answer, Unanswerable) and may_pass(answer.error)]
        self._odd.over([one for one in answers if one not in odd])
        untold = set(odd) - set(self._odd.met(odd))
        return {one: answer for one, answer in answers.items() if one not in untold}

    def _note(self, failure: Exception | None) -> None:
        if failure is not None:
            self._failures += 1
            if self._failures == 1:
                _log.warning("a metastore cannot be looked at, it is tried again: %s", failure)
        elif self._failures:
            self._failures = 0
            _log.info("the metastore can be looked at again")


def _asked_together(questions: list[AwaitedState]) -> list[list[AwaitedState]]:
    """Put the questions for sets of one database together: any number of them are as quick as one."""
    groups: dict[Hashable, list[AwaitedState]] = defaultdict(list)
    for question in questions:
        if isinstance(question, SetQuestion):
            groups[question.wanted.table.database, question.keep].append(question)
        else:
            groups[question].append(question)
    return list(groups.values())


def _answers(metastore: Watched, some: list[AwaitedState]) -> dict[AwaitedState, Any]:
    if isinstance(some[0], SetQuestion):
        return _answers_of_sets(cast(MetastoreReader, metastore), cast(list[SetQuestion], some))
    return {question: _answer(metastore, cast(str | None, question)) for question in some}


def _answers_of_sets(metastore: MetastoreReader, some: list[SetQuestion]) -> dict[AwaitedState, Any]:
    found = set_answers(metastore, [one.wanted for one in some], some[0].keep)
    is_gone = any(isinstance(answer, Missing) for answer in found.values())
    on_replica = is_gone and is_replica(metastore, some[0].wanted.table.database)
    return {one: _told(found[one.wanted], one.wanted.table, on_replica=on_replica) for one in some}


def _told(answer: SetAnswer, table: TableName, *, on_replica: bool) -> Any:
    """Return an answer as it is told: whoever waits in a triggerer has seen his table."""
    error = gone_meanwhile(table, on_replica=on_replica) if isinstance(answer, Missing) else answer
    if isinstance(error, TryAgain):
        return None
    return Unanswerable(error) if isinstance(error, ActNow) else error


def _answer(metastore: Watched, question: str | None) -> Any:
    if question is None:
        return metastore.current_event_id()
    database = metastore.database(question)
    return None if database is None else dict(database.parameters)
