"""Turn our two families of errors into what Airflow understands: retry, or fail for good."""

from collections.abc import Iterator
from contextlib import contextmanager

from airflow.sdk.exceptions import AirflowException, AirflowFailException

from twinhive.domain.errors import TryAgain, TwinhiveError


@contextmanager
def as_airflow_failures() -> Iterator[None]:
    """Raise AirflowException for what may be tried again, AirflowFailException for the rest."""
    try:
        yield
    except TwinhiveError as error:
        family = AirflowException if isinstance(error, TryAgain) else AirflowFailException
        raise family(f"{type(error).__name__}: {error}") from None
