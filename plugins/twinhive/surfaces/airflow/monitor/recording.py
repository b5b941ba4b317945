"""Write down for people what becomes of a task: in the journal, and as metrics. Neither ever fails it."""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from airflow.sdk.exceptions import (
    AirflowRescheduleException,
    AirflowSkipException,
    AirflowTaskTerminated,
    AirflowTaskTimeout,
    DownstreamTasksSkipped,
)

from twinhive.core.model.errors import TwinhiveError, about, may_pass
from twinhive.core.model.files import Usage
from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.core.ports import WritePorts
from twinhive.operations.journal.records import Failure, Outcome
from twinhive.operations.journal.writing import Journal, open_journal
from twinhive.replication.scan.scan import Scan
from twinhive.replication.verify.recheck import LookAgain
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.pipeline.phases import Effect, Step
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.monitor import metrics
from twinhive.surfaces.airflow.monitor.recorded_proofs import proof_of
from twinhive.surfaces.airflow.monitor.recorded_results import Recorder, TaskPlace, copied_batch
from twinhive.surfaces.airflow.tasks.copy_heartbeat import CopyNotes
from twinhive.surfaces.airflow.tasks.stage_task import StageOf, is_last_try

_LOG = logging.getLogger(__name__)
_MOST_COMMANDS = 5
_NO_FAILURES = (AirflowSkipException, DownstreamTasksSkipped, AirflowRescheduleException)


@dataclass
class Recording:
    """What is being noted of one task."""

    place: TaskPlace
    journal: Journal
    copy: CopyNotes | None = None
    _sizes: dict[str, Usage] = field(default_factory=dict)

    def watching(self, step: Step) -> Step:
        """Return the step, made to tell what is worth a note and no part of its result."""
        if isinstance(step, Verify | LookAgain):
            return replace(step, tell=self._verified)
        return replace(step, tell_sizes=self._sizes.update) if isinstance(step, Scan) else step

    def _verified(self, found: Verified) -> None:
        with _never_failing():
            self.journal.replica_verified(proof_of(self.place.policy, found))
            metrics.verified(self.place.policy, found)

    def moves(self) -> None:
        """Note that a task that copies goes on; of other tasks nothing is noted."""
        if self.copy is not None:
            with _never_failing():
                self.copy.moves()

    def succeeded(self, result: Any, wiring: Wiring, ports: WritePorts) -> None:
        """Note what the task's step has returned; of a task that tells nothing, nothing is noted."""
        with _never_failing():
            self.journal.resolve_failure(self.place.dag_id, self.place.task_id, self.place.map_index)
        with _never_failing():
            Recorder(self.place, self.journal, wiring, ports, self._sizes).note(result)

    def failed(self, error: BaseException) -> None:
        """Note what the task fails with."""
        with _never_failing():
            failure = failure_of(error, self.place)
            self.journal.record_failure(failure)
            if self.place.copies and self.place.batch:
                self.journal.record_batch(copied_batch(self.place, self.place.batch, Outcome.FAILED))
            metrics.failed(self.place.policy, self.place.phase, failure.kind, act_now=failure.act_now)


@contextmanager
def recorded(stage: StageOf, context: Any, batch: Mapping[str, str] | None = None) -> Iterator[Recording]:
    """Note the failure of what happens inside; its success is told by `Recording.succeeded`."""
    place = _place(stage, context, batch or {})
    copy = CopyNotes(_at_work(place)) if place.copies else None
    recording = Recording(place, open_journal(), copy)
    try:
        with about(place.policy), copy.kept() if copy else nullcontext():
            yield recording
    except _NO_FAILURES:
        raise
    except (Exception, AirflowTaskTerminated, AirflowTaskTimeout) as error:
        recording.failed(error)
        raise
    finally:
        metrics.flush()


@contextmanager
def recorded_task(stage: StageOf, context: Any) -> Iterator[None]:
    """Note what becomes of a task that runs no step: that it failed, or that it makes up for that now."""
    with recorded(stage, context) as recording:
        yield
    place = recording.place
    recording.journal.resolve_failure(place.dag_id, place.task_id, place.map_index)


def failure_of(error: BaseException, place: TaskPlace) -> Failure:
    """Return what an error says, with where it was met."""
    known = error if isinstance(error, TwinhiveError) else None
    words = known and known.words
    return Failure(
        policy=place.policy,
        at=time.time(),
        dag_id=place.dag_id,
        run_id=place.run_id,
        task_id=place.task_id,
        map_index=place.map_index,
        try_number=place.try_number,
        kind=type(error).__name__,
        act_now=known is not None and not may_pass(known, is_last_try=place.is_last_try),
        what=words.what if words else str(error) or type(error).__name__,
        found=_text(words and words.found),
        expected=_text(words and words.expected),
        next_step=_text(words.next_step) if words else "read the log of the task",
        commands="\n".join(words.commands[:_MOST_COMMANDS]) or None if words else None,
    )


def _place(stage: StageOf, context: Any, batch: Mapping[str, str]) -> TaskPlace:
    instance = context["ti"]
    map_index = getattr(instance, "map_index", None)
    return TaskPlace(
        policy=stage.policy,
        phase=stage.phase,
        stage=stage.stage,
        copies=Effect.COPIES in stage.effects,
        dag_id=str(context["dag"].dag_id),
        run_id=str(context["run_id"]),
        task_id=str(instance.task_id),
        map_index=-1 if map_index is None else int(map_index),
        try_number=int(instance.try_number),
        # What was never rendered, because the policy cannot be used, says nothing.
        batch=dict(batch) if isinstance(batch, Mapping) else {},
        began=time.time(),
        is_last_try=is_last_try(instance),
    )


def _at_work(place: TaskPlace) -> CopyAtWork:
    same = {name: getattr(place, name) for name in ("policy", "dag_id", "run_id", "task_id", "map_index", "try_number")}
    return CopyAtWork(**same, label=place.batch.get("label", ""), began=place.began, moved=place.began)


def _text(said: object) -> str | None:
    return None if said is None else str(said)


@contextmanager
def _never_failing() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        with suppress(Exception):
            _LOG.warning("something was not recorded (nothing but history is lost): %s", error)
