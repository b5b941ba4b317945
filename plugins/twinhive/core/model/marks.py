"""Name the parameters by which the replica says what it is, and strip those of the source.

The truth about a replica lives on the replica: who made it, from which log, up to which event.
Hive's own keys are written for Hive's sake (its background services leave a replica alone, and
REPL STATUS reads `repl.last.id`); of them only `repl.last.id` on the database is read back.
"""

from dataclasses import dataclass
from enum import Enum

from twinhive.core.model.changes.events import NOWHERE, Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.objects import Parameters
from twinhive.core.model.text import Clear

POLICY = "twinhive.policy"
SOURCE_LOG = "twinhive.source.log"
PHASE = "twinhive.phase"
FORMAT = "twinhive.format"
"""The form in which all of a replica is kept, its marks, dumps and staging. One of another form is built again."""
FORMAT_NOW = "1"
DUMP = "twinhive.dump"
STAMP = "twinhive.stamp"
EXTERNAL_BASE = "twinhive.external.base"
"""With which base directory the external tables were brought over; not set: they were left out so far."""
EXTERNAL_RULES = "twinhive.external.rules"
"""By which `data` and `stay` of the policy they were."""
POSITION = "twinhive.position"
SCOPE = "twinhive.scope"
"""The policy of the statement that the replica was last loaded by, as REPL DUMP says it."""
FILE_SCOPE = "twinhive.scope.file"
"""What the policy's file selected when its DAGs last brought the replica further; of one without `SCOPE` alone."""
SCOPE_BEFORE = "twinhive.scope.before"
"""What a load leads away from, until all of it is there: what is in one of both scopes alone may be missing.

Where tables come whole the new scope without these, which is there for certain; else what REPLACE says.
"""
LOAD_DATABASE = "twinhive.load.database"
"""Says `made` on a database that a load has made, until it is published: nobody else has put anything there."""
QUARANTINE = "twinhive.quarantine."
"""Prefix of a parameter for each table that is frozen after an error: `<event id> <reason>`."""
QUARANTINE_LONG = "twinhive.quarantined."
"""The same where the table's name has no room in the key, which ends in its hash: `["<table>", "<reason>"]`."""
SKIPPED = "twinhive.skipped."
"""Prefix of a parameter for each event that a person has skipped, with the reason."""
SOURCE_PLACE = "twinhive.source.place"
"""On a partition: where the source's lies, unless that is its default place."""
COMING_AT = "twinhive.coming-at"
"""On a table that is resynced, until all of it is there: the event as of which it comes."""
LAST_ID = "repl.last.id"
TARGET_FOR = "repl.target.for"
SOURCE_FOR = "repl.source.for"

# Directory mark (an extended attribute on HDFS): which policy's load built this directory.
DIRECTORY_MARK = "user.twinhive.built-by"

_STRIPPED = ("repl.", "hive.repl.", "twinhive.", "bootstrap.dump.state.")


class Phase(Enum):
    """How far a policy's replica is (kept in the replica database's parameters)."""

    ABSENT = "absent"
    """There is no replica database."""
    LOADING = "loading"
    """A load is under way, or was cut off: what is there is incomplete."""
    FOLLOWING = "following"
    """The replica equals the source at `repl.last.id`."""
    PROMOTED = "promoted"
    """It has taken over from its source: users write it, and nothing is brought into it any more."""


UNUSABLE, UNREACHABLE = "unusable", "unreachable"
"""What is said in the place of a phase: the policy file cannot be used, or a server of the policy did not answer."""


@dataclass(frozen=True, order=True)
class Stamp:
    """The event of a source log that last shaped an object: `<source log id>:<event id>`."""

    log_id: str
    event_id: int

    def __str__(self) -> str:
        return f"{self.log_id}:{self.event_id}"

    @classmethod
    def parse(cls, text: str | None) -> "Stamp | None":
        """Read a stamp; None for an absent or a foreign text."""
        log_id, colon, event_id = (text or "").rpartition(":")
        if not (log_id and colon and event_id.isdigit()):
            return None
        return cls(log_id, int(event_id))

    @classmethod
    def log_of(cls, text: str | None) -> str | None:
        """Return the source log of a stamp's text; None for an absent or a foreign text."""
        stamp = cls.parse(text)
        return stamp.log_id if stamp else None


