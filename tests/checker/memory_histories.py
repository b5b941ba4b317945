"""Replicate a random history in memory, with faults, and judge all that the replica shows meanwhile."""

import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Protocol
from unittest import mock

from tests.checker.faults import OF_A_PROCESS, LeaseWithTakeOver, Plan, faulty
from tests.checker.interleaving import Pausable
from tests.checker.judge import Judge, Violation
from tests.checker.random_users.writers import Crowd
from tests.checker.set_judge import leaves
from tests.checker.states import ShownSet, Viewer
from tests.checker.watch import Watched, Watcher
from tests.support.builders import a_policy
from tests.support.users.source_writer import SourceMetastore, SourceWriter
from tests.support.worlds.fake_world import Killed, World, tuned
from twinhive.core.model.errors import ActNow, TwinhiveError
from twinhive.core.model.files import base_name, join
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.policy import EVERY_EVENT, Policy
from twinhive.core.model.sets.set_mark import FOREVER
from twinhive.core.ports import FileReader, FileWriter, MetastoreReader, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.core.threads.parallel_map import Threads
from twinhive.operations.failover.forget import Forget
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import dumps_of, window_at
from twinhive.replication.incremental.window_requests import reason_to_plan_again
from twinhive.replication.operator_requests.request_files import requested_tables
from twinhive.replication.scan.scan import Scan
from twinhive.replication.scan.sweep import sweep
from twinhive.runtime.pipeline.phases import APPLY, BOOTSTRAP, CONSOLIDATE, INCREMENTAL, SCAN, Stage
from twinhive.runtime.pipeline.runner import run_phase

MOST_RUNS = 120
_HOUSEKEEPING = {"silent_writes": "report", "settle_seconds": 0, "grace_seconds": 0}


def _at_once(seconds: float) -> None:
    """Wait for nobody."""


@dataclass(frozen=True)
class Settings:
    """What a history is made of. Rates are per cent, of statements, runs and calls; `deaths` are per thousand steps.

    `scans` are per cent of the runs that look for silent writes and sweep, beside frozen ones too. With a `consistency`
    other than `every_event` the replica is looked at only when a run has ended well. `takers` are per mille of the
    calls before which somebody else runs: an apply, a whole run, a scan, a sweep, a dry run of giving the replica up.
    With `marks` sets are marked at the source, and those that the replica shows are judged too.
    """

    prelude: int = 8
    statements: int = 30
    writers: int = 2
    deaths: int = 0
    faults: int = 60
    pace: int = 12
    consistency: str = EVERY_EVENT
    odd: bool = False
    nests: bool = False
    scans: int = 0
    crosses: bool = False
    moves: bool = False
    keys: bool = False
    takers: int = 0
    marks: bool = False


class Place(Protocol):
    """Where a history happens: a source database, and the clusters of its replica."""

    database: str
    source: SourceMetastore
    source_files: FileWriter
    replica: MetastoreReader
    replica_files: FileReader
    viewer: type[Viewer]

    def policy(self, options: Mapping[str, Any]) -> Policy:
        """Return the policy, with some options."""
        ...

    def ports(self) -> WritePorts:
        """Return the ports of a run."""
        ...


class InMemory:
    """Two clusters in memory."""

    database = "sales"
    viewer = Viewer

    def __init__(self) -> None:
        self.world = World()
        self.lease = self.world.lease = LeaseWithTakeOver()
        self.source, self.source_files = self.world.source, self.world.source_files
        self.replica, self.replica_files = self.world.replica, self.world.replica_files
        SourceWriter.with_database(self.source, self.source_files, self.database, {"team": "Zürich"})

    def policy(self, options: Mapping[str, Any]) -> Policy:
        """Return the policy; its copies are made one by one."""
        return tuned(a_policy(), **options, copy_threads=1)

    def ports(self) -> WritePorts:
        """Return the ports of a run."""
        return self.world.ports()


