"""Break the replication in ways that people do, and see that the checker notices: a check that cannot fail is none."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import pytest

from tests.checker.memory_histories import Drill, Settings
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import TwinhiveError
from twinhive.publishing.set_visibility.later_events import LaterEvents
from twinhive.publishing.set_visibility.show_sets import ShowSets
from twinhive.replication.apply import actions, lane
from twinhive.replication.apply.actions import Action, Edit, Rows
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.file_moves import Placing
from twinhive.replication.apply.lane import Lane
from twinhive.replication.apply.replica_cache import ReplicaCache
from twinhive.replication.apply.target import Target
from twinhive.transfer.staged.event_source import EventCopier

SEEDS = (60, 62, 64, 65, 73, 80, 137, 205, 223, 229, *range(81, 281))
"""The first have noticed each of them before: what changes a history goes on to others."""
MANY_FAULTS = Settings(faults=85)
MARKS = Settings(writers=3, statements=45, pace=30, faults=20, deaths=25, marks=True)
Patch = pytest.MonkeyPatch


def copies_what_is_there_now(patch: Patch) -> None:
    """A file is taken from its path whatever it holds by then."""

    def look(self: EventCopier, path: str, item: Any) -> Any:
        status = self._source.status(path)
        return "nothing" if status is None else status

    patch.setattr(EventCopier, "_look", look)


def applies_the_metadata_of_now(patch: Patch) -> None:
    """A table gets the definition that it has at the source when it is altered."""
    faithful = Target.table

    def table(self: Target, given: Any, location: str | None, event_id: int) -> Any:
        now = next((one for one in _SOURCE[0].tables("sales", [given.name.table])), given)
        return faithful(self, now if now.partition_keys == given.partition_keys else given, location, event_id)

    patch.setattr(Target, "table", table)


def forgets_the_position_before_removals(patch: Patch) -> None:
    """A replay may hold several removals, and what was made anew between them."""
    patch.setattr(Progress, "before_removal", lambda self: None)


def overwrites_in_the_live_directory(patch: Patch) -> None:
    """New files come beside the old ones before these are gone."""
    faithful = actions._insert

    def insert(change: Any, event_id: int) -> Any:
        what = faithful(change, event_id)
        for edit in actions._edits(what):
            if edit.rows is Rows.REPLACE:
                object.__setattr__(edit, "rows", Rows.APPEND)
        return what

    patch.setattr(actions, "_insert", insert)


def writes_the_position_before_applying(patch: Patch) -> None:
    """A kill in between loses an event, and readers are told of what is not there."""
    faithful = Lane._apply

    def apply(self: Lane, action: Action) -> None:
        self._progress.write(action.last)
        faithful(self, action)

    patch.setattr(Lane, "_apply", apply)


def writes_the_end_of_a_window_first(patch: Patch) -> None:
    """The position goes back when what comes before it is written."""

    def write(self: Progress, position: Position) -> None:
        self.set_parameters(self._parameters, position)
        self._reached, self._since = self.position, 0

    patch.setattr(Progress, "write", write)
    patch.setattr(Progress, "passed", lambda self, position: write(self, Position(max(position.event_id - 3, 0))))


def places_appends_together(patch: Patch) -> None:
    """Files of several appends are placed before what happened between them."""
    patch.setattr(Edit, "only_appends", property(lambda self: True))
    patch.setattr(Placing, "append_all", Placing.place_all)


def swaps_neighbours(patch: Patch) -> None:
    """Events of two tables change places."""
    faithful = lane.actions  # type: ignore[attr-defined]

    def swapped(events: Any, cascades: Any = frozenset()) -> Iterator[Action]:
        found = list(faithful(events, cascades))
        pairs = zip(found[::2], found[1::2], strict=False)
        rest = found[len(found) // 2 * 2 :]
        yield from chain.from_iterable((second, first) for first, second in pairs)
        yield from rest

    patch.setattr(lane, "actions", swapped)


def ignores_stamps(patch: Patch) -> None:
    """What a killed run has done is done again."""
    patch.setattr(ReplicaCache, "is_at", lambda self, found, event_id: False)


def forgets_drops(patch: Patch) -> None:
    """Partitions stay."""
    patch.setattr(
        "twinhive.replication.apply.partition_changes.PartitionChanges.drop", lambda self, what, progress: False
    )


def shows_sets_without_their_data(patch: Patch) -> None:
    """Nothing is compared, no table that waits is held for."""

    def why(self: ShowSets, mark: Any, source: Any, sides: Any, later: Any) -> Any:
        return None if mark.table.table in sides.tables else ("it is not there", "wait")

    patch.setattr(ShowSets, "_why_held", why)


def shows_sets_before_their_marks(patch: Patch) -> None:
    """What the source and the replica have equal by chance, or before the mark, is taken for what was promised."""
    patch.setattr(LaterEvents, "why_too_early", lambda self, mark, spec, keys: None)


def hides_sets_too_late(patch: Patch) -> None:
    """A set shows while what was promised is written anew."""
    patch.setattr(ShowSets, "hide_unmarked", lambda self: None)


def excuses_all_that_changes(patch: Patch) -> None:
    """A leaf of which a later event tells is not compared."""

    def is_promised(leaf: Any, here: Any, difference: Any, later: LaterEvents) -> bool:
        return difference is None or bool(later._told[leaf.table.name])

    patch.setattr("twinhive.publishing.set_visibility.set_comparison._is_promised", is_promised)


MUTANTS = [
    copies_what_is_there_now,
    applies_the_metadata_of_now,
    forgets_the_position_before_removals,
    overwrites_in_the_live_directory,
    writes_the_position_before_applying,
    writes_the_end_of_a_window_first,
    places_appends_together,
    swaps_neighbours,
    ignores_stamps,
    forgets_drops,
]
MUTANTS_OF_SETS = [
    pytest.param(shows_sets_without_their_data, marks=pytest.mark.thorough),
    shows_sets_before_their_marks,
    hides_sets_too_late,
    pytest.param(excuses_all_that_changes, marks=pytest.mark.thorough),
]
_SOURCE: list[Any] = [None]


@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda mutate: mutate.__name__)
def test_a_wrong_replication_is_found_out(mutate: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutate(monkeypatch)
    assert_found_out(MANY_FAULTS)


@pytest.mark.parametrize("mutate", MUTANTS_OF_SETS, ids=lambda mutate: mutate.__name__)
def test_a_set_that_shows_without_what_it_promises_is_found_out(
    mutate: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    mutate(monkeypatch)
    assert_found_out(MARKS)


def assert_found_out(settings: Settings) -> None:
    """Assert that some history notices what is wrong."""
    for seed in SEEDS:
        drill = Drill(seed, settings)
        _SOURCE[0] = drill.place.source
        # A mutant may well not come to an end.
        with suppress(TwinhiveError, AssertionError):
            drill.run()
        if any(violation.position >= 0 for violation in drill.violations):
            return
    pytest.fail(f"nothing was noticed in {len(SEEDS)} histories")
