"""Put new directories in place, each by one rename when all of it is there, and give directories their attributes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from twinhive.core.model.errors import AlreadyThere, Missing, TwinhiveError
from twinhive.core.model.files import FileStatus, is_below, parent
from twinhive.core.ports import TreeWriter
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.core.threads.running_calls import RunningCalls
from twinhive.transfer.engine.attributes import AttributeCopier
from twinhive.transfer.engine.copy_retries import Patience, twice
from twinhive.transfer.tree.deleting import Deleter, put_away
from twinhive.transfer.tree.executing import Recently, confirmed
from twinhive.transfer.tree.failures import Failures
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_actions import FileAction
from twinhive.transfer.tree.work_directories import Places

_WAITING_A_THREAD = 4


class Committer:
    """Finish what the actions on files have prepared; failures are counted in `failures`."""

    def __init__(
        self,
        target: TreeWriter,
        places: Places,
        attributes: AttributeCopier,
        failures: Failures,
        threads: int,
        is_gone: Callable[[FileStatus], bool],
    ) -> None:
        self._target = target
        self._places = places
        self._attributes = attributes
        self._failures = failures
        self._threads = threads
        self._is_gone = is_gone
        self._left_out: set[str] = set()
        self._patience = Patience()

    def make_directories(self, actions: Iterable[FileAction]) -> int:
        """Make new directories where they are built; return how many."""

        def make(action: FileAction) -> None:
            self._target.make_directories(self._places.built(action.relative))

        return self._each_in_parallel(actions, make, "make")

    def finish_new_directories(self, plan: Plan) -> None:
        """Give the new directories their attributes while nobody sees them, what lies deeper first."""
        new = (action for action in plan.attributes() if action.new_root is not None and not self._is_held(action))
        self._bottom_up(new, lambda action: self._attributes.give_new(_original(action), self._built(action)))

    def place(
        self, plan: Plan, deleter: Deleter, may_write: Recently, *, replaces: bool, of_logs: bool = False
    ) -> Tally:
        """Rename the new directories in which nothing failed to where they belong: those of logs, or all others.

        Each takes the place of the one that it replaces, if any and if it `replaces`; return what was deleted so.
        """
        if self._places.is_new and not self._failures.holds(""):
            self._target.make_directories(parent(self._places.base))
        wanted = (root for root in plan.new_roots(of_logs=of_logs) if root not in self._left_out)
        roots = (root for root in wanted if not self._failures.holds(root) and (replaces or root not in plan.replaced))
        replaced = Tally()
        work = partial(self._place_each, plan.replaced, deleter)
        for deleted, failed in in_parallel(confirmed(roots, may_write), self._threads, work, "place"):
            replaced += deleted
            self._failures.merge(failed)
        return replaced

    def align_directories(self, plan: Plan) -> int:
        """Give the directories that were there before their attributes; return how many had others."""
        there = (action for action in plan.attributes() if action.new_root is None)
        return self._bottom_up(there, self._align)

    def _is_held(self, action: FileAction) -> bool:
        return action.new_root is not None and self._failures.holds(action.new_root)

    def _built(self, action: FileAction) -> str:
        return self._places.built(action.relative)

    def _align(self, action: FileAction) -> bool:
        # What was renamed into the directory, or out of it, has given it a new time.
        is_retimed = "t" in self._attributes.letters
        there = self._target.status(self._places.final(action.relative)) if is_retimed else action.target
        return there is not None and self._attributes.align(_original(action), there)

    def _place_each(
        self, replaced: Mapping[str, FileAction], deleter: Deleter, roots: Iterator[str]
    ) -> tuple[Tally, Failures]:
        deleted, failures = Tally(), Failures()
        for root in roots:
            try:
                old = replaced.get(root)
                place = partial(self._place_one, root) if old is None else partial(self._change_place, old, deleter)
                deleted += self._patience.run(partial(twice, place)) or Tally()
            except TwinhiveError as error:
                failures.add(self._places.final(root), error, is_directory=True, new_root=root)
        return deleted, failures

    def _change_place(self, old: FileAction, deleter: Deleter) -> Tally:
        """Put a new directory in the place of an old one, which comes back where that fails; return what it was."""
        final = self._places.final(old.relative)
        if self._target.status(self._places.built(old.relative)) is None:
            self._place_one(old.relative)  # by an attempt whose answer was lost, or nothing is there
            return Tally()
        size, aside = deleter.size_of(replace(_found(old), path=final)), deleter.aside(old)
        put_away(self._target, final, aside)
        try:
            self._place_one(old.relative)
        except TwinhiveError:
            with suppress(TwinhiveError):
                self._target.rename(aside, final)
            raise
        deleter.forget(aside)
        return size

    def _place_one(self, root: str) -> None:
        built, final = self._places.built(root), self._places.final(root)
        if self._target.rename(built, final):
            return
        if self._target.status(built) is None:
            if self._target.status(final) is None:
                raise Missing(
                    f"{built}: the new directory is gone",
                    found=f"neither it nor {final}",
                    expected="what this copy has built",
                    next_step="run again",
                )
            return  # renamed by an attempt whose answer was lost
        raise AlreadyThere(
            f"{final}: it appeared while its copy was made, which is kept in {built}",
            found="a directory that this copy has not made",
            expected="nothing at the target",
            next_step="run again: what is there is compared file by file then",
        )

    def _failed(self, action: FileAction, error: TwinhiveError) -> None:
        """Count a directory that has not got its attributes; one that the source has no more is not put in place."""
        if action.relative and self._is_gone(_original(action)):
            try:
                if action.new_root is not None:
                    self._patience.run(partial(twice, partial(self._target.delete, self._built(action))))
            except TwinhiveError as in_the_way:
                error = in_the_way
            else:
                self._left_out.add(action.relative)
                self._failures.vanished.add(0, is_directory=True)
                return
        _count(self._failures, action, error)

    def _each_in_parallel(self, actions: Iterable[FileAction], do: Callable[[FileAction], object], name: str) -> int:
        def work(shared: Iterator[FileAction]) -> tuple[int, Failures]:
            done, failures = 0, Failures()
            for action in shared:
                try:
                    self._patience.run(partial(twice, partial(do, action)))
                    done += 1
                except TwinhiveError as error:
                    _count(failures, action, error)
            return done, failures

        total = 0
        for done, failures in in_parallel(actions, self._threads, work, name):
            total += done
            self._failures.merge(failures)
        return total

    def _bottom_up(self, actions: Iterable[FileAction], do: Callable[[FileAction], object]) -> int:
        """Do something with directories in parallel, with each only after all below it; return how often it was true.

        A directory that has its permission may be closed to us.
        """
        changed = 0
        running: deque[tuple[FileAction, Future[object]]] = deque()

        def finish_one() -> bool:
            action, future = running.popleft()
            try:
                return bool(future.result())
            except TwinhiveError as error:
                self._failed(action, error)
                return False

        with ThreadPoolExecutor(self._threads, "directories") as pool, RunningCalls() as calls:
            for action in actions:
                while running and (
                    len(running) >= self._threads * _WAITING_A_THREAD
                    or any(is_below(f"/{below.relative}", f"/{action.relative}") for below, _ in running)
                ):
                    changed += finish_one()
                running.append(
                    (action, pool.submit(calls.run, self._patience.run, partial(twice, partial(do, action))))
                )
            while running:
                changed += finish_one()
        return changed


def _count(failures: Failures, action: FileAction, error: TwinhiveError) -> None:
    failures.add(_original(action).path, error, is_directory=True, new_root=action.new_root)


def _found(action: FileAction) -> FileStatus:
    assert action.target is not None
    return action.target


def _original(action: FileAction) -> FileStatus:
    assert action.source is not None
    return action.source
