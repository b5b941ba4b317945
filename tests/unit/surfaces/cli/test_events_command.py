"""`twinhive events`: what the log holds after the position, readable whatever is in it."""

from dataclasses import replace

from tests.support.policy_terminal import Terminal


def change(terminal: Terminal, table: str = "plain") -> None:
    """Cause one event."""
    terminal.users.set_parameters(table, {"changed": str(terminal.world.source.current_event_id())})


def test_what_comes_next_is_shown_line_by_line(published: Terminal) -> None:
    published.users.insert("plain", None, [b"more"])
    published.users.add_partitions("orders", {("new",): {"f": b"x", "g": b"y"}})
    published.users.rename_table("plain", "plainer")
    insert, _counted, added, renamed, *_ = published.type("events", "sales").splitlines()
    assert "INSERT" in insert and "sales.plain" in insert and "1 files" in insert
    assert "ADD_PARTITION" in added and "sales.orders (p=new)" in added and "2 files" in added
    assert "sales.plain -> sales.plainer" in renamed


def test_after_the_window_nothing_is_left(published: Terminal) -> None:
    change(published)
    published.type("run", "sales", "incremental")
    assert published.document("events", "sales")["events"] == []


def test_what_is_out_of_scope_is_counted_and_shown_with_the_reason_when_asked_for(published: Terminal) -> None:
    published.world.source.emit("OPEN_TXN", None, None, {})
    published.world.source.emit("DROP_TABLE", "elsewhere", "t", {})
    change(published)
    found = published.document("events", "sales")
    assert (len(found["events"]), found["hidden"]) == (1, 2)
    first, second, third = published.document("events", "sales", "--all")["events"]
    assert not first["in_scope"] and "transactions stay at the source" in first["why_not"]
    assert not second["in_scope"] and second["why_not"] == "of database elsewhere"
    assert third["in_scope"] and third["why_not"] is None
    assert "not applied: of database elsewhere" in published.type("events", "sales", "--all")


def test_an_event_in_scope_that_is_passed_over_says_why(published: Terminal) -> None:
    change(published)
    event_id = published.world.source.current_event_id()
    published.type("skip-event", "sales", str(event_id), "--reason", "wrong rows")
    assert "skipped by a person: wrong rows" in published.type("events", "sales")


def test_a_message_that_cannot_be_read_is_one_line_among_others(published: Terminal) -> None:
    source = published.world.source
    row = source.emit("ALTER_TABLE", "sales", "plain", {})
    source.events[-1] = replace(row, message='{"db": "sales"')
    source.emit("MELT_TABLE", "sales", "plain", {})
    change(published)
    said = published.type("events", "sales")
    assert "cannot be read" in said and "MELT_TABLE, which this version of twinhive does not know" in said
    assert "ALTER_TABLE" in said and "Traceback" not in said
    assert [event["trouble"] is None for event in published.document("events", "sales")["events"]] == [
        *(False, False, True)
    ]
    assert len(published.document("events", "sales", "--table", "plain")["events"]) == 3


def test_a_limit_says_how_to_go_on(published: Terminal) -> None:
    for _ in range(3):
        change(published)
    found = published.document("events", "sales", "--limit", "2")
    assert len(found["events"]) == 2
    assert f"go on with --from {found['looked_at'] + 1}" in published.type("events", "sales", "--limit", "2")
    (last,) = published.document("events", "sales", "--from", str(found["looked_at"] + 1))["events"]
    assert last["event_id"] == found["newest"]


def test_events_of_one_table_are_found_under_its_old_name_too(published: Terminal) -> None:
    change(published)
    published.users.rename_table("plain", "plainer")
    change(published, "orders")
    assert len(published.document("events", "sales", "--table", "Plain")["events"]) == 2
    assert len(published.document("events", "sales", "--table", "plainer")["events"]) == 1


def test_a_gap_is_said(published: Terminal) -> None:
    source = published.world.source
    for _ in range(4):
        change(published)
    newest = source.current_event_id()
    source.expire_events(newest - 1)
    assert f"events {newest - 3} to {newest - 1} are not in the log any more" in published.type("events", "sales")
    source.expire_events(newest)
    assert published.document("events", "sales")["gaps"] == [
        f"events {newest - 3} to {newest} are not in the log any more"
    ]


def test_of_a_replica_that_does_not_follow_the_newest_events_are_shown(terminal: Terminal) -> None:
    found = terminal.document("events", "sales", "--all", "--limit", "2")
    assert found["position"] is None
    assert [event["event_id"] for event in found["events"]] == [found["newest"] - 1, found["newest"]]
