"""Wait until a set is done, by asking again and again."""

import time
from collections.abc import Callable

from twinhive.core.model.errors import TryAgain, TwinhiveError, may_pass
from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.model.thrift_objects import key_types
from twinhive.core.ports import MetastoreReader
from twinhive.publishing.sets.done_sets import DEFAULT_KEEP, WantedSet, sets_there
from twinhive.publishing.sets.sets_table import data_table

POLL_SECONDS = 3.0


def wanted_set(metastore: MetastoreReader, table: TableName, spec: str, since: int = 0) -> WantedSet:
    """Return what is waited for. Raises Missing for a table, InvalidSettings for a set that cannot be."""
    return WantedSet(table, SetSpec.parse(spec, key_types(data_table(metastore, table))), since)


def wait_for_set(
    metastore: MetastoreReader,
    wanted: WantedSet,
    seconds: float,
    keep: str = DEFAULT_KEEP,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> SetMark:
    """Return the mark that says it. Raises TryAgain when it is not there after so many seconds; 0: look once.

    A metastore that does not answer, or whose answer nobody knows, is waited for as well.
    """
    until = clock() + seconds
    while True:
        trouble: TwinhiveError | None = None
        try:
            if (mark := sets_there(metastore, [wanted], keep).get(wanted)) is not None:
                return mark
        except TwinhiveError as error:
            if not may_pass(error):
                raise
            trouble = error
        if clock() >= until:
            raise trouble or TryAgain(
                f"set {wanted.spec} of {wanted.table} is not done",
                found=f"no mark of it, or of a broader set, after {spoken_time(seconds)}",
                expected=f"one of {', '.join(map(str, wanted.spec.broader()))}",
                next_step="wait on; who produces the table says when it is done",
            )
        sleep(min(POLL_SECONDS, max(0.1, until - clock())))
