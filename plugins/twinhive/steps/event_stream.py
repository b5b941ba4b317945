"""Read the source's events from a position on: those drained into the dump first, then the log itself.

While a replica is being loaded, the incremental DAG copies events in scope from the log into the
dump's directory, so that a long bootstrap does not depend on the log's retention. Each drained file
covers the events after its begin, up to and with its end; together they make a chain.
"""

import re
from collections.abc import Collection, Iterator

from twinhive.domain.events import EventRow, Position
from twinhive.domain.files import base_name, join
from twinhive.domain.policy import Policy
from twinhive.dump.layout import drained_directory
from twinhive.dump.stretch import Stretch
from twinhive.events.reader import bounded, read_events
from twinhive.events.scope import in_scope
from twinhive.ports import FileReader, FileWriter, MetastoreReader, SourcePorts

_NAME = re.compile(r"(\d+)-(\d+)\.jsonl\.gz")


def window_after(ports: SourcePorts, policy: Policy, begin: Position, skipped: Collection[int]) -> Stretch:
    """Read what is in scope after a position, at most about one window of it, without `skipped` events.

    What was drained while the replica was loaded comes first: the log may not hold it any more.
    """
    most = policy.options.window_events
    for stretch in drained_after(ports.dump_files, policy, begin):
        later = [row for row in stretch.rows if row.event_id > begin.event_id]
        # It was drained when a window may have held more.
        end = stretch.end if len(later) <= most else later[most - 1].position
        return Stretch(begin, end, tuple(row for row in later[:most] if row.event_id not in skipped))
    return stretch_after(ports.source, policy, begin, skipped)


def stretch_after(source: MetastoreReader, policy: Policy, begin: Position, skipped: Collection[int] = ()) -> Stretch:
    """Read from the log what is in scope after a position, at most one window of it, without `skipped` events.

    Those may be unreadable: nobody opens their messages.
    """
    options = policy.options
    rows: list[EventRow] = []
    end = begin
    length = 0
    for row in read_events(source, begin):
        if len(rows) >= options.window_events or length >= options.window_bytes:
            break
        end = row.position
        if row.event_id not in skipped and in_scope(row, policy):
            rows.append(row)
            length += len(row.message)
    return Stretch(begin, end, tuple(rows))


def all_after(ports: SourcePorts, policy: Policy, begin: Position) -> Stretch:
    """Read all that is in scope after a position: drained stretches that follow it, then the log."""
    rows: list[EventRow] = []
    end = begin
    for stretch in drained_after(ports.dump_files, policy, begin):
        rows += [row for row in stretch.rows if row.event_id > end.event_id]
        end = stretch.end
    for batch in bounded(read_events(ports.source, end), policy.options.window_events, policy.options.window_bytes):
        rows += [row for row in batch if in_scope(row, policy)]
        end = batch[-1].position
    return Stretch(begin, end, tuple(rows))


def drained_after(files: FileReader, policy: Policy, begin: Position) -> Iterator[Stretch]:
    """Yield the drained stretches that continue a position without a gap."""
    reached = begin.event_id
    for first, last, path in _drained(files, policy):
        if first <= reached < last:
            yield Stretch.unpack(files.read(path))
            reached = last


def drained_end(files: FileReader, policy: Policy, begin: Position) -> Position:
    """Return up to which event the chain of drained stretches reaches from a position on."""
    reached, newest = begin.event_id, None
    for first, last, path in _drained(files, policy):
        if first <= reached < last:
            reached, newest = last, path
    return begin if newest is None else Stretch.unpack(files.read(newest)).end


def drained_path(policy: Policy, stretch: Stretch) -> str:
    """Return where a stretch is drained to."""
    name = f"{stretch.begin.event_id:012d}-{stretch.end.event_id:012d}.jsonl.gz"
    return join(drained_directory(policy.dumps), name)


def drop_drained(files: FileWriter, policy: Policy, event_id: int) -> None:
    """Remove the drained stretches that end at or before an event."""
    for _, last, path in _drained(files, policy):
        if last <= event_id:
            files.delete(path)


def _drained(files: FileReader, policy: Policy) -> list[tuple[int, int, str]]:
    ((_, children),) = files.list_directories([drained_directory(policy.dumps)])
    matches = ((_NAME.fullmatch(base_name(child.path)), child.path) for child in children or ())
    return sorted((int(match[1]), int(match[2]), path) for match, path in matches if match)
