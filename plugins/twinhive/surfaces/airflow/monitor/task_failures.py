"""Turn errors into what Airflow understands, and make the last lines of a failed task say what to do.

There are four endings. What may pass by itself is tried again, with growing waits. So is an answer of a server that
nobody knows, but after the last try it is a person's turn at once. Where a person must act first, there is no second
try. What nobody foresaw is tried once more: trouble of a worker passes, a mistake of ours does not.

Airflow logs a traceback after every exception but SystemExit, so that is what a task ends with; its code is the last
line of the log, and says which ending it is.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, ClassVar

from airflow.providers.standard.exceptions import HITLTimeoutError
from airflow.sdk.definitions.retry_policy import RetryAction, RetryDecision, RetryPolicy
from airflow.sdk.exceptions import AirflowException

from twinhive.core.model.errors import TryAgain, TwinhiveError, may_pass

_log = logging.getLogger(__name__)
_TRIES_AGAIN = 3


class TaskStopped(SystemExit):
    """End a task with an error whose lines are in its log already."""

    ending: ClassVar[str]

    def __init__(self, error: TwinhiveError) -> None:
        super().__init__(self.ending)
        self.error = error

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


class MayPass(TaskStopped):
    """The same work may succeed later."""

    ending = "this may pass by itself: Airflow tries again while there are tries left, then clear this task"


class PersonMustAct(TaskStopped):
    """Trying again would only waste the night."""

    ending = "no retry: a person must act first, see 'next:' above"


class MayBeRefused(TaskStopped):
    """A server gave an answer that nobody knows."""

    ending = "an answer that nobody knows: Airflow tries again while there are tries left, then a person must act"


class Unforeseen(TaskStopped):
    """An error that this program does not know."""

    ending = "an error that nobody foresaw: tried once more, then a person must look"


class RetryRules(RetryPolicy):
    """Tell Airflow which endings are tried again; how often and after which waits stands in RETRIES."""

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> RetryDecision:
        """Return what is done about one failure; errors of Airflow's own are left to it."""
        # Who did not answer in time is not asked again by itself.
        if isinstance(exception, (PersonMustAct, HITLTimeoutError)):
            return RetryDecision(action=RetryAction.FAIL)
        # A clear gives new tries: the first one has as many after it as there are retries.
        is_first = max_tries - try_number >= _TRIES_AGAIN - 1
        if isinstance(exception, Unforeseen) and not is_first:
            return RetryDecision(action=RetryAction.FAIL)
        return RetryDecision(action=RetryAction.DEFAULT)

    def serialize(self) -> dict[str, Any]:
        """Return nothing: the rules are the class."""
        return {}


RETRY_RULES = RetryRules()
RETRIES: dict[str, Any] = {
    "retries": _TRIES_AGAIN,
    "retry_delay": timedelta(seconds=15),
    "retry_exponential_backoff": 2.0,
    "max_retry_delay": timedelta(minutes=10),
    "retry_policy": RETRY_RULES,
}
"""Arguments of every task: after failures about 15, 30 and 60 seconds are waited, up to twice as long by chance."""


@contextmanager
def as_airflow_failures() -> Iterator[None]:
    """Log what a task fails with, and end it. Airflow's own exceptions pass."""
    try:
        yield
    except TwinhiveError as error:
        stopped = _stopped(error)
        _log.error("%s", stopped)
        raise stopped from None
    except AirflowException:
        raise
    except Exception as error:
        _log.info("::group::Traceback")
        _log.exception("Traceback of the error")
        _log.info("::endgroup::")
        unforeseen = Unforeseen(_mistake(error))
        _log.error("%s", unforeseen.error)
        raise unforeseen from None


def _stopped(error: TwinhiveError) -> TaskStopped:
    if isinstance(error, TryAgain):
        return MayPass(error)
    return MayBeRefused(error) if may_pass(error) else PersonMustAct(error)


def _mistake(error: Exception) -> TwinhiveError:
    return TwinhiveError(
        f"{type(error).__name__}: {error}",
        found="an error that this version does not know",
        expected="one of its own, which say what to do",
        next_step="nothing is half done. If it fails again, look whether the worker is well (memory, disk); if it is, "
        "report the folded traceback above, then clear this task",
    )