class Drill:
    """Be one history, its replica, and what was seen."""

    def __init__(self, seed: int, settings: Settings | None = None, place: Place | None = None) -> None:
        self.seed = seed
        self.settings = settings or Settings()
        self.place: Any = place or InMemory()
        self.log: list[str] = []
        self.runs = self.faults = 0
        self.random = Random(seed)
        self.crowd = Crowd(
            *(Random(seed), self.place.source, self.place.source_files, self.place.database, self.settings.statements),
            writers=self.settings.writers,
            deaths=self.settings.deaths,
            is_odd=self.settings.odd,
            nests=self.settings.nests,
            crosses=self.settings.crosses,
            moves=self.settings.moves,
            has_keys=self.settings.keys,
            marks=self.settings.marks,
            log=self.log,
        )
        self.policy = self.place.policy(self._options())
        self.judge = Judge(self.crowd.recorder.timeline)
        self.judge.window = self._window
        self.judge.plan = self._plan_of_window
        self.judge.asked = lambda: requested_tables(self.place.replica_files, self.policy)
        self.judge.sets = self.crowd.sets if self.settings.marks else None
        replica = (self.place.replica, self.place.replica_files, self.policy.replica.database)
        self.viewer = self.place.viewer(*replica, reads_sets=self.settings.marks)
        every = self.settings.consistency == EVERY_EVENT
        self.watcher = Watcher(self.viewer, self.judge, self.policy.staging, every_call=every)
        self._zombies: list[Pausable] = []
        self._awake: list[Pausable] = []
        self._is_listed = False
        self._meeting = threading.Lock()

    def _window(self, position: int) -> tuple[int, int]:
        """Return between which events the window is that is applied at a position, or was applied last."""
        windows = [one.bounds for one in dumps_of(self.place.source_files, self.policy, DumpKind.INCREMENTAL)]
        return max((one for one in windows if one[0] <= position), default=(position, position))

    def _plan_of_window(self, position: int) -> object:
        """Return what tells the window of a position from one that is planned again: the file that describes it."""
        dumps = dumps_of(self.place.source_files, self.policy, DumpKind.INCREMENTAL)
        newest = max((one for one in dumps if one.bounds[0] <= position), key=lambda one: one.bounds, default=None)
        described = newest and self.place.source_files.status(newest.manifest)
        return described and described.file_id

    def _options(self) -> dict[str, Any]:
        return {
            "window_events": self.random.choice([1, 2, 3, 5, 10, 50]),
            "batch_objects": self.random.choice([1, 2, 100]),
            "partitions_per_call": self.random.choice([1, 2, 100]),
            "rest_events": self.random.choice([0, 2, 100]),
            "consistency": self.settings.consistency,
            # What a scan brings over is of no event: here it looks, and sweeps at once.
            **(_HOUSEKEEPING if self.settings.scans or self.settings.takers else {}),
        }

    @property
    def violations(self) -> list[Violation]:
        """Return what was seen and may not be."""
        return self.judge.violations

    def run(self) -> None:
        """Replicate while the history happens, with faults; then the rest without."""
        with self.in_order():
            self.crowd.run(self.settings.prelude)
            while self.crowd.is_busy and self.runs < MOST_RUNS:
                self._attempt()
                self._expect()
                for _ in range(self.random.randrange(6)):
                    self._meanwhile()
            self.crowd.finish()
            self.crowd.recorder.assert_whole()
            for zombie in self._zombies:
                self._wake(zombie)
            self._to_the_end()
            self.watcher.look("the end")

    def in_order(self) -> AbstractContextManager[None]:
        """Return what keeps things from happening at the same time."""
        return one_thread(self.random)

    def _to_the_end(self) -> None:
        """Run undisturbed until nothing is left to do."""
        for _ in range(MOST_RUNS):
            try:
                results = self._run_phases(self.ports(Plan(), quiet=True))
            except TwinhiveError as error:
                self._obey(error)
                continue
            if "window" in results and results["window"].idle:
                return
        raise AssertionError("it never ends")

    def _obey(self, error: TwinhiveError) -> None:
        """Do what an error asks for, as people do when a planning task that was frozen has published an old dump."""
        self.log.append(f"a person is asked: {error}")
        if isinstance(error, ActNow) and self._is_cut_anew():
            return
        if not (isinstance(error, ActNow) and self._zombies and self._is_listed):
            raise error
        self._is_listed = False

    def ports(self, plan: Plan, *, quiet: bool = False) -> WritePorts:
        """Return the ports of one run, watched, with a fault, and with users that do not wait for it."""
        given = self.place.ports()
        watched: Any = replace(
            given,
            replica=Watched(given.replica, self.watcher),
            replica_files=Watched(given.replica_files, self.watcher),
        )
        return faulty(watched, plan, (lambda: None) if quiet else lambda: self._meanwhile(plan))

    def _meanwhile(self, plan: Plan | None = None) -> None:
        if not self._meeting.acquire(blocking=False):
            return
        try:
            if self.random.randrange(100) < self.settings.pace and not self._users_wait():
                self.crowd.tick()
            # Who takes a lease waits for as long as a call of its last holder may be under way.
            if plan is not None and not plan.is_at_change and self.random.randrange(1000) < self.settings.takers:
                self._take()
        finally:
            self._meeting.release()

    def _take(self) -> None:
        """Let somebody else come who may want the lease; what he is refused is no concern of ours."""
        if ReplicaState.read(self.viewer.parameters()).phase is not Phase.FOLLOWING:
            return
        taker, come = self.random.choice(sorted(self._takers(self.ports(Plan(), quiet=True)).items()))
        self.log.append(f"somebody else: {taker}")
        try:
            come()
        except TwinhiveError as error:
            self.log.append(f"somebody else's {taker}: {str(error).splitlines()[0]}")

    def _takers(self, ports: WritePorts) -> dict[str, Callable[[], object]]:
        """Return who may come, in a world where nobody waits for a lease."""
        work = Work(self.policy, holder={"run": "another"}, report=self._report)
        return {
            "apply": lambda: APPLY(work).run(ports),
            "run": lambda: self._run(INCREMENTAL, ports),
            "scan": lambda: Scan(work, wait=_at_once).run(ports),
            "sweep": lambda: sweep(ports, work, _at_once),
            "forget": lambda: Forget(self.policy, {"user": "ann"}).plan(ports),
        }

    def _users_wait(self) -> bool:
        """True when so much has happened before the replica is published that little would be left to follow."""
        is_following = ReplicaState.read(self.viewer.parameters()).phase is Phase.FOLLOWING
        return self.crowd.statements <= 2 * self.settings.statements // 3 and not is_following

    def _attempt(self) -> None:
        """Run something once, perhaps with a fault; a frozen run lives on."""
        self.runs += 1
        plan = self._plan()
        run = Pausable(lambda: self._run_phases(self.ports(plan)), f"run {self.runs}")
        run.step()
        if run.ended:
            self._ended(run, plan)
        else:
            self._freeze(run, plan)
        self._wake_some()

    def _expect(self) -> None:
        """Let the judge look at what is planned, though no state of it may have been seen yet."""
        state = ReplicaState.read(self.viewer.parameters())
        if state.phase is Phase.FOLLOWING:
            self.judge.expect(state.position.event_id)

    def _ended(self, run: Pausable, plan: Plan) -> None:
        self.faults += plan.met is not None
        error = run.error
        self.log.append(f"{run.name}: {plan.fault.value} {plan.met or ''} {type(error).__name__ if error else 'done'}")
        if error is None:
            self.watcher.look(f"{run.name}, which ended well")
        if error is None or isinstance(error, Killed):
            return
        if not isinstance(error, TwinhiveError):
            raise error
        self.log.append(f"{run.name}: {error}")
        if isinstance(error, ActNow) and self._zombies:
            self._is_listed = False
        if isinstance(error, ActNow) and plan.met is None and not self._zombies and not self._is_cut_anew():
            self.judge.violations.append(Violation(-1, f"{run.name} wants a person without need: {error}"))

    def _is_cut_anew(self) -> bool:
        """True for a window whose whole tables have changed since they were read: the next run reads them again."""
        position = ReplicaState.read(self.viewer.parameters()).position.event_id
        dump = window_at(self.place.source_files, self.policy, position)
        return dump is not None and reason_to_plan_again(self.place.ports(), self.policy, dump) is not None

    def _freeze(self, run: Pausable, plan: Plan) -> None:
        """Let a frozen run's call be done before somebody else holds the lease, or, for files, at any time."""
        self.faults += 1
        self.log.append(f"{run.name}: {plan.fault.value} {plan.met}")
        self._zombies.append(run)
        if (plan.met or "").startswith("replica."):
            self.place.lease.before_next.append(lambda: self._wake(run))

    def _wake_some(self) -> None:
        for zombie in self._zombies:
            if not zombie.ended and self.random.random() < 0.3:
                self._wake(zombie)

    def _wake(self, zombie: Pausable) -> None:
        # One that is awake may ask for the lease before which it was to wake.
        if not zombie.ended and zombie not in self._awake:
            self.log.append(f"{zombie.name} wakes up")
            self._awake.append(zombie)
            zombie.finish()
            self.log.append(f"{zombie.name} ended: {zombie.error}")
            if zombie.error is not None and not isinstance(zombie.error, TwinhiveError):
                raise zombie.error

    def _plan(self) -> Plan:
        if self.random.randrange(100) >= self.settings.faults:
            return Plan()
        # Copying makes most of the changes, applying is where they count.
        port, most = self.random.choice([("replica.", 4), ("replica.", 15), ("replica_files.", 20), ("", 40)])
        return Plan(self.random.choice(OF_A_PROCESS), self.random.randint(1, most), port)

    def _run_phases(self, ports: WritePorts) -> dict[str, Any]:
        """Do what is next for the replica, or by chance something that is not."""
        phase = ReplicaState.read(self.viewer.parameters()).phase
        if phase is Phase.FOLLOWING:
            if self.settings.scans and self.random.randrange(100) < self.settings.scans:
                return self._run(SCAN, ports)
            return self._run(INCREMENTAL, ports)
        if self.random.random() < 0.2:
            self._run(INCREMENTAL, ports)
        if not self._is_listed or (phase is Phase.ABSENT and self.random.random() < 0.1):
            self._is_listed = False
            self._run(BOOTSTRAP, ports)
            self._is_listed = True
        return self._run(CONSOLIDATE, ports)

    def _run(self, stages: tuple[Stage, ...], ports: WritePorts) -> dict[str, Any]:
        return run_phase(stages, self.policy, ports, {"run": str(self.runs)}, self._report)

    def _report(self, line: str) -> None:
        self.log.append(f"   {line}")

    def left_in_staging(self) -> list[str]:
        """Return what is in staging and should not be."""
        ((_, found),) = self.place.replica_files.list_directories([self.policy.staging])
        names = {base_name(status.path) for status in found or ()} - {"lease", "control", "scan", "sets"}
        below = self.place.replica_files.list_directories([join(self.policy.staging, name) for name in sorted(names)])
        # An empty directory is nothing.
        return [path for path, children in below if children]

    def assert_end(self) -> None:
        """Assert that both sides are equal, with marks and staging as they should be."""
        assert not self.violations, self.story(f"{len(self.violations)} violations: {self.violations[0]}")
        differences = self.judge.differences_at_the_end(self.viewer.state())
        assert not differences, self.story(f"the end differs: {'; '.join(differences)}")
        if self.settings.marks:
            assert not self._sets_missing(), self.story(f"sets at the end: {self._sets_missing()}")
        assert self.left_in_staging() == [], self.story(f"left in staging: {self.left_in_staging()}")

    def _sets_missing(self) -> list[str]:
        """Return the sets that the source has and the replica should show, and those that it should not.

        It need not show one where both sides have other files, because somebody wrote, or died, without an event: a
        mark that came on top of one that shows waits likewise.
        """
        source, name = self.place.source, self.crowd.database
        there = self.viewer.state()
        tables, ours = dict(self.crowd.recorder.there.tables), dict(there.tables)
        done = {
            ShownSet(one.mark.table.table, one.mark.spec, one.mark.token)
            for one in SetsOfDatabase(source, name, keep=FOREVER).read()
            if one.standing is SetStanding.DONE and tables[one.mark.table.table].kind == "MANAGED_TABLE"
        }
        differ = {one for one in done if leaves(tables[one.table], one.spec) != leaves(ours[one.table], one.spec)}
        wrong = [f"{one} is missing" for one in done - there.sets - differ]
        waiting = {(one.table, one.spec) for one in differ}
        older = {one for one in there.sets if self.crowd.sets.has_been_marked_since(one)}
        return wrong + [
            f"{one} is there" for one in there.sets - done if one not in older or (one.table, one.spec) not in waiting
        ]

    def story(self, what: str) -> str:
        """Return what happened, for people; the same again with TWINHIVE_SEED."""
        return f"seed {self.seed}: {what}\n" + "\n".join(self.log)


