"""Find out what the lag of replicas does not tell: frozen tables, data that waits, room that is left.

Whatever goes wrong here leaves something unknown, and makes no policy unreachable: that is for its lag to say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import parent
from twinhive.core.model.marks import PHASE, Phase
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.core.ports import EventLog, FileReader, ReadPorts
from twinhive.core.threads.server_queries import Answers, Question
from twinhive.hive.events.reader import position_at
from twinhive.operations.monitoring.measured_progress import read_progress
from twinhive.operations.monitoring.monitored_policy import Follower, file_system_name, metastore_name
from twinhive.replication.dump.passes.external_passes import last_complete_pass
from twinhive.replication.replica.held_sets import HeldNote, held_notes
from twinhive.replication.replica.pending_files import TablesWaiting, what_waits


@dataclass(frozen=True)
class WatchedPolicy:
    """What was found; None: there is nothing of the kind, or no answer came.

    quarantined   the frozen tables, with the reasons
    pending       how many external tables have something that waits for its data
    pending_age   since how many seconds the oldest of them waits
    external_age  how many seconds ago the last complete pass over external data began
    free_bytes    what may still be written below the staging directory
    progress      how far the copy is of a replica that is being loaded, or is to be
    held          the sets that are done at the source and held on the replica, by table and set
    unknown       the kinds of alerts of which nobody knows now whether they still stand: no answer came
    """

    quarantined: Mapping[str, str] = field(default_factory=dict)
    pending: int | None = None
    pending_age: float | None = None
    external_age: float | None = None
    free_bytes: int | None = None
    progress: LoadProgress | None = None
    held: Mapping[str, HeldNote] | None = None
    unknown: frozenset[AlertKind] = frozenset()

    def held_age(self, at: float) -> float | None:
        """Return since how many seconds the oldest of them is held, 0 for none; None where that is not known."""
        return None if self.held is None else max((max(0.0, at - one.since) for one in self.held.values()), default=0.0)


def first_questions(followers: Sequence[Follower]) -> Iterator[Question]:
    """Ask each file system for its room, and for what waits on it."""
    places = {parent(one.policy.staging): one.ports.replica_files for one in followers}
    for place, files in places.items():
        yield Question(_beside(files), ("room", place), partial(_room, files, place))
    roots = {one.ports.replica_files.root: one.ports.replica_files for one in followers}
    for root, files in roots.items():
        mine = [one.policy for one in followers if one.ports.replica_files.root == root and _copies(one.policy)]
        yield Question(_beside(files), ("waiting", root), partial(what_waits, files, mine))
    for one in followers:
        held = partial(held_notes, one.ports.replica_files, one.policy)
        yield Question(_beside(one.ports.replica_files), ("held", one.policy.name), held)


def second_questions(followers: Sequence[Follower], answers: Answers, at: float) -> Iterator[Question]:
    """Ask logs how old the events are whose data is waited for, and dumps how old the last passes are.

    Of replicas that do not follow, dumps are asked how far their copies are.
    """
    for one in followers:
        name, source = one.policy.name, one.ports.source
        if _may_be_loading(answers.get(("replica", name))):
            asked = partial(read_progress, one.ports, one.policy, at)
            yield Question(_beside(one.ports.dump_files), ("progress", name), asked)
        if not _copies(one.policy):
            continue
        waiting = _waiting(one, answers)
        if waiting is not None:
            wanted = partial(_time_of, source, waiting.since)
            yield Question(f"{metastore_name(source)} (its events)", ("since", name), wanted)
        yield Question(_beside(one.ports.dump_files), ("passes", name), partial(_last_pass, one.ports, one.policy))


def watched(one: Follower, at: float, answers: Answers) -> WatchedPolicy:
    """Put together what is known of one replica."""
    name = one.policy.name
    database = answers.get(("replica", name))
    waiting = _waiting(one, answers)
    return WatchedPolicy(
        quarantined=frozen_tables(database.parameters) if isinstance(database, Database) else {},
        pending=None if _unanswered(one, answers) else waiting.tables if waiting else 0,
        pending_age=_age(answers.get(("since", name)), at),
        external_age=_age(answers.get(("passes", name)), at),
        progress=_known(answers.get(("progress", name))),
        free_bytes=_known(answers.get(("room", parent(one.policy.staging)))),
        held=_known(answers.get(("held", name))),
        unknown=frozenset(kind for kind, asked in _asked(one).items() if any(map(_failed, map(answers.get, asked)))),
    )


def _asked(one: Follower) -> Mapping[AlertKind, Sequence[tuple[str, str]]]:
    """Return the questions whose answers say whether an alert of a kind stands."""
    name, files = one.policy.name, one.ports.replica_files
    return {
        AlertKind.SPACE: [("room", parent(one.policy.staging))],
        AlertKind.HELD: [("held", name)],
        AlertKind.EXTERNAL: [("waiting", files.root), ("since", name), ("passes", name)],
    }


def _failed(answer: Any) -> bool:
    return isinstance(answer, TwinhiveError)


def _may_be_loading(database: Any) -> bool:
    """Tell whether a first copy may be under way: before the load there is no database."""
    if isinstance(database, TwinhiveError):
        return False
    return database is None or database.parameters.get(PHASE) == Phase.LOADING.value


def _copies(policy: Policy) -> bool:
    return policy.external.brings_data


def _unanswered(one: Follower, answers: Answers) -> bool:
    return not _copies(one.policy) or not isinstance(answers.get(("waiting", one.ports.replica_files.root)), dict)


def _waiting(one: Follower, answers: Answers) -> TablesWaiting | None:
    return None if _unanswered(one, answers) else answers["waiting", one.ports.replica_files.root].get(one.policy.name)


def _known(answer: Any) -> Any:
    return None if _failed(answer) else answer


def _age(since: Any, at: float) -> float | None:
    """Return how long ago a time was, None for none; an event that its log does not hold any more has the time 0."""
    return None if since is None or _failed(since) else max(0.0, at - since)


def _time_of(log: EventLog, event_id: int) -> float:
    return float(position_at(log, event_id).time)


def _last_pass(ports: ReadPorts, policy: Policy) -> float | None:
    return last_complete_pass(ports.dump_files, ports.replica_files, policy)


def _room(files: FileReader, place: str) -> int:
    space = files.space(place, place)
    left = space.quota_bytes_left
    return space.free_bytes if left is None else min(left, space.free_bytes)


def _beside(files: FileReader) -> str:
    # A thread of its own: what is slow here holds back no lag.
    return f"{file_system_name(files)} (what is watched)"
