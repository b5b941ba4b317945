"""Name the operations that a person can ask for, and build them from the fields of a form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.policy import Policy
from twinhive.operations.actions.operation import Holder, Operation
from twinhive.operations.actions.pause import Pause, Unpause
from twinhive.operations.actions.replica_status import ShowStatus
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.operations.actions.unlock import Unlock
from twinhive.operations.failover.adopt import Adopt
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.unplanned_failover import UnplannedFailover


@dataclass(frozen=True)
class OperationFields:
    """What a form says beside the operation: None or '' for what is left empty."""

    table: str | None = None
    event_id: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class OperationKind:
    """An operation's name, what it does in a few words, the fields it needs, and how it is built.

    `gives_up`: something is given up by it that no rerun brings back: an event, a replica's marks, the fence of a
    holder that may live. So it can be left to other people than what mends.
    """

    name: str
    purpose: str
    needs: tuple[str, ...]
    build: Callable[[Policy, Holder, OperationFields], Operation]
    gives_up: bool = False


_ALL = (
    OperationKind(
        "status", "say how far the replica is; changes nothing", (), lambda policy, _, __: ShowStatus(policy)
    ),
    OperationKind(
        "resync",
        "bring one table over as it is now, and release it from quarantine",
        ("table",),
        lambda policy, holder, fields: Resync(policy, fields.table or "", holder),
    ),
    OperationKind(
        "resync-all",
        "compare all tables, bring over what differs, and go on at the newest event; also after a gap in the log",
        (),
        lambda policy, holder, _: ResyncEverything(policy, holder),
    ),
    OperationKind(
        "skip-event",
        "pass one event over",
        ("event_id", "reason"),
        lambda policy, holder, fields: SkipEvent(policy, fields.event_id or 0, fields.reason or "", holder),
        gives_up=True,
    ),
    OperationKind(
        "unlock",
        "take the lease from a holder that is dead",
        (),
        lambda policy, holder, _: Unlock(policy, holder),
        gives_up=True,
    ),
    OperationKind(
        "pause",
        "begin no further window or scan",
        ("reason",),
        lambda policy, holder, fields: Pause(policy, fields.reason or "", holder),
    ),
    OperationKind(
        "failover-abort",
        "give a failover up that has not taken over yet: writers are let in again",
        (),
        lambda policy, holder, _: AbortFailover(policy, holder),
    ),
    OperationKind("unpause", "go on", (), lambda policy, _, __: Unpause(policy)),
    OperationKind(
        "failover",
        "let the replica take over from a source without writers, when it is proved equal",
        (),
        lambda policy, holder, _: Failover(policy, holder),
        gives_up=True,
    ),
    OperationKind(
        "failover-unplanned",
        "let the replica take over at the event that it has reached; what the source has after it is lost",
        ("event_id", "reason"),
        lambda policy, holder, fields: UnplannedFailover(policy, fields.event_id or 0, fields.reason or "", holder),
        gives_up=True,
    ),
    OperationKind(
        "failback",
        "of a reverse policy: make the old primary the replica of what took over from it, and look at what differs",
        (),
        lambda policy, holder, _: Failback(policy, holder),
        gives_up=True,
    ),
    OperationKind(
        "adopt",
        "make a database that people have filled the replica, and look at what differs; nothing equal is copied",
        (),
        lambda policy, holder, _: Adopt(policy, holder),
        gives_up=True,
    ),
    OperationKind(
        "forget",
        "give the replica up: marks, dumps, staged and unused files go; what tables hold stays",
        (),
        lambda policy, holder, _: Forget(policy, holder),
        gives_up=True,
    ),
)
KINDS: Mapping[str, OperationKind] = {kind.name: kind for kind in _ALL}
MENDING: Mapping[str, OperationKind] = {kind.name: kind for kind in _ALL if not kind.gives_up}
GIVING_UP: Mapping[str, OperationKind] = {kind.name: kind for kind in _ALL if kind.gives_up}


def operation_of(name: str, policy: Policy, holder: Holder, fields: OperationFields) -> Operation:
    """Build an operation. Raises InvalidSettings naming the field that is missing, or that it does not have."""
    kind = KINDS.get(name)
    if kind is None:
        raise InvalidSettings(
            "operation: unknown",
            found=name,
            expected=f"one of {', '.join(KINDS)}",
            next_step="choose one of these",
        )
    given = {field for field, value in vars(fields).items() if value not in (None, "")}
    for field in kind.needs:
        if field not in given:
            raise _wrong_field(kind, field, "nothing", "a value")
    for field in sorted(given - set(kind.needs)):
        raise _wrong_field(kind, field, vars(fields)[field], f"nothing: {name} does not have this field")
    return kind.build(policy, holder, fields)


def _wrong_field(kind: OperationKind, field: str, found: object, expected: str) -> InvalidSettings:
    return InvalidSettings(
        f"{field}: cannot be used for the operation {kind.name}",
        found=found,
        expected=expected,
        next_step=f"{kind.name} needs {', '.join(kind.needs) or 'no field'}; correct it and start again",
    )
