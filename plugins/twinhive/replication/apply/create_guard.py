"""Create what was not there when it was looked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from twinhive.core.model.errors import AlreadyThere, ChangedMeanwhile
from twinhive.core.model.next_steps import RETRIES


@contextmanager
def absent_before() -> Iterator[None]:
    """Create inside what is absent. Raises ChangedMeanwhile when it has come since.

    A call that an earlier try sent may be carried out late by a slow metastore. The next try looks first: it goes on
    with what is ours, and names what is not.
    """
    try:
        yield
    except AlreadyThere as error:
        raise ChangedMeanwhile(
            error.what + "; it was not there just before",
            found=error.found,
            expected="nothing of that name, as a look before the call has found",
            next_step=RETRIES,
        ) from error