@dataclass(frozen=True)
class ReplicaState:
    """What the replica database's parameters say."""

    phase: Phase
    policy: str | None = None
    log_id: str | None = None
    dump: str | None = None
    position: Position = NOWHERE
    external_base: str | None = None
    external_rules: str | None = None
    scope: str | None = None
    scope_before: str | None = None
    file_scope: str | None = None
    format: str | None = FORMAT_NOW

    @property
    def last_event_id(self) -> int | None:
        """The replicated event id, None before the first load was published."""
        return self.position.event_id if self.phase is Phase.FOLLOWING else None

    @classmethod
    def read(cls, parameters: Parameters | None) -> "ReplicaState":
        """Read the state; `None` means that the database does not exist."""
        if parameters is None:
            return cls(Phase.ABSENT)
        return cls(
            phase=_phase(parameters.get(PHASE)),
            policy=parameters.get(POLICY),
            log_id=parameters.get(SOURCE_LOG),
            dump=parameters.get(DUMP),
            position=_position(parameters),
            external_base=parameters.get(EXTERNAL_BASE),
            external_rules=parameters.get(EXTERNAL_RULES),
            scope=parameters.get(SCOPE),
            scope_before=parameters.get(SCOPE_BEFORE),
            file_scope=parameters.get(FILE_SCOPE),
            format=parameters.get(FORMAT),
        )

    def written(self) -> dict[str, str]:
        """Return the parameters that say this state."""
        pairs = {
            POLICY: self.policy,
            SOURCE_LOG: self.log_id,
            PHASE: self.phase.value,
            FORMAT: FORMAT_NOW,
            DUMP: self.dump,
            TARGET_FOR: "true",
            EXTERNAL_BASE: self.external_base,
            EXTERNAL_RULES: self.external_rules,
            SCOPE: self.scope,
            SCOPE_BEFORE: self.scope_before,
            FILE_SCOPE: self.file_scope,
        }
        said = {key: value for key, value in pairs.items() if value is not None}
        return with_position(said, self.position) if self.phase is Phase.FOLLOWING else said


def with_position(parameters: Parameters, position: Position) -> dict[str, str]:
    """Return a replica database's parameters with another position.

    `repl.last.id` is what Hive and people read; time and digest of the event stand beside it, so that
    a log that was restored from a backup is noticed.
    """
    return {
        **parameters,
        LAST_ID: str(position.event_id),
        POSITION: f"{position.event_id}:{position.time}:{position.digest}",
    }


def followed_policy(parameters: Parameters) -> str | None:
    """Return the policy whose source a database follows, or will; None for one of its own, or that has taken over."""
    policy = parameters.get(POLICY)
    return policy if policy and ReplicaState.read(parameters).phase is not Phase.PROMOTED else None


def replicated_by(parameters: Parameters) -> list[str]:
    """Return the policies, and replications of others, that a source's database is marked for (`repl.source.for`)."""
    return [policy.strip() for policy in parameters.get(SOURCE_FOR, "").split(",") if policy.strip()]


def is_of_hive(parameters: Parameters) -> bool:
    """True for a replica whose position Hive's REPL LOAD has written last: none of ours is on it, or another one."""
    last_id = parameters.get(LAST_ID, "")
    ours = parameters.get(POSITION, "").partition(":")[0]
    return last_id.isdigit() and (POLICY not in parameters or ours != last_id)


def _position(parameters: Parameters) -> Position:
    """Read the position; `repl.last.id` alone counts where the two do not agree (set by hand, or by Hive)."""
    last_id = parameters.get(LAST_ID, "")
    if not last_id.isdigit():
        return NOWHERE
    event_id, _, rest = parameters.get(POSITION, "").partition(":")
    time, _, digest = rest.partition(":")
    if event_id != last_id or not time.isdigit():
        return Position(int(last_id))
    return Position(int(last_id), int(time), digest)


def own_marks(parameters: Parameters) -> dict[str, str]:
    """Return what replication itself says in a replica database's parameters."""
    return {key: value for key, value in parameters.items() if key.startswith(_STRIPPED)}


def _phase(text: str | None) -> Phase:
    try:
        return Phase(text or Phase.LOADING.value)
    except ValueError as error:
        raise ActNow(
            f"the replica says that it is in a phase this version does not know ({PHASE})",
            found=text,
            expected=f"one of {', '.join(phase.value for phase in Phase)}",
            next_step="use the version of twinhive that wrote it, then " + Clear("the task"),
        ) from error


def without_marks(parameters: Parameters) -> dict[str, str]:
    """Drop replication marks from a source object: they speak of the source's own replication."""
    return {key: value for key, value in parameters.items() if not key.startswith(_STRIPPED)}


def stamped(parameters: Parameters, stamp: Stamp) -> dict[str, str]:
    """Return a source object's parameters as the replica's object carries them.

    `repl.last.id` on objects is written for Hive and never read back.
    """
    return {**without_marks(parameters), STAMP: str(stamp), LAST_ID: str(stamp.event_id)}
