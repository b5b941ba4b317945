"""`twinhive status POLICY` says what `twinhive status` says of it, and what to do next."""

import pytest

from tests.support.policy_terminal import Terminal


def words(said: str) -> str:
    """Return what is said without the lines of a table, and without where they were broken."""
    return " ".join(said.replace("│", " ").split())


def with_a_gap(terminal: Terminal, events: int) -> None:
    """Have events expire that the replica has not reached, but the newest."""
    for number in range(events):
        terminal.users.insert("plain", None, [b"more%d" % number])
    source = terminal.world.source
    source.expire_events(source.current_event_id() - 1)


@pytest.mark.parametrize("events", [2, 12])
def test_a_gap_is_said_with_what_to_do_next(published: Terminal, events: int) -> None:
    """Also where so much waits that it is not counted."""
    published.policies.add(
        "sales", external_tables={"base_directory": "hdfs://west/external"}, options={"window_events": 6}
    )
    with_a_gap(published, events)
    said = words(published.type("status", "sales"))
    assert "trouble" in said and "next" in said and "twinhive resync sales --all" in said
    assert "lag not known" in said and "does not follow" not in said
    found = published.document("status", "sales")
    assert found["log_trouble"] == found["trouble"] is not None
    assert (found["lag_seconds"], found["events_in_scope"]) == (None, None)


def test_without_trouble_no_row_says_so(published: Terminal) -> None:
    said = words(published.type("status", "sales"))
    assert "trouble" not in said and "next " not in said.replace("next incremental", "")


def test_of_what_is_far_behind_little_is_read(published: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    published.policies.add(
        "sales", external_tables={"base_directory": "hdfs://west/external"}, options={"window_events": 6}
    )
    for number in range(20):
        published.users.insert("plain", None, [b"more%d" % number])
    asked: list[int] = []
    real = published.world.source.events_after

    def noted(event_id: int, most: int) -> list[object]:
        asked.append(most)
        return list(real(event_id, most))

    monkeypatch.setattr(published.world.source, "events_after", noted)
    found = published.document("status", "sales")
    assert (found["log_trouble"], found["events_in_scope"], found["events_behind"]) == (None, None, 40)
    assert min(asked) <= 10


def test_a_replica_that_is_not_there_does_not_follow(terminal: Terminal) -> None:
    assert "lag none: the replica does not follow" in words(terminal.type("status", "sales"))
