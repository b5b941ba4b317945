"""Ask several servers at the same time, and wait for none of them longer than for the others."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.errors import ActNow, TwinhiveError, Unreachable

Answers = Mapping[Hashable, Any]
"""What `ask_all` returns."""


@dataclass(frozen=True)
class Question:
    """What one server is asked; `key` is where the answer is found."""

    server: str
    key: Hashable
    ask: Callable[[], Any]


def ask_all(questions: Iterable[Question], patience: float) -> dict[Hashable, Any]:
    """Return answers by key, or the errors that questions ended with (TwinhiveError). Raises nothing.

    Questions for one server are asked one after the other, questions for several at the same time. A server that does
    not answer is asked nothing more; one that has not answered all after `patience` seconds is left alone, as is one
    for which no thread can be started: the answers that are missing are Unreachable.
    """
    by_server: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_server[question.server].append(question)
    answers: dict[Hashable, Any] = {}
    # Daemons, because a thread that hangs must not keep the process alive.
    threads = [threading.Thread(target=_ask, args=(some, answers), daemon=True) for some in by_server.values()]
    with suppress(RuntimeError):  # of a machine, or a container, that lets no more threads be started
        for thread in threads:
            thread.start()
    until = time.monotonic() + patience
    for thread in threads:
        if thread.ident is not None:
            thread.join(max(0.0, until - time.monotonic()))
    return {
        question.key: answers.get(question.key, _late(question.server, patience))
        for some in by_server.values()
        for question in some
    }


def _ask(questions: list[Question], answers: dict[Hashable, Any]) -> None:
    silent: Unreachable | None = None
    for question in questions:
        try:
            answers[question.key] = silent or question.ask()
        except Unreachable as error:
            answers[question.key] = silent = error
        except TwinhiveError as error:
            answers[question.key] = error
        except Exception as error:  # one answer that makes no sense must not look like a server that hangs
            answers[question.key] = ActNow(
                f"what {question.server} answered cannot be used",
                found=f"{type(error).__name__}: {error}",
                expected="an answer as Hive 4 and HDFS give it",
                next_step="look into that server's log; the next measurement asks again",
            )


def _late(server: str, patience: float) -> Unreachable:
    return Unreachable(
        f"{server} did not answer in time",
        found=f"no answer within {patience:g} s",
        expected="a server that answers at once",
        next_step="see the log of that server, whether it hangs or has too much to do",
    )
