import pytest

from twinhive.core.model.changes.events import Position
from twinhive.core.model.marks import Phase, ReplicaState, Stamp, stamped, without_marks


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        ("log-1:42", Stamp("log-1", 42)),
        ("a:b:7", Stamp("a:b", 7)),
        ("log-1:", None),
        (":7", None),
        ("log-1:x", None),
        ("", None),
        (None, None),
    ],
)
def test_a_stamp_is_read_or_is_absent(text: str | None, stamp: Stamp | None) -> None:
    assert Stamp.parse(text) == stamp


def test_marks_of_the_sources_own_replication_do_not_reach_the_replica() -> None:
    source = {"repl.last.id": "9", "hive.repl.ckpt.key": "x", "twinhive.stamp": "l:1", "comment": "kept"}
    assert without_marks(source) == {"comment": "kept"}
    assert stamped(source, Stamp("log", 5)) == {
        "comment": "kept",
        "twinhive.stamp": "log:5",
        "repl.last.id": "5",
    }


def test_what_is_written_is_what_is_read() -> None:
    state = ReplicaState(Phase.FOLLOWING, "sales", "log", "bootstrap-7", Position(2**40, 1_700_000_000, "ab"))
    assert ReplicaState.read(state.written()) == state


def test_an_event_id_written_by_another_hand_counts_without_time_and_digest() -> None:
    written = ReplicaState(Phase.FOLLOWING, "sales", "log", "d", Position(7, 1, "ab")).written()
    assert ReplicaState.read({**written, "repl.last.id": "9"}).position == Position(9)


def test_a_database_without_marks_is_an_incomplete_one_of_nobody() -> None:
    assert ReplicaState.read({}) == ReplicaState(Phase.LOADING, format=None)
    assert ReplicaState.read(None) == ReplicaState(Phase.ABSENT)
