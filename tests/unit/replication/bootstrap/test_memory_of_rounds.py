"""However long a bootstrap takes, a round and the gate hold a range of events at a time."""

import gc
from dataclasses import replace

import pytest

from tests.support.worlds.fake_world import tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.bootstrap.test_consolidate import Copying
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import Event
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, INCREMENTAL

_EVENTS = 1_200
_PER_CALL = 300
_MOST = 3 * _PER_CALL


@pytest.fixture
def copying() -> Copying:
    copying = Copying(tuned(window_events=100))
    copying.run(BOOTSTRAP)
    for number in range(_EVENTS // 2):
        copying.users.set_parameters("plain", {"at": str(number)})
        copying.world.source.emit("OPEN_TXN", None, None, {"txnIds": [number]})
    return copying


@pytest.fixture
def held(copying: Copying, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list that collects, at each reading of the log, how many rows and events are in memory."""
    source, found = copying.world.source, []
    read = source.events_after

    def events_after(event_id: int, limit: int) -> list[EventRow]:
        rows = [replace(row) for row in read(event_id, limit)]
        if alive() - at_first >= _MOST:
            gc.collect()  # Among many objects of other tests Python puts it off.
        found.append(alive() - at_first)
        return rows

    gc.collect()
    at_first = alive()
    monkeypatch.setattr(source, "events_after", events_after)
    return found


def alive() -> int:
    """Return how many rows and events Python still holds."""
    # Not isinstance, which wakes lazy imports of others among the objects.
    return sum(type(one) in (EventRow, Event) for one in gc.get_objects())


@pytest.mark.thorough
def test_rounds_and_the_gate_fold_and_count_a_long_log_piece_by_piece(copying: Copying, held: list[int]) -> None:
    results = copying.run(CONSOLIDATE)
    assert results["round"].events == _EVENTS // 2
    assert len(held) > _EVENTS // _PER_CALL
    assert max(held) < _MOST
    assert_twin(copying.world)


@pytest.mark.thorough
def test_a_long_log_is_saved_piece_by_piece_and_read_back_so(copying: Copying, held: list[int]) -> None:
    newest = copying.world.source.current_event_id()
    copying.run(INCREMENTAL)
    copying.world.source.expire_events(newest)
    copying.run(CONSOLIDATE)
    assert max(held) < _MOST
    assert_twin(copying.world)
