"""Mark sets, list them, wait for them and take them away, from a terminal."""

import pytest

from tests.support.policy_terminal import Terminal
from twinhive.core.model.names import TableName

ORDERS = "sales.orders"


def test_a_set_is_marked_listed_waited_for_and_unmarked(terminal: Terminal) -> None:
    said = terminal.type("sets", "mark", "east", ORDERS, "p=a b", "--token", "job-1", "--note", "by hand")
    assert said == "set p=a b of sales.orders is done, with 1 partitions\n"
    assert "this token before" in terminal.type("sets", "mark", "east", ORDERS, "p=a b", "--token", "job-1")
    assert "marked 2 times" in terminal.type("sets", "mark", "east", ORDERS, "p=a b")
    [row] = terminal.document("sets", "list", "east", "sales")["sets"]
    assert (row["table"], row["set"], row["count"], row["partitions"], row["standing"]) == (
        ORDERS,
        "p=a b",
        2,
        1,
        "done",
    )
    assert "p=a b" in terminal.type("sets", "list", "east", ORDERS)
    assert terminal.document("sets", "list", "east", "sales.plain")["sets"] == []
    assert terminal.type("sets", "wait", "east", ORDERS, "p=a b") == "set p=a b of sales.orders is done\n"
    terminal.type("sets", "mark", "east", ORDERS, "*")
    assert "by the broader set *" in terminal.type("sets", "wait", "east", ORDERS, "p=other")
    assert "is not marked any more" in terminal.type("sets", "unmark", "east", ORDERS, "*")
    assert "nothing to do" in terminal.type("sets", "unmark", "east", ORDERS, "*")
    assert "is not done" in terminal.type("sets", "wait", "east", ORDERS, "p=other", code=3)


def test_a_dry_run_says_the_same_and_changes_nothing(terminal: Terminal) -> None:
    before = len(terminal.world.source.events)
    assert "would be done, with 1 partitions" in terminal.type("sets", "mark", "east", ORDERS, "p=a b", "--dry-run")
    assert len(terminal.world.source.events) == before
    terminal.type("sets", "mark", "east", ORDERS, "p=a b")
    before = len(terminal.world.source.events)
    assert "would not be marked any more" in terminal.type("sets", "unmark", "east", ORDERS, "p=a b", "--dry-run")
    assert terminal.document("sets", "unmark", "east", ORDERS, "p=a b", "--dry-run")["was_marked"]
    assert len(terminal.world.source.events) == before


def test_what_counts_no_longer_is_taken_away(terminal: Terminal) -> None:
    assert "nothing to take away" in terminal.type("sets", "expire", "east", "sales")
    terminal.type("sets", "mark", "east", "sales.plain", "*")
    terminal.world.source.drop_table(TableName("sales", "plain"), delete_data=True)
    said = terminal.type("sets", "expire", "east", "sales", "--dry-run")
    assert "set * of sales.plain would be taken away: its table is gone" in said
    assert terminal.document("sets", "list", "east", "sales")["sets"][0]["standing"] == "no_table"
    terminal.type("sets", "expire", "east", "sales")
    assert terminal.document("sets", "list", "east", "sales")["sets"] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("mark", "east", ORDERS, "q=1"), 4),
        (("wait", "east", ORDERS, "p=1"), 3),
        (("mark", "east", "sales.no", "*"), 4),
    ],
)
def test_errors_are_documents_too(terminal: Terminal, words: tuple[str, ...], code: int) -> None:
    assert terminal.document("sets", *words, code=code)["exit_code"] == code