_LISTERS = "twinhive.transfer.tree.listing."


class InOrder:
    """Be an executor that does one thing after the other, in an order of its own."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def __call__(self, *args: Any, **kwargs: Any) -> "InOrder":
        return self

    def __enter__(self) -> "InOrder":
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End: nothing is under way."""

    def map(self, do: Callable[[Any], Any], things: Iterable[Any]) -> Iterator[Any]:
        """Do all, in any order."""
        waiting = list(enumerate(things))
        self._random.shuffle(waiting)
        done = {number: do(thing) for number, thing in waiting}
        return iter([done[number] for number in sorted(done)])

    def submit(self, do: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Do it at once."""
        done: Future[Any] = Future()
        try:
            done.set_result(do(*args))
        except BaseException as error:
            done.set_exception(error)
        return done


@contextmanager
def one_thread(random: Random) -> Iterator[None]:
    """Let what happens side by side happen one after the other, and names be no surprise: a seed gives the same."""
    modules = [module for name, module in sys.modules.items() if name.startswith("twinhive.")]
    with ExitStack() as stack:
        in_order = InOrder(random)
        for module in modules:
            # Who lists trees hands pages over to who reads them: one alone would wait for ever.
            if hasattr(module, "ThreadPoolExecutor") and not module.__name__.startswith(_LISTERS):
                stack.enter_context(mock.patch.object(module, "ThreadPoolExecutor", in_order))
        stack.enter_context(mock.patch.object(Threads, "each", lambda _, call, items: list(in_order.map(call, items))))
        names = Random(random.random())
        stack.enter_context(mock.patch("uuid.uuid4", lambda: uuid.UUID(int=names.getrandbits(128), version=4)))
        yield
