from collections.abc import Iterator

import pytest

from tests.unit.hive.events.messages import a_row
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow
from twinhive.hive.events import reader
from twinhive.hive.events.reader import bounded, position_at, read_events


class Log:
    """A log that holds the given rows; its newest id may be above them, as when rows expired."""

    def __init__(self, rows: list[EventRow], newest: int | None = None) -> None:
        self.rows = rows
        self.newest = rows[-1].event_id if newest is None else newest

    def current_event_id(self) -> int:
        return self.newest

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        return [row for row in self.rows if row.event_id > event_id][:limit]


def rows_of(first: int, last: int) -> list[EventRow]:
    return [a_row({"number": number}, event_id=number, time=number) for number in range(first, last + 1)]


def ids(log: Log, begin: Position) -> list[int]:
    return [row.event_id for row in read_events(log, begin)]


@pytest.mark.parametrize("base", [0, 2**31, 2**53, 2**62])
def test_all_rows_come_in_order_over_many_calls(base: int) -> None:
    log = Log(rows_of(base + 1, base + 700))
    begin = position_at(log, base + 1)
    assert begin == log.rows[0].position
    assert ids(log, begin) == list(range(base + 2, base + 701))


def test_a_log_is_read_from_its_very_beginning() -> None:
    assert position_at(Log([], 0), 0) == Position(0)
    assert ids(Log([], 0), Position(0)) == []
    assert ids(Log(rows_of(1, 3)), Position(0)) == [1, 2, 3]


def test_what_comes_after_the_call_is_left_for_the_next_one() -> None:
    log = Log(rows_of(1, 9), newest=5)
    assert ids(log, Position(2)) == [3, 4, 5]


def test_the_row_of_the_position_may_have_expired_when_all_after_it_are_there() -> None:
    begin = rows_of(4, 4)[0].position
    assert ids(Log(rows_of(5, 8)), begin) == [5, 6, 7, 8]


def test_nothing_to_read_from_an_expired_log_without_news() -> None:
    begin = rows_of(8, 8)[0].position
    assert ids(Log([], newest=8), begin) == []
    assert position_at(Log([], newest=8), 8) == Position(8)


@pytest.mark.parametrize(
    ("rows", "newest"),
    [
        pytest.param([], 9, id="emptied"),
        pytest.param(rows_of(1, 4), 9, id="emptied behind the position"),
        pytest.param(rows_of(6, 9), 9, id="first missing"),
        pytest.param([*rows_of(5, 6), *rows_of(8, 9)], 9, id="hole"),
        pytest.param(rows_of(1, 8), 9, id="last missing"),
        pytest.param([*rows_of(1, 8), *rows_of(10, 12)], 9, id="last missing, later ones there"),
    ],
)
def test_missing_rows_are_a_gap_that_says_how_to_go_on(rows: list[EventRow], newest: int) -> None:
    with pytest.raises(ActNow, match="has a gap") as caught:
        ids(Log(rows, newest), Position(4))
    step = str(caught.value.next_step)
    assert "metastore.event.db.listener.timetolive" in step
    assert "metastore.repl.event.db.listener.timetolive" in step
    assert "twinhive resync <policy> --all" in step


def test_rows_before_a_gap_are_still_read() -> None:
    read: list[int] = []
    with pytest.raises(ActNow):
        for row in read_events(Log([*rows_of(5, 6), *rows_of(8, 9)]), Position(4)):
            read.append(row.event_id)
    assert read == [5, 6]


@pytest.mark.parametrize("rows", [[*rows_of(5, 6), *rows_of(6, 9)], [*rows_of(5, 7), *rows_of(5, 9)]])
def test_an_id_that_comes_twice_is_told_from_a_gap(rows: list[EventRow]) -> None:
    with pytest.raises(ActNow, match="duplicate") as caught:
        ids(Log(rows), Position(4))
    assert "a second time" in str(caught.value.found)


def test_a_log_that_ends_before_the_position_is_another_log() -> None:
    with pytest.raises(ActNow, match="not the one it was"):
        ids(Log(rows_of(1, 3)), Position(4))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"message": {"number": 5}}, id="another message"),
        pytest.param({"message": {"number": 4}, "time": 99}, id="another time"),
    ],
)
def test_another_event_at_the_position_is_another_log(other: dict[str, object]) -> None:
    begin = rows_of(4, 4)[0].position
    changed = a_row(other.pop("message"), event_id=4, **{"time": 4, **other})
    with pytest.raises(ActNow, match="not the one it was") as caught:
        ids(Log([changed, *rows_of(5, 6)]), begin)
    assert "again=true" in str(caught.value.next_step)


def test_a_position_without_a_row_fits_any_log() -> None:
    assert ids(Log(rows_of(4, 6)), Position(4)) == [5, 6]


def sized(*lengths: int) -> list[EventRow]:
    return [a_row("x" * length, event_id=number) for number, length in enumerate(lengths, start=1)]


@pytest.mark.parametrize(
    ("lengths", "most_events", "most_bytes", "batches"),
    [
        ((), 2, 10, []),
        ((1, 1, 1, 1, 1), 2, 10, [[1, 2], [3, 4], [5]]),
        ((4, 6, 1), 9, 10, [[1, 2], [3]]),
        ((4, 7, 1), 9, 10, [[1], [2, 3]]),
        ((50, 1, 50, 50), 9, 10, [[1], [2], [3], [4]]),
        ((1, 1), 1, 1, [[1], [2]]),
    ],
)
def test_batches_are_bounded(
    lengths: tuple[int, ...], most_events: int, most_bytes: int, batches: list[list[int]]
) -> None:
    cut = bounded(sized(*lengths), most_events, most_bytes)
    assert [[row.event_id for row in batch] for batch in cut] == batches


def test_bytes_are_counted_and_not_characters() -> None:
    rows = [a_row("é" * 5, event_id=number) for number in (1, 2)]
    assert [len(batch) for batch in bounded(rows, 9, 10)] == [1, 1]


def test_batches_take_no_more_of_the_stream_than_they_need() -> None:
    taken: list[int] = []

    def stream() -> Iterator[EventRow]:
        for row in sized(*[1] * 10):
            taken.append(row.event_id)
            yield row

    next(bounded(stream(), 3, 100))
    assert taken == [1, 2, 3]


def test_where_messages_are_long_fewer_are_asked_for_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_BYTES_PER_CALL", 10_000)
    long = [a_row("x" * 5_000, event_id=number, time=number) for number in range(1, 200)]
    log, asked = Log([*long, *rows_of(200, 800)]), list[int]()
    read = log.events_after
    log.events_after = lambda event_id, limit: asked.append(limit) or read(event_id, limit)  # type: ignore
    assert ids(log, Position(0)) == list(range(1, 801))
    assert max(asked[1:50]) <= 2
    assert asked[-1] > 100


def test_a_message_that_is_longer_than_all_that_is_wanted_comes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_BYTES_PER_CALL", 10)
    assert ids(Log(rows_of(1, 200)), Position(0)) == list(range(1, 201))
