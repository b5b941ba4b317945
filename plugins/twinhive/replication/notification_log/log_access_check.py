"""Try before a run whether the notification log can be read, and say who we are to each metastore."""

from collections.abc import Iterator

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.ports import MetastoreReader
from twinhive.core.step.step_base import Report


def source_problems(source: MetastoreReader, report: Report) -> Iterator[TwinhiveError]:
    """Yield what keeps us from reading the log at each address; report who we are at the others."""
    for address in source.addresses():
        try:
            report(str(source.log_access(address)))
        except TwinhiveError as problem:
            yield problem


def report_replica(replica: MetastoreReader, report: Report) -> None:
    """Report who we are at each address; no run reads the log of a replica, so nothing is a problem."""
    for address in replica.addresses():
        try:
            report(str(replica.log_access(address)))
        except TwinhiveError as error:
            report(f"{error.words.what} (no run reads that of a replica)")
