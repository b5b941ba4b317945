"""Remove dumps and staging of a policy that is given up."""

from collections.abc import Iterator

from twinhive.core.directory_marks.directories import MARKER, Owned
from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import base_name, parent
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import WritePorts, children
from twinhive.operations.failover.fence.note import note_path
from twinhive.operations.failover.unreachable_source import SILENT, Left
from twinhive.replication.dump.dump_ownership import own_dumps_of

_WHERE = "to the trash, or for good where none is kept"


def plan_own_directories(ports: WritePorts, policy: Policy) -> list[str]:
    """Say what becomes of dumps and staging."""
    lines = []
    for look in (_dumps, _staging):
        try:
            found = look(ports, policy)
        except SILENT as error:
            lines.append(f"would stay: {_without_answer(policy, error)}")
            continue
        lines += [
            f"would be removed, {_WHERE}: {directory}" if owned else f"would stay: {_unproven(directory)}"
            for directory, owned in found
        ]
    return lines


def remove_own_directories(ports: WritePorts, policy: Policy, *, keeps_note: bool = False) -> Left:
    """Take dumps away, then staging; a directory that bears no mark of the policy stays.

    `keeps_note`: of staging what is written down of a fence stays, and what proves that it is ours.
    """
    try:
        dumps = Left(tuple(_remove_dumps(ports, policy)))
    except SILENT as error:  # they lie at the source, unless the policy says otherwise
        dumps = Left((f"left in place: {_without_answer(policy, error)}",), is_all=False)
    return dumps.and_then(Left(tuple(_remove_staging(ports, policy, keeps_note=keeps_note))))


def _remove_dumps(ports: WritePorts, policy: Policy) -> Iterator[str]:
    for directory, owned in _dumps(ports, policy):
        yield f"{owned.take_away()}: {directory}" if owned else f"left in place: {_unproven(directory)}"


def _remove_staging(ports: WritePorts, policy: Policy, *, keeps_note: bool) -> Iterator[str]:
    for directory, owned in _staging(ports, policy):
        if owned is None:
            yield f"left in place: {_unproven(directory)}"
        elif not keeps_note:
            yield f"{owned.take_away()}: {directory}"
        else:
            for child in children(ports.replica_files, directory):
                if base_name(child.path) not in (base_name(parent(note_path(policy))), MARKER):
                    yield f"{owned.take_away(child.path)}: {child.path}"


def _dumps(ports: WritePorts, policy: Policy) -> list[tuple[str, Owned | None]]:
    """Return the directory of dumps, if it is there, with the proof that all that is in it is ours."""
    there = ports.dump_files.status(policy.dumps) is not None
    return [(policy.dumps, own_dumps_of(ports.dump_files, policy))] if there else []


def _staging(ports: WritePorts, policy: Policy) -> list[tuple[str, Owned | None]]:
    """Return staging, if it is there, with that proof."""
    there = ports.replica_files.status(policy.staging) is not None
    return [(policy.staging, own_staging(ports.replica_files, policy))] if there else []


def _without_answer(policy: Policy, error: TwinhiveError) -> str:
    return f"{policy.dumps}: {render(error.words.what)}; should its cluster come back: twinhive forget {policy.name}"


def _unproven(directory: str) -> str:
    return f"{directory}, because it does not bear the mark of this policy"
